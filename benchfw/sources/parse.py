"""What one Python file says to the interpreter, and what it imports."""

from __future__ import annotations

import ast
import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchfw.sources.parse_cache import ParseCache

PLACE = re.compile(r"([\w.]+):(\w+)")  # "module:attribute", as `benchfw.loading` has it


class Import(NamedTuple):
    """`from MODULE import NAME`; without a name `import MODULE`. `level` counts the dots before MODULE."""

    level: int
    module: str
    name: str = ""


@dataclass(frozen=True)
class SourceFile:
    """One file: a hash of all but comments and docstrings, and its imports wherever they stand.

    Docstrings count in a file that speaks of `__doc__` or `getdoc`: its code may read them.

    `lazy` is what a module with `__getattr__` may give beyond the names that it binds, as far as it can be
    read: from imports for type checkers, and from strings that are places. Without it both are empty.
    """

    digest: str
    imports: frozenset[Import] = frozenset()
    lazy: Mapping[str, Import] | None = None
    bound: frozenset[str] = field(default=frozenset(), repr=False)


_parsed: dict[str, tuple[tuple[int, ...], SourceFile]] = {}  # by path, with the state of the file then
_cache = ParseCache()
_PARSER = hashlib.sha256(repr((sys.version, Path(__file__).read_bytes())).encode()).hexdigest()


def parse_file(path: str) -> SourceFile:
    """Return what is in a file, parsed once for each state of it."""
    found = os.stat(path)  # noqa: PTH116 - called for every file of every closure
    state = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
    known = _parsed.get(path)
    if known is None or known[0] != state:
        known = _parsed[path] = state, _parse(path)
    return known[1]


def _parse(path: str) -> SourceFile:
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        content = file.read()
    if not path.endswith(".py"):  # an extension module, or a template
        return SourceFile(hashlib.sha256(content).hexdigest())
    digest, imports, lazy, bound = _ask(content, "what it says", lambda: _flatten(_parse_source(content)))
    return SourceFile(
        digest,
        frozenset(Import(*each) for each in imports),
        None if lazy is None else {name: Import(*each) for name, each in lazy.items()},
        frozenset(bound),
    )


def save_parsed() -> None:
    """Keep on disk what was parsed in this process."""
    _cache.save()


def _ask(content: bytes, question: str, answer: Callable[[], Any]) -> Any:
    """Return the answer to a question about a source, from the cache if it is there: JSON in any case."""
    key = hashlib.sha256(f"{_PARSER} {question} ".encode() + content).hexdigest()
    known = _cache.get(key)
    if known is None:
        known = answer()
        _cache.put(key, known)
    return known


def _flatten(found: SourceFile) -> tuple[str, list[Import], Mapping[str, Import] | None, list[str]]:
    return found.digest, sorted(found.imports), found.lazy, sorted(found.bound)


def _parse_source(content: bytes) -> SourceFile:
    tree = _tree(content)
    if tree is None:
        return SourceFile(hashlib.sha256(content).hexdigest())
    reader = _Reader(notes=b"__doc__" in content or b"getdoc" in content)
    reader.read(tree)
    digest = hashlib.sha256("\0".join(reader.parts).encode(errors="surrogatepass")).hexdigest()
    bound = frozenset(_bound_names(tree)) if b"__getattr__" in content else frozenset()
    lazy = None
    if "__getattr__" in bound:
        lazy = {each.name or each.module: each for each in reader.for_types}
        lazy |= {name: Import(0, module, name) for module, name in _places(tree)}
    return SourceFile(digest, frozenset(reader.imports), lazy, bound)


class _Reader:
    """Goes through a syntax tree once: notes imports, and all but strings that stand alone.

    Such strings are docstrings and notes below fields; with `notes` they are kept. `ast.dump` and `ast.walk`
    take twice as long.
    """

    def __init__(self, *, notes: bool) -> None:
        self._notes = notes
        self.parts: list[str] = []
        self.imports: set[Import] = set()
        self.for_types: list[Import] = []

    def read(self, tree: ast.AST) -> None:
        # not by recursion: a long sum, or a chain of `elif`, is nested as deeply as it is long
        waiting: list[ast.AST | str | None] = [tree]  # None ends what is for type checkers
        typing = False
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                self.parts.append(node)
            elif node is None:
                typing = False
            else:
                kind = type(node)
                self.parts.append(kind.__name__)
                if kind in _IMPORTING:
                    (self.for_types.extend if typing else self.imports.update)(_imports(node))
                if kind is ast.If and not typing and _is_for_types(node):
                    typing = True
                    waiting.append(None)
                waiting += reversed(self._below(node))

    def _below(self, node: ast.AST) -> list[ast.AST | str | None]:
        """Return the nodes below one, and the words between them."""
        found: list[ast.AST | str | None] = []
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                found.append(value)
            elif isinstance(value, list):
                found.append(name)
                for each in value:
                    if not isinstance(each, ast.AST):
                        found.append(repr(each))
                    elif self._notes or not _is_note(each):
                        found.append(each)
                found.append("end")
            else:
                found.append(repr(value))
        return found


_IMPORTING = frozenset({ast.Import, ast.ImportFrom, ast.Call})


def _tree(content: bytes) -> ast.Module | None:
    try:
        return ast.parse(content)
    except (SyntaxError, ValueError, MemoryError, RecursionError):  # the last two: nested too deeply
        return None


def _is_note(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _is_for_types(node: ast.AST) -> bool:
    """Return whether a statement is `if TYPE_CHECKING:` without an `else`: what it imports is never run."""
    return (
        isinstance(node, ast.If)
        and not node.orelse
        and (getattr(node.test, "id", None) or getattr(node.test, "attr", None)) == "TYPE_CHECKING"
    )


def _imports(node: ast.AST) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import(0, alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        yield from (Import(node.level, node.module or "", alias.name) for alias in node.names)
    elif isinstance(node, ast.Call) and node.args:
        called = getattr(node.func, "attr", None) or getattr(node.func, "id", None)
        first = node.args[0]
        if called in {"import_module", "__import__"} and isinstance(first, ast.Constant):
            name = str(first.value)
            module = name.lstrip(".")
            yield Import(len(name) - len(module), module)
        elif called in {"exec", "eval"} and isinstance(first, ast.Constant):
            code = _tree(str(first.value).encode(errors="replace")) or ast.Module([], [])
            yield from (found for each in ast.walk(code) for found in _imports(each))


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a module has once it is imported; too many do no harm, save those in functions."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if _is_for_types(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
            continue
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        waiting += ast.iter_child_nodes(node)


def _places(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = PLACE.fullmatch(node.value)
            if found:
                yield found[1], found[2]


def attributes_used(path: str, module: str) -> frozenset[str]:
    """Return what a file takes from a module that it imports as a whole: "a.b" for `module.a.b`.

    Where it does anything else with the module than take an attribute of it, "" is among them.
    """
    with open(path, "rb") as file:  # noqa: PTH123 - as above
        content = file.read()
    return frozenset(_ask(content, f"uses of {module}", lambda: sorted(_find_uses(content, module))))


def _find_uses(content: bytes, module: str) -> set[str]:
    tree = _tree(content) or ast.Module([], [])
    names = dict(_names_of(tree, module))
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = inner = waiting.pop()
        chain: list[str] = []
        while isinstance(inner, ast.Attribute):
            chain.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in names:
            dotted = ".".join([names[inner.id], *chain])
            if f"{dotted}.".startswith(f"{module}."):
                found.add(dotted[len(module) + 1 :])
        elif not isinstance(inner, ast.Name):
            waiting += [inner] if chain else ast.iter_child_nodes(node)
    return found


def _names_of(tree: ast.Module, module: str) -> Iterator[tuple[str, str]]:
    """Yield the names under which a file has a module, or a package above it, and the name of that."""
    package, _, last = module.rpartition(".")
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                yield alias.asname or whole, whole
        elif isinstance(node, ast.ImportFrom) and (node.level or node.module == package):
            for alias in node.names:
                if alias.name == last:
                    yield alias.asname or last, module
