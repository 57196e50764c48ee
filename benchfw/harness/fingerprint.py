"""Hashes the source of a plugin: all that the interpreter sees of it, and nothing else.

Helper modules count, and so do the other plugin packages that it imports. Comments, docstrings and the
folder it lies in do not.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import benchfw
from benchfw.loading import Plugin

CORE = (
    "backends",
    "kernels",
    "core_plugin.py",
    "analysis/variance.py",
    "contract.py",
    "registry.py",
    "data",
    "measure",
)
"""The parts of benchfw itself that decide what is measured."""


@functools.cache
def core_fingerprint() -> str:
    """Return the hash of the parts of benchfw that decide what is measured."""
    root = Path(benchfw.__file__).parent
    return _hash_files(root, [path for part in CORE for path in _below(root / part)])


def fingerprint(plugin: Plugin) -> str:
    """Return the hash of a plugin's own source."""
    if plugin.path is None or _is_core(plugin):
        return ""
    root, files = _sources(plugin)
    return _hash_files(root, files)


def imported_by(plugin: Plugin) -> frozenset[str]:
    """Return the top-level modules that a plugin's source imports."""
    if plugin.path is None or _is_core(plugin):
        return frozenset()
    _, files = _sources(plugin)
    return frozenset(name for path in files if path.suffix == ".py" for name in _imports(path))


@functools.cache
def library_version(module: str) -> str:
    """Return the version of the library that a top-level module belongs to; nothing for Python's own."""
    if module in sys.stdlib_module_names or module == benchfw.__name__:
        return ""
    try:
        return importlib.metadata.version(module)
    except importlib.metadata.PackageNotFoundError:  # a library named unlike its module, such as sklearn
        homes = _homes().get(module, ())
        return " ".join(f"{home} {importlib.metadata.version(home)}" for home in sorted(set(homes)))


@functools.cache
def _homes() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


def with_imported(
    plugins: Iterable[Plugin],
    known: Iterable[Plugin],
    imported: Callable[[Plugin], frozenset[str]] = imported_by,
) -> set[Plugin]:
    """Return plugins and, in turn, the other known ones that their source imports."""
    found: set[Plugin] = set()
    waiting = set(plugins)
    while waiting:
        plugin = waiting.pop()
        found.add(plugin)
        names = imported(plugin)
        waiting |= {each for each in known if each.module.partition(".")[0] in names} - found
    return found


def _is_core(plugin: Plugin) -> bool:
    return plugin.module.partition(".")[0] == benchfw.__name__  # has a fingerprint of its own


def _sources(plugin: Plugin) -> tuple[Path, list[Path]]:
    """Return a plugin's files and the folder they are named from."""
    path = (plugin.path or Path()).resolve()
    depth = plugin.module.count(".") + (path.name == "__init__.py")
    if depth:  # in a package: the package is the unit
        root = path.parents[depth - 1]
        return root, list(_below(root))
    installed = _installed_files(plugin.distribution)
    if path in installed:
        return path.parent, installed
    return path.parent, with_helpers(path)


def _installed_files(distribution: str) -> list[Path]:
    try:
        files = importlib.metadata.files(distribution) or []
    except importlib.metadata.PackageNotFoundError:
        return []
    found = [Path(str(each.locate())).resolve() for each in files if each.suffix == ".py"]
    return [path for path in found if path.is_file()]


def _below(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
    else:
        yield from (each for each in path.rglob("*") if each.is_file() and "__pycache__" not in each.parts)


def with_helpers(path: Path) -> list[Path]:
    """Return a plugin's file and the modules beside it that it imports, in turn."""
    return sorted(_with_helpers(path, set()))


def _with_helpers(path: Path, seen: set[Path], root: Path | None = None) -> set[Path]:
    """Return a file and, in turn, the modules beside it that it imports."""
    root = root or path.parent
    if path not in seen:
        seen.add(path)
        for name in _imports(path) if path.suffix == ".py" else ():
            module, package = root / f"{name}.py", root / name
            if module.is_file():
                _with_helpers(module, seen, root)
            elif package.is_dir():  # with or without __init__.py: Python imports both
                for each in _below(package):
                    _with_helpers(each, seen, root)
    return seen


def _imports(path: Path) -> Iterator[str]:
    try:
        tree = _parse(path)
    except (SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def _hash_files(root: Path, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    for path in sorted(files):
        content = _essence(path) if path.suffix == ".py" else path.read_bytes()
        name = path.relative_to(root).as_posix() if path.is_relative_to(root) else path.name
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _essence(path: Path) -> bytes:
    """Return what a Python file says to the interpreter: its syntax tree without docstrings."""
    try:
        tree = _parse(path)
    except (SyntaxError, ValueError):  # a template, say
        return path.read_bytes()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    return ast.dump(tree).encode()


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))
