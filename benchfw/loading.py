"""Imports plugins: installed ones by their entry points, others by file or module name.

A package with many methods registers and exports them by place, without importing them: a place is
"module:attribute", the module counted from the package.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import itertools
import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

from benchfw.errors import PluginError, PluginNotFound, nearest

T = TypeVar("T")

LONGEST_FAULT = 500  # characters of a fault's message


class Plugin(NamedTuple):
    """Where something came from: the module, and the distribution that brought it (or the file, as named)."""

    name: str
    module: str
    distribution: str
    version: str
    path: Path | None

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


class LoadingFault(Exception):
    """An installed plugin that raised while it was imported; the message names it and the fault."""


class EntryPoint(NamedTuple):
    """A plugin of an installed distribution; the value is its module, or "module:attribute"."""

    name: str
    value: str
    distribution: str
    version: str


def find_entry_points(group: str) -> tuple[EntryPoint, ...]:
    """Return what installed distributions declare; the first of a name on the import path counts.

    To import importlib.metadata takes several times as long as this, and every worker would have it.
    """
    found: list[EntryPoint] = []
    seen: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")  # noqa: PTH208 - names are enough
        except OSError:  # no folder
            continue
        for name in sorted(each for each in names if each.endswith((".dist-info", ".egg-info"))):
            distribution = name.partition("-")[0].lower()
            if distribution not in seen:
                seen.add(distribution)
                found += _read_entry_points(Path(folder, name), group)
    return tuple(found)


def _read_entry_points(metadata: Path, group: str) -> Iterator[EntryPoint]:
    lines = _read_lines(metadata / "entry_points.txt")
    if f"[{group}]" not in lines:
        return
    about = _read_lines(metadata / "METADATA") or _read_lines(metadata / "PKG-INFO")
    headers = dict(line.split(": ", 1) for line in itertools.takewhile(bool, about) if ": " in line)
    section = ""
    for line in lines:
        name, equals, value = (part.strip() for part in line.partition("="))
        section = line if line.startswith("[") else section
        if section == f"[{group}]" and equals and not line.startswith(("#", ";")):
            yield EntryPoint(
                name, value.partition("[")[0].strip(), headers.get("Name", ""), headers.get("Version", "")
            )


def _read_lines(path: Path) -> list[str]:
    try:
        return [line.strip() for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    except OSError:
        return []


def load_entry_point(point: EntryPoint) -> tuple[Any, Plugin]:
    """Return an installed plugin, a module or any other object, and where it came from."""
    module, _, attributes = point.value.partition(":")
    try:
        plugin: Any = importlib.import_module(module)
        for attribute in filter(None, attributes.split(".")):
            plugin = getattr(plugin, attribute)
    except KeyboardInterrupt:
        raise
    except BaseException as fault:  # a stranger's module may raise anything
        place = place_of(fault, None)
        raise LoadingFault(
            f"plugin '{point.name}' of {point.distribution} {point.version}: {fault_text(fault)}{place}"
        ) from fault
    # a plugin may be a class or an object too: then its module is the one that the entry point names
    name = plugin.__name__ if isinstance(plugin, ModuleType) else module
    origin = Plugin(point.name, name, point.distribution, point.version, _file_of(sys.modules.get(name)))
    return plugin, origin


def load_source(source: str) -> tuple[Any, Plugin]:
    """Return a plugin given as a file or a module name; one that cannot be loaded is a PluginError."""
    by_file = is_file_name(source)
    if by_file and Path(source).is_dir():
        raise PluginError(
            f"plugin '{source}' is a folder; give a file of it, or install it and give its module"
        )
    if by_file and not Path(source).is_file():
        raise PluginError(f"no plugin file '{source}'; give a path that exists")
    path = Path(source).resolve() if by_file else None
    try:
        module = _import_file(path) if path else importlib.import_module(source)
    except (KeyboardInterrupt, PluginError):
        raise
    except BaseException as fault:
        if isinstance(fault, ModuleNotFoundError) and fault.name == source.partition(".")[0]:
            raise PluginNotFound(f"no plugin module '{source}'; install it or give its file") from None
        text = f"{fault_text(fault)}{place_of(fault, path)}"
        raise PluginError(f"plugin '{source}' cannot be loaded: {text}") from fault
    name = Path(source).stem if by_file else source
    return module, Plugin(source, name, source, "", _file_of(module))


def load_attributes(*places: Any) -> tuple[Any, ...]:
    """Return what "module:attribute" or "file.py:attribute" names; what is not a text is returned as it is.

    Every module is loaded once for all.
    """
    modules: dict[str, Any] = {}
    found = []
    for place in places:
        if not isinstance(place, str):
            found.append(place)
            continue
        source, _, name = place.rpartition(":")
        if not source or not name.isidentifier():
            raise PluginError(f"'{place}' is not of the form 'module:attribute' or 'file.py:attribute'")
        if source not in modules:
            modules[source], _ = load_source(source)
        if not hasattr(modules[source], name):
            close = nearest(name, [each for each in dir(modules[source]) if not each.startswith("_")])
            raise PluginError(f"'{source}' has no '{name}'{close}")
        found.append(getattr(modules[source], name))
    return tuple(found)


def is_file_name(source: str) -> bool:
    """Return whether a plugin is named by its file, and not as a module."""
    return source.endswith(".py") or source.startswith(".") or "/" in source or os.sep in source


def call_unnoted(call: Callable[..., T], *arguments: Any, **options: Any) -> T:
    """Return what a function of an installed library returns, and let nothing count that it reads meanwhile.

    For a plugin that looks for its files among others: those that decide are named by its `source_files`.
    What a trial reads counts only if no frame of benchfw lies between the library and the plugin.
    """
    return call(*arguments, **options)


def fault_text(fault: BaseException) -> str:
    """Return a fault as type and message, on one line."""
    try:
        message = fault.msg if isinstance(fault, SyntaxError) else str(fault)
    except Exception:  # noqa: BLE001 - a stranger's exception may not even print
        message = "its message cannot be printed"
    line = " ".join(message.split())
    return f"{type(fault).__name__}: {line if len(line) <= LONGEST_FAULT else line[:LONGEST_FAULT] + '…'}"


def place_of(fault: BaseException, own: Path | None = None) -> str:
    """Return where loading a plugin failed: in its own file if possible, else in the last one known."""
    if isinstance(fault, SyntaxError) and fault.filename:
        return f" ({Path(fault.filename).name}, line {fault.lineno})"
    frames = [
        (Path(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(fault.__traceback__)
        if not frame.filename.startswith("<") and frame.filename != __file__
    ]
    places = [frame for frame in frames if frame[0] == own] or frames
    return f" ({places[-1][0].name}, line {places[-1][1]})" if places else ""


def _file_of(module: ModuleType | None) -> Path | None:
    path = getattr(module, "__file__", None)
    return Path(path) if path else None


def _import_file(path: Path) -> ModuleType:
    """Run a file as a module, anew each time: in a notebook it may have been edited since."""
    folder = str(path.parent)
    if folder not in sys.path:  # helper modules beside the file are part of the plugin
        sys.path.insert(0, folder)
    name = path.stem if _is_free(path.stem, path) else f"{path.stem}_{abs(hash(path))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"'{path}' is not a Python file; a plugin file ends in .py")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses and pickle look the module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        raise
    _check_helpers(path)
    return module


def _check_helpers(path: Path) -> None:
    """Refuse a plugin whose helper module is hidden by another of that name: it would run the wrong one."""
    import ast

    for node in ast.walk(ast.parse(path.read_bytes())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module and not node.level else []
        for name in names:
            own, loaded = path.parent / f"{name}.py", _file_of(sys.modules.get(name))
            if own.is_file() and loaded is not None and loaded.is_file() and loaded.resolve() != own:
                raise PluginError(
                    f"'{path}' imports {own.name} beside it, but {loaded} was imported first; "
                    "rename one of them"
                )


def _is_free(name: str, path: Path) -> bool:
    """Return whether a module name belongs to this file or to nobody: a plugin may be called numpy.py."""
    if name in sys.modules:
        return _file_of(sys.modules[name]) == path
    try:
        found = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return found is None or found.origin == str(path)


def make_registrar(package: str, places: Mapping[str, str]) -> Callable[[Callable[[str, str], None]], None]:
    """Return the body of a `register_*` hook that adds every name with its place in the package."""

    def add_places(register: Callable[[str, str], None]) -> None:
        for name, place in places.items():
            register(name, f"{package}.{place}")

    return add_places


def make_kernel_registrar(
    package: str, kernels: Mapping[str, Iterable[str]]
) -> Callable[[Callable[[str, str], None]], None]:
    """Return the body of `register_kernels` for the files of `kernels`, each name with its `sample_NAME`."""

    def add_kernels(register: Callable[[str, str], None]) -> None:
        for file, names in kernels.items():
            for name in names:
                register(f"{package}.kernels.{file}:{name}", f"{package}.kernels.{file}:sample_{name}")

    return add_kernels


def attributes_at(
    package: str, *places: Iterable[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the package's `__getattr__`, which imports an attribute when it is first used, and `__dir__`."""
    homes = {
        attribute: module
        for group in places
        for module, _, attribute in (place.partition(":") for place in group)
    }

    def attribute_of(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module '{package}' has no attribute '{name}'")
        return getattr(importlib.import_module(f"{package}.{homes[name]}"), name)

    return attribute_of, lambda: sorted({*vars(sys.modules[package]), *homes})


def read_docstring(module: str, name: str) -> str | None:
    """Return the documentation of a class or a function of a module, without importing it.

    None where the module's source does not show it: it may come from elsewhere.
    """
    import ast  # late, like what needs this

    spec, inside = None, None
    for part in _with_parents(module):
        spec = importlib.machinery.PathFinder.find_spec(part, inside)
        if spec is None:
            return None
        inside = spec.submodule_search_locations
    if spec is None or spec.origin is None or not spec.origin.endswith(".py"):
        return None
    try:
        tree = ast.parse(Path(spec.origin).read_bytes())
    except (OSError, SyntaxError, ValueError, MemoryError, RecursionError):
        return None
    for each in tree.body:
        if isinstance(each, ast.ClassDef | ast.FunctionDef) and each.name == name:
            return ast.get_docstring(each)
    return None


def _with_parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: length + 1]) for length in range(len(parts))]
