"""A hash of what an object of a Python session is: its own code and data, and the modules that it uses.

Code that a module's file has is known by that module. Code that only the session has, of `__main__` or of a
cell that was run again, is known by its bytecode, which has no comments, with the values that it closes over
and the globals that it uses. Docstrings and annotations count only where some code of the object asks for
them.
"""

from __future__ import annotations

import builtins
import copyreg
import functools
import hashlib
import pickle
import secrets
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from benchfw.sources.bytecode import CO_HAS_DOCSTRING, imports, names_used, read_code

NOT_CODE = frozenset({
    "__abstractmethods__", "__annotations__", "__dataclass_fields__", "__dataclass_params__", "__dict__",
    "__doc__", "__firstlineno__", "__match_args__", "__module__", "__non_callable_proto_members__",
    "__orig_bases__", "__parameters__", "__protocol_attrs__", "__slotnames__", "__static_attributes__",
    "__weakref__", "_abc_impl", "_is_runtime_protocol",
})  # fmt: skip
"""Members of a class that are made from others, or are not run; pickling adds `__slotnames__`."""
NOTES = frozenset({"__doc__", "getdoc", "__annotations__", "get_annotations", "get_type_hints"})
"""Names by which code asks for docstrings or annotations."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range)
_HEAP_TYPE = 1 << 9  # in a class's flags: not one of those that are compiled into Python
_CACHED = type(functools.lru_cache(len))


class ObjectSource(NamedTuple):
    """What an object is: a hash, the modules that it uses by name, and whether all of it could be seen.

    The hash of what cannot be seen is never the same twice.
    """

    digest: str
    modules: tuple[str, ...]
    seen: bool = True


def read_object(value: Any) -> ObjectSource:
    reader = _Reader(notes=False)
    try:
        digest = reader.digest(value)
        if reader.names & NOTES:
            reader = _Reader(notes=True)
            digest = reader.digest(value)
    except (RecursionError, _Unseen):
        return ObjectSource(secrets.token_hex(32), reader.all_modules(), seen=False)
    return ObjectSource(digest, reader.all_modules())


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
    def __init__(self, *, notes: bool) -> None:
        self.modules: set[str] = set()
        self.names: set[str] = set()  # of attributes and globals, in all code that was read
        self._notes = notes
        self._known: dict[int, str] = {}
        self._kept: list[Any] = []  # what is in `_known`, so that no other object gets its id
        self._open: list[int] = []
        self._readers: Mapping[type, Callable[[Any], Iterator[str | _Part]]] = {
            types.FunctionType: self._function,
            types.MethodType: self._method,
            types.BuiltinFunctionType: self._builtin,
            types.CodeType: self._code,
            types.CellType: self._cell,
            _CACHED: self._cached,
            types.MemberDescriptorType: self._slot,
            types.GetSetDescriptorType: self._slot,
            types.WrapperDescriptorType: self._slot,
            dict: self._mapping,
            types.MappingProxyType: self._mapping,
            tuple: self._sequence,
            list: self._sequence,
        }
        self._bases: Mapping[Any, Callable[[Any], Iterator[str | _Part]]] = {
            type: self._class,
            types.ModuleType: self._module,
            (staticmethod, classmethod): self._wrapped,
            property: self._property,
            functools.cached_property: self._cached_property,
            (set, frozenset): self._set,
        }

    def all_modules(self) -> tuple[str, ...]:
        """Return the modules that were met, and their submodules that the code names."""
        found, waiting = set(self.modules), list(self.modules)
        while waiting:
            package = waiting.pop()
            below = {f"{package}.{name}" for name in self.names} & sys.modules.keys() - found
            found |= below
            waiting += below
        return tuple(sorted(found))

    def digest(self, value: Any) -> str:
        """Return the hash of a value; that of one that contains itself has its distance to itself in it."""
        if type(value) in _PLAIN:
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
        """Read a value; a subclass of a list, a dict or an array is an object, which may hold more."""
        read = self._readers.get(type(value))
        if read is None:
            read = next((read for kind, read in self._bases.items() if isinstance(value, kind)), None)
        if read is None:
            array = getattr(sys.modules.get("numpy"), "ndarray", None)
            plain = type(value) is array and not value.dtype.hasobject
            read = self._array if plain else self._reduced
        yield from read(value)

    def _array(self, value: Any) -> Iterator[str | _Part]:
        order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"  # pickle keeps it
        yield from ("array", _Part(value.dtype), repr(value.shape), order)
        yield hashlib.sha256(value.tobytes()).hexdigest()

    def _sequence(self, value: Any) -> Iterator[str | _Part]:
        yield type(value).__name__
        yield from map(_Part, value)

    def _mapping(self, value: Any) -> Iterator[str | _Part]:
        yield from (type(value).__name__, str(len(value)))
        for key, each in value.items():
            yield from (_Part(key), _Part(each))

    def _set(self, value: Any) -> Iterator[str | _Part]:
        """Read a set, in an order that does not depend on hashes of strings, and what a subclass adds."""
        yield from ("set", _Part(type(value)))
        yield from sorted(map(self.digest, value))
        yield _Part(self._reduce(value)[2:])

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
        for name, each in sorted(vars(value).items()):
            yield from (name, _Part(each))
        if self._notes:
            yield from map(_Part, (value.__doc__, value.__annotations__))
        self.modules.update(imports(value.__code__, value.__globals__))
        for name in sorted(set(names_used(value.__code__))):
            if name in value.__globals__:
                yield from (name, _Part(value.__globals__[name]))
            elif not hasattr(builtins, name):
                yield from (name, "absent")

    def _code(self, value: types.CodeType) -> Iterator[str | _Part]:
        # constants stand where they are used: their order depends on whether there is a docstring
        flags = value.co_flags & ~CO_HAS_DOCSTRING
        yield from ("code", value.co_name, value.co_exceptiontable.hex(), str(flags))
        counts = value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount
        yield repr((*counts, value.co_names, value.co_varnames, value.co_freevars, value.co_cellvars))
        yield from (_Part(each) if is_constant else str(each) for is_constant, each in read_code(value))
        if self._notes:
            yield from map(_Part, value.co_consts)
        self.names.update(value.co_names)

    def _cell(self, value: types.CellType) -> Iterator[str | _Part]:
        try:
            yield from ("cell", _Part(value.cell_contents))
        except ValueError:
            yield "empty cell"

    def _class(self, value: type) -> Iterator[str | _Part]:
        # a class that was made where no `__name__` was, as by exec, says that it is of "builtins"
        if is_in_module(value) or (value.__module__ == "builtins" and not value.__flags__ & _HEAP_TYPE):
            yield from self._named(value)
            return
        yield from ("class", value.__qualname__, _Part(type(value)))
        yield from map(_Part, value.__bases__)
        for name, member in sorted(vars(value).items()):
            if name not in NOT_CODE:
                yield from (name, _Part(member))
        for name, field in vars(value).get("__dataclass_fields__", {}).items():
            yield from (name, _Part(field.metadata))
        if self._notes:
            yield from map(_Part, (value.__doc__, value.__annotations__))

    def _wrapped(self, value: Any) -> Iterator[str | _Part]:
        yield from ("wrapped", _Part(type(value)), _Part(value.__func__))

    def _property(self, value: property) -> Iterator[str | _Part]:
        yield from ("property", _Part(type(value)))
        yield from map(_Part, (value.fget, value.fset, value.fdel))

    def _cached_property(self, value: Any) -> Iterator[str | _Part]:
        yield from ("cached property", _Part(type(value)), _Part(value.func))  # without its lock

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

    def _reduce(self, value: Any) -> Any:
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            return value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as fault:
            raise _Unseen(type(value).__name__) from fault

    def _reduced(self, value: Any) -> Iterator[str | _Part]:
        """Read any other object as pickle would take it to pieces."""
        found = self._reduce(value)
        if isinstance(found, str):
            module = str(pickle.whichmodule(value, found))  # type: ignore[attr-defined]
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


def _hash(*parts: str) -> str:
    return hashlib.sha256(
        "\0".join(f"{len(part)}:{part}" for part in parts).encode(errors="surrogatepass")
    ).hexdigest()
