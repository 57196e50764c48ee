"""A hash of what an object of a Python session is: its own code and data, and the modules that it uses.

Code that a module's file has is known by that module. Code that only the session has, of `__main__` or of a
cell that was run again, is known by its bytecode, which has no comments, with the values that it closes over
and the globals that it uses.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import functools
import hashlib
import secrets
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

NOT_CODE = frozenset({
    "__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__dict__",
    "__doc__", "__firstlineno__", "__match_args__", "__module__", "__non_callable_proto_members__",
    "__orig_bases__", "__parameters__", "__protocol_attrs__", "__static_attributes__", "__weakref__",
    "_abc_impl", "_is_runtime_protocol",
})  # fmt: skip
"""Members of a class that are made from others, or are not run."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range)


_CACHED = type(functools.lru_cache(len))


class ObjectSource(NamedTuple):
    """What an object is: a hash, the modules that it uses by name, and whether all of it could be seen.

    The hash of what cannot be seen is never the same twice.
    """

    digest: str
    modules: tuple[str, ...]
    seen: bool = True


def read_object(value: Any) -> ObjectSource:
    """Return what an object is."""
    reader = _Reader()
    try:
        digest = reader.digest(value)
    except (RecursionError, _Unseen):
        return ObjectSource(secrets.token_hex(32), tuple(sorted(reader.modules)), seen=False)
    return ObjectSource(digest, tuple(sorted(reader.modules)))


def is_in_module(value: Any) -> bool:
    """Return whether a class or a function is found by its name in its module, which a worker can import."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or module == "__main__":
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is value


class _Unseen(Exception):
    """Something without source."""


class _Reader:
    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []  # what is in `_known`, so that no other object gets its id
        self._open: list[int] = []
        self._readers: Mapping[Any, Callable[[Any], Iterator[str | _Part]]] = {
            type: self._class,
            types.FunctionType: self._function,
            types.MethodType: self._method,
            types.BuiltinFunctionType: self._builtin,
            types.ModuleType: self._module,
            types.CodeType: self._code,
            types.CellType: self._cell,
            (staticmethod, classmethod): self._wrapped,
            property: self._property,
            functools.cached_property: self._cached_property,
            _CACHED: self._cached,
            (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType): self._slot,
            (dict, types.MappingProxyType): self._mapping,
            (set, frozenset): self._set,
            (tuple, list): self._sequence,
        }

    def digest(self, value: Any) -> str:
        """Return the hash of a value; that of one that contains itself has its distance to itself in it."""
        if isinstance(value, _PLAIN) and type(value) in _PLAIN:
            return _hash(type(value).__name__, repr(value))
        if id(value) in self._open:
            return _hash("itself", str(len(self._open) - self._open.index(id(value))))
        if id(value) not in self._known:
            self._open.append(id(value))
            parts = [
                part if isinstance(part, str) else self.digest(part.value) for part in self._parts(value)
            ]
            self._open.pop()
            self._known[id(value)] = _hash(*parts)
            self._kept.append(value)
        return self._known[id(value)]

    def _parts(self, value: Any) -> Iterator[str | _Part]:
        read = next((read for kind, read in self._readers.items() if isinstance(value, kind)), None)
        if read is not None:
            yield from read(value)
        elif (
            hasattr(value, "__array_interface__") and hasattr(value, "tobytes") and not value.dtype.hasobject
        ):
            yield from (
                "array",
                value.dtype.str,
                repr(value.shape),
                hashlib.sha256(value.tobytes()).hexdigest(),
            )
        else:
            yield from self._reduced(value)

    def _sequence(self, value: Any) -> Iterator[str | _Part]:
        yield type(value).__qualname__
        yield from map(_Part, value)
        if type(value) not in (tuple, list):  # a named tuple, or a list with more to it
            yield _Part(type(value))

    def _mapping(self, value: Any) -> Iterator[str | _Part]:
        yield from ("dict", str(len(value)))
        for key, each in value.items():
            yield from (_Part(key), _Part(each))

    def _set(self, value: Any) -> Iterator[str | _Part]:
        yield from ("set", *sorted(map(self.digest, value)))

    def _module(self, value: types.ModuleType) -> Iterator[str | _Part]:
        name = value.__name__
        if sys.modules.get(name) is not value or name == "__main__":
            raise _Unseen(name)
        self.modules.add(name)
        yield from ("module", name)

    def _named(self, value: Any) -> Iterator[str | _Part]:
        """Read what is known by its name: of Python, or of a module."""
        self.modules.add(value.__module__)
        yield from ("name", value.__module__, value.__qualname__)

    def _function(self, value: types.FunctionType) -> Iterator[str | _Part]:
        if is_in_module(value):
            yield from self._named(value)
            return
        yield "function"
        yield from map(_Part, (value.__code__, value.__defaults__, value.__kwdefaults__))
        yield from map(_Part, value.__closure__ or ())
        yield from map(_Part, vars(value).values())
        for name in sorted(set(_names_used(value.__code__))):
            if name in value.__globals__:
                yield from (name, _Part(value.__globals__[name]))
            elif not hasattr(builtins, name):
                yield from (name, "absent")

    def _code(self, value: types.CodeType) -> Iterator[str | _Part]:
        yield from (
            "code",
            value.co_name,
            value.co_code.hex(),
            value.co_exceptiontable.hex(),
            str(value.co_flags),
        )
        counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
        yield repr((*counts, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars))
        yield from map(_Part, value.co_consts)
        self.modules.update(_imports(value))

    def _cell(self, value: types.CellType) -> Iterator[str | _Part]:
        try:
            yield from ("cell", _Part(value.cell_contents))
        except ValueError:
            yield "empty cell"

    def _class(self, value: type) -> Iterator[str | _Part]:
        if value.__module__ == "builtins" or is_in_module(value):
            yield from self._named(value)
            return
        yield from ("class", value.__qualname__, _Part(type(value)))
        yield from map(_Part, value.__bases__)
        for name, member in sorted(vars(value).items()):
            if name not in NOT_CODE:
                yield from (name, _Part(member))

    def _wrapped(self, value: Any) -> Iterator[str | _Part]:
        yield from (type(value).__name__, _Part(value.__func__))

    def _property(self, value: property) -> Iterator[str | _Part]:
        yield "property"
        yield from map(_Part, (value.fget, value.fset, value.fdel))

    def _cached_property(self, value: Any) -> Iterator[str | _Part]:
        yield from ("cached property", _Part(value.func))  # without its lock

    def _cached(self, value: Any) -> Iterator[str | _Part]:
        if is_in_module(value):
            yield from self._named(value)
        else:
            yield from ("cached", _Part(value.cache_parameters()), _Part(value.__wrapped__))

    def _method(self, value: types.MethodType) -> Iterator[str | _Part]:
        yield from ("method", _Part(value.__func__), _Part(value.__self__))

    def _slot(self, value: Any) -> Iterator[str | _Part]:
        yield from ("slot", value.__name__)

    def _builtin(self, value: types.BuiltinFunctionType) -> Iterator[str | _Part]:
        owner = value.__self__
        if owner is None or isinstance(owner, types.ModuleType):
            self.modules.add(value.__module__ or "builtins")
            yield from ("built in", str(value.__module__), value.__qualname__)
        else:
            yield from ("built in", value.__name__, _Part(owner))

    def _reduced(self, value: Any) -> Iterator[str | _Part]:
        """Read any other object as pickle would take it to pieces."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            found = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as fault:
            raise _Unseen(type(value).__name__) from fault
        if isinstance(found, str):
            module = getattr(value, "__module__", None) or type(value).__module__
            if module == "__main__":
                raise _Unseen(found)
            self.modules.add(module)
            yield from ("name", module, found)
            return
        make, arguments, *rest = found
        yield from ("object", _Part(make), _Part(arguments))
        for number, part in enumerate(rest):
            # the fourth and fifth are iterators over items
            yield _Part(part if number == 0 or part is None else list(part) if number < 3 else part)


class _Part(NamedTuple):
    """Something to be read in turn; what is not one is a word."""

    value: Any


def _names_used(code: types.CodeType) -> Iterator[str]:
    """Yield the globals that code refers to, that of functions inside of it too."""
    for each in dis.get_instructions(code):
        if each.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield str(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names_used(constant)


def _imports(code: types.CodeType) -> Iterator[str]:
    for each in dis.get_instructions(code):
        if each.opname == "IMPORT_NAME":
            yield str(each.argval)


def _hash(*parts: str) -> str:
    return hashlib.sha256(
        "\0".join(f"{len(part)}:{part}" for part in parts).encode(errors="surrogatepass")
    ).hexdigest()
