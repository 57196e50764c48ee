"""Looks up what plugins register, and builds objects from suite tables."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import benchfw
from benchfw import hookspecs
from benchfw.backends import current_table
from benchfw.errors import BenchfwError, PluginError, list_neighbours, nearest
from benchfw.loading import EntryPoint, Plugin, find_entry_points, is_file_name
from benchfw.packages import advise_install
from benchfw.registry.collecting import Collector
from benchfw.registry.entries import GIVEN, PARAMETRIC, Entry, Given, is_nested, kind_of

if TYPE_CHECKING:
    from benchfw.parameters import Parameter
    from benchfw.records import Trial
    from benchfw.sources import Modules


class Registry:
    """All names that the installed and the named plugins register; who knows the installed may say so.

    `objects` are registered beside them.
    """

    def __init__(
        self,
        plugins: Iterable[str] = (),
        installed: Sequence[EntryPoint] | None = None,
        objects: Iterable[Given] = (),
    ) -> None:
        self.sources = tuple(dict.fromkeys(plugins))
        self.objects = tuple(objects)
        self.installed = find_entry_points(hookspecs.PROJECT) if installed is None else tuple(installed)
        found = Collector(self.installed, self.sources)
        for each in self.objects:
            found.add(Entry(each.kind, each.name, each.factory, _SESSION, given=each))
        self.plugins, self.broken, self.hook = found.plugins, found.broken, found.hook
        self.backends, self._hooked, self._find_commands = found.backends, found.hooked, found.find_commands
        self._entries, self._suite_folders = found.entries, found.suite_folders

    def with_objects(self, objects: Iterable[Given]) -> Registry:
        """Return a registry that has these objects too."""
        return Registry(self.sources, self.installed, [*self.objects, *objects])

    def with_plugins(self, plugins: Iterable[str]) -> Registry:
        """Return a registry that has these plugins too."""
        return Registry([*self.sources, *plugins], self.installed, self.objects)

    @cached_property
    def commands(self) -> list[Any]:
        """The verbs that plugins add."""
        return self._find_commands()

    @property
    def suite_folders(self) -> list[Path]:
        """Where suites are looked up by name: ./suites, then those of the plugins."""
        return [folder for folder in (Path("suites"), *self._suite_folders) if folder.is_dir()]

    @property
    def suites(self) -> dict[str, Path]:
        """The files of all suites that can be named, by name."""
        found: dict[str, Path] = {}
        for folder in self.suite_folders:
            for path in sorted(folder.rglob("*.toml")):
                found.setdefault(path.relative_to(folder).with_suffix("").as_posix(), path)
        return found

    def entries(self, kind: str) -> dict[str, Entry]:
        """Return the entries of one kind by name, in alphabetical order."""
        return {name: entry for (k, name), entry in sorted(self._entries.items()) if k == kind}

    def get(self, kind: str, name: str, place: str = "") -> Entry:
        """Return one entry; an unknown name is explained with the nearest one and the broken plugins."""
        if not isinstance(name, str):  # a forged store may hold anything
            raise PluginError(
                f"the name of {'an' if kind[0] in 'aeiou' else 'a'} {kind} must be a text, got {name!r}"
            )
        entry = self._entries.get((kind, name))
        if entry is None:
            if name.startswith(GIVEN):
                raise PluginError(
                    f"{kind} '{name.removeprefix(GIVEN)}'{place and f' in {place}'} was an object of a "
                    "Python session, which is not kept; run the code that made it again"
                )
            names = self.entries(kind)
            command = advise_install(kind, name)
            if command:
                raise PluginError(f"unknown {kind} '{name}'{place and f' in {place}'}; {command}")
            other = next((each for each, known in self._entries if known == name), "")
            if other:
                what = f"{'an' if other[0] in 'aeiou' else 'a'} {other}"
                raise PluginError(f"unknown {kind} '{name}'{place and f' in {place}'}: '{name}' is {what}")
            choice = f"choose from: {list_neighbours(name, names)}, or " if names else ""
            advice = f"; {choice}load the plugin that has it: install it, or give --plugin FILE"
            hint = nearest(name, names, advice)
            broken = f" (not loaded: {'; '.join(self.broken)})" if self.broken else ""
            raise PluginError(f"unknown {kind} '{name}'{place and f' in {place}'}{hint}{broken}")
        return entry

    def build(self, kind: str, table: Mapping[str, Any], *leading: Any) -> Any:
        """Build the object that a suite table `{use = …, parameter = …}` describes, nested tables first.

        A value that its parameter does not take is a BenchfwError; in a suite, plan found it before.
        """
        entry = self.get(kind, table["use"])
        if len(table) == 1:
            return entry.factory(*leading)
        given = {key: value for key, value in table.items() if key != "use"}
        if kind in PARAMETRIC:
            self._check(entry, given)
        params = {
            key: self.build(kind_of(key), value) if is_nested(key, value) else value
            for key, value in given.items()
        }
        return entry.factory(*leading, **params)

    def _check(self, entry: Entry, given: Mapping[str, Any]) -> None:
        from benchfw.parameters import fits, misfit

        for name, parameter in entry.parameters.items():
            if name in given and not fits(given[name], parameter.hint):
                fault = misfit(name, given[name], parameter.hint)
                raise BenchfwError(f"{fault}, in {entry.kind} '{entry.name}'")

    def inspect(self, kind: str, table: Mapping[str, Any]) -> None:
        """Import what a table names and look at its parameters, as `build` will, but build nothing."""
        entry = self.get(kind, table["use"])
        _ = entry.factory, entry.parameters if kind in PARAMETRIC else None
        for key, value in table.items():
            if is_nested(key, value):
                self.inspect(kind_of(key), value)

    def inspect_trial(self, trial: Trial) -> None:
        """Inspect the method and the problem of a trial: PluginError where a name is not known here."""
        for kind, table in trial.tables:
            self.inspect(kind, table)

    def entries_of(self, kind: str, table: Mapping[str, Any]) -> list[Entry]:
        """Return the entries that a table names, those of its nested tables included."""
        found = [self.get(kind, table["use"])]
        for key, value in table.items():
            if is_nested(key, value):
                found += self.entries_of(kind_of(key), value)
        return found

    def with_paths(self, kind: str, table: Mapping[str, Any], folder: Path) -> dict[str, Any]:
        """Return a table whose files and folders are absolute paths, counted from a folder."""
        names = self._paths_in(kind, table)
        found = dict(table)
        for key, value in table.items():
            if is_nested(key, value):
                found[key] = self.with_paths(kind_of(key), value, folder)
            elif key in names and isinstance(value, str):
                found[key] = str((folder / Path(value).expanduser()).resolve())
        return found

    def without_paths(self, kind: str, table: Mapping[str, Any]) -> dict[str, Any]:
        """Return a table without its files and folders: what is in them counts, not where they lie."""
        names = self._paths_in(kind, table)
        return {
            key: self.without_paths(kind_of(key), value) if is_nested(key, value) else value
            for key, value in table.items()
            if key not in names
        }

    def files_in(self, kind: str, table: Mapping[str, Any]) -> list[tuple[str, str, str]]:
        """Return what a table says of files and folders: whose parameter, its name and its value.

        What nested tables say is among them.
        """
        names, found = self._paths_in(kind, table), []
        for key, value in table.items():
            if is_nested(key, value):
                found += self.files_in(kind_of(key), value)
            elif key in names and isinstance(value, str):
                found.append((f"{kind} '{table['use']}'", key, value))
        return found

    def _paths_in(self, kind: str, table: Mapping[str, Any]) -> list[str]:
        parameters = self.get(kind, table["use"]).parameters if kind in PARAMETRIC else {}
        return [name for name, each in parameters.items() if each.names_path]

    def code_in(self, kind: str, table: Mapping[str, Any]) -> list[tuple[Parameter, Any]]:
        """Return the parameters of a table that name code, with their values, nested tables included."""
        from benchfw.search import Choice

        parameters = self.get(kind, table["use"]).parameters if kind in PARAMETRIC else {}
        found = []
        for key, value in table.items():
            for each in value.values if isinstance(value, Choice) else (value,):
                if is_nested(key, each):
                    found += self.code_in(kind_of(key), each)
                elif key in parameters and parameters[key].names_code:
                    found.append((parameters[key], each))
        return found

    def source_files(self, kind: str, table: Mapping[str, Any]) -> list[Path]:
        """Return the files that factories name as the source of what they make of a table."""
        entry = self.get(kind, table["use"])
        find = getattr(entry.factory, "source_files", None) if kind in PARAMETRIC else None
        found = list(find(**{key: each for key, each in table.items() if key != "use"})) if find else []
        for key, value in table.items():
            if is_nested(key, value):
                found += self.source_files(kind_of(key), value)
        return found

    def modules(self) -> Modules:
        """Return a finder of modules that follows those of benchfw and of plugins wherever they lie."""
        from benchfw.sources import Modules

        # what has no hooks is code for parameters, a library maybe: like any other it counts by its version
        return Modules(hashed=[benchfw.__name__, *(plugin.distribution for plugin in self._hooked)])

    def dataset_of(self, kind: str, table: Mapping[str, Any]) -> str | None:
        """Return the data set that a table names, or that its plugin takes by default."""
        parameters = self.get(kind, table["use"]).parameters if kind in PARAMETRIC else {}
        names = (table.get(each.name, each.default) for each in parameters.values() if each.names_dataset)
        return next((name for name in names if isinstance(name, str)), None)

    def activate(self) -> contextlib.ExitStack:
        """Make this the registry whose backends and data sets are found by name.

        It stays so until the end of `with registry.activate():`, or, where nobody enters or closes what is
        returned, for good.
        """
        restore = contextlib.ExitStack()
        restore.callback(_active.reset, _active.set(self))
        restore.callback(current_table.reset, current_table.set(self.backends))
        return restore

    def note(self, fault: str) -> None:
        """Remember a fault of a plugin, once."""
        if fault not in self.broken:
            self.broken.append(fault)

    def lacks(self, plugins: Iterable[str]) -> list[str]:
        """Return those of a stored run's plugins that are neither installed nor given by hand.

        What a store names is never imported: it may be someone else's. Files are compared by name, since
        their folder may be another one here.
        """
        known = {name for each in self.plugins for name in (each.name, each.module, each.distribution)}
        files = {each.path.name for each in self.plugins if each.path is not None}
        return [
            each
            for each in dict.fromkeys(plugins)
            if not (Path(each).name in files if is_file_name(each) else each in known)
        ]


_SESSION = Plugin("session", "__main__", "this session", "", None)
"""Where objects that were given come from."""

_active: ContextVar[Registry] = ContextVar("active_registry")


def active_registry() -> Registry:
    """Return the registry that was activated; where nobody did, that of the installed plugins is."""
    found = _active.get(None)
    if found is None:
        found = _installed_registry()
        found.activate()
    return found


@cache
def _installed_registry() -> Registry:
    return Registry()
