"""Finds what `benchfw check TARGET` means: a file, a folder, a module, an installed plugin or a name."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path

from benchfw.errors import PluginError, PluginNotFound, nearest
from benchfw.loading import is_file_name
from benchfw.registry import Entry, Registry
from benchfw.testing.check import ROLES
from benchfw.testing.subject import CheckTarget, Effort, Subject


def subjects_of(target: str, plugins: Iterable[str] = (), effort: Effort | None = None) -> list[Subject]:
    """Return what is to be checked; PluginError where the target is nothing, or registers nothing."""
    plugins = tuple(plugins)
    registry, entries = _entries_of(target, list(plugins))
    if not entries:
        raise PluginError(f"'{target}' registers nothing to check; it needs a function with @hookimpl")
    return CheckTarget(target, plugins, registry, effort or Effort(), entries).subjects


def _entries_of(target: str, plugins: list[str]) -> tuple[Registry, list[Entry]]:
    if Path(target).is_dir():
        modules = _modules_in(Path(target).resolve())
        return _loaded(modules, plugins)
    if is_file_name(target):
        return _loaded([target], plugins)
    registry = Registry(plugins)
    found = [
        entry
        for entry in _all(registry)
        if target in {entry.plugin.name, entry.plugin.module, entry.plugin.distribution}
    ] or [entry for entry in _all(registry) if entry.name == target]
    if found:
        return registry, found
    try:
        return _loaded([target], plugins)
    except PluginNotFound:
        names = {entry.name for entry in _all(registry)} | {each.name for each in registry.plugins}
        names |= {path.name for path in Path().glob("*.py")}
        hint = nearest(target, names, "; give a file, a folder, a module or a listed name")
        broken = f" (not loaded: {'; '.join(registry.broken)})" if registry.broken else ""
        raise PluginError(f"unknown name '{target}'{hint}{broken}") from None


def _loaded(sources: list[str], plugins: list[str]) -> tuple[Registry, list[Entry]]:
    """Return a registry with these sources and what they register; one that does not load is an error."""
    registry = Registry([*plugins, *sources])
    paths = {_file_of(source) for source in sources}
    return registry, [entry for entry in _all(registry) if entry.plugin.path in paths]


def _file_of(source: str) -> Path:
    """Return the file that a source was loaded from: an installed plugin may be named by it too."""
    by_name = sys.modules.get(source)
    return (
        Path(by_name.__file__ or "") if by_name is not None and by_name.__file__ else Path(source).resolve()
    )


def _all(registry: Registry) -> list[Entry]:
    return [entry for role in ROLES for entry in registry.entries(role).values()]


def _modules_in(folder: Path) -> list[str]:
    """Return the modules that a folder's project names as plugins, or the package that the folder is."""
    project = folder / "pyproject.toml"
    if project.is_file():
        try:
            table = tomllib.loads(project.read_text(encoding="utf-8"))
        except ValueError as fault:
            raise PluginError(f"{project}: not valid TOML: {fault}") from None
        points = table.get("project", {}).get("entry-points", {}).get("benchfw", {})
        if not points:
            raise PluginError(f"{project} has no entry point; add [project.entry-points.benchfw] with a name")
        _make_importable(folder, folder / "src")
        return [str(value).partition(":")[0] for value in points.values()]
    if (folder / "__init__.py").is_file():
        _make_importable(folder.parent)
        return [folder.name]
    raise PluginError(f"'{folder}' is not a package: it has neither a pyproject.toml nor an __init__.py")


def _make_importable(*folders: Path) -> None:
    for folder in folders:
        if folder.is_dir() and str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
