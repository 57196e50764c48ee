"""Collects what plugins register, and builds objects from suite tables.

A plugin comes from the entry-point group `benchfw`, or from a file or a module that is given by hand. An
installed one that fails is remembered in `Registry.broken` and the others still load; one given by hand is an
error.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

import benchfw
from benchfw import hookspecs
from benchfw.backends import BackendTable, current_table
from benchfw.errors import BenchfwError, PluginError, nearest
from benchfw.loading import (
    EntryPoint,
    LoadingFault,
    Plugin,
    fault_text,
    find_entry_points,
    is_file_name,
    load_entry_point,
    load_source,
    package_with,
    place_of,
    read_docstring,
)

if TYPE_CHECKING:
    from benchfw.parameters import Parameter
    from benchfw.records import Trial
    from benchfw.sources import Modules

KINDS = ("problem", "estimator", "optimizer", "distribution", "dataset", "figure")
PARAMETRIC = frozenset({"problem", "estimator", "optimizer", "distribution"})
NESTABLE = frozenset({"estimator", "optimizer", "distribution"})


GIVEN = "object:"
"""Begins the name of what was given to `benchfw.compare` as an object: no plugin registers such names."""


class Given(NamedTuple):
    """An object of a Python session in a role; the digest is of its code and data, as far as it has its own.

    `roots` are the modules, by name or by file, that it uses beyond that.
    """

    kind: str
    name: str
    factory: Any
    digest: str
    roots: tuple[str | Path, ...] = ()


class Entry(NamedTuple):
    """One registered name; `source` is the factory, or where to import it from when it is first used."""

    kind: str
    name: str
    source: Callable[..., Any] | str
    plugin: Plugin
    sample_source: Callable[..., tuple[Any, ...]] | str | None = None
    given: Given | None = None

    def __str__(self) -> str:
        return f"{self.kind} '{self.name}' of {self.plugin}"

    @property
    def factory(self) -> Callable[..., Any]:
        """What makes the object, imported now if it was registered by name."""
        return self._resolve(self.source)

    @property
    def sample(self) -> Callable[..., tuple[Any, ...]]:
        """What makes a kernel's arguments, imported now if it was registered by name."""
        if self.sample_source is None:
            raise PluginError(f"{self} was registered without a sample")
        return self._resolve(self.sample_source)

    def _resolve(self, source: Callable[..., Any] | str) -> Callable[..., Any]:
        if not isinstance(source, str):
            return source
        module, _, name = source.partition(":")
        try:
            found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except Exception as fault:
            raise PluginError(
                f"{self} is not at '{source}' ({fault_text(fault)}); register it as 'module:name'"
            ) from fault
        return found

    @property
    def roots(self) -> list[str | Path]:
        """Return the modules that decide what this entry does, by name or by file.

        Where an object was registered, the module that did so is among them: it may have made the object.
        """
        if self.given is not None:
            return list(self.given.roots)
        from benchfw.sources import file_of

        given = [each for each in (self.source, self.sample_source) if each is not None]
        names: list[str | Path] = [each.partition(":")[0] for each in given if isinstance(each, str)]
        objects = [each for each in given if not isinstance(each, str)]
        files = [*map(file_of, objects), self.plugin.path if objects else None]
        return [*names, *(each for each in files if each is not None)]

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters that a suite may set, by name."""
        from benchfw.parameters import parameters_of

        factory: Any = self.factory
        if not callable(factory):
            return {}  # a data set as plain data
        try:
            return parameters_of(factory, hidden=2 if self.kind == "problem" else 0)
        except (TypeError, ValueError) as fault:
            raise PluginError(f"{self} has no readable signature ({fault}); wrap it in a function") from fault

    @property
    def summary(self) -> str:
        """Return the first line of the documentation, from the source if nothing has imported it yet."""
        text = None
        if isinstance(self.source, str):
            module, _, name = self.source.partition(":")
            text = None if module in sys.modules else read_docstring(module, name)
        if text is None:
            text = self.factory.__doc__
        return next(iter((text or "").strip().splitlines()), "")


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
        self.broken: list[str] = []
        self._suite_folders: list[Path] = []
        self.commands: list[Any] = []
        self.backends = BackendTable()
        self._entries: dict[tuple[str, str], Entry] = {}
        self._plugins: dict[int, Plugin] = {}
        self._given: set[Plugin] = set()
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        for point in self.installed:
            self._load(load_entry_point, point)
        for source in self.sources:
            self._load(load_source, source)
        self._collect()
        for each in self.objects:
            self._add(Entry(each.kind, each.name, each.factory, _SESSION, given=each))

    def with_objects(self, objects: Iterable[Given]) -> Registry:
        """Return a registry that has these objects too."""
        return Registry(self.sources, self.installed, [*self.objects, *objects])

    def with_plugins(self, plugins: Iterable[str]) -> Registry:
        """Return a registry that has these plugins too."""
        return Registry([*self.sources, *plugins], self.installed, self.objects)

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hooks, for the events of a run."""
        return self._manager.hook

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that were loaded."""
        return tuple(self._plugins.values())

    @property
    def suite_folders(self) -> list[Path]:
        """Where suites are looked up by name: ./suites, then those of the plugins."""
        return [folder for folder in (Path("suites"), *self._suite_folders) if folder.is_dir()]

    def entries(self, kind: str) -> dict[str, Entry]:
        """Return the entries of one kind by name, in alphabetical order."""
        return {name: entry for (k, name), entry in sorted(self._entries.items()) if k == kind}

    def get(self, kind: str, name: str, place: str = "") -> Entry:
        """Return one entry; an unknown name is explained with the nearest one and the broken plugins."""
        entry = self._entries.get((kind, name))
        if entry is None:
            if name.startswith(GIVEN):
                raise PluginError(
                    f"{kind} '{name.removeprefix(GIVEN)}'{place and f' in {place}'} was an object of a "
                    "Python session, whose code is not kept; run the code that made it again"
                )
            names = self.entries(kind)
            package = package_with(kind, name)
            if package:
                raise PluginError(f"unknown {kind} '{name}'{place and f' in {place}'}; pip install {package}")
            choice = f"choose from: {', '.join(names)}, or " if names else ""
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
        given = {key: value for key, value in table.items() if key != "use"}
        if given and kind in PARAMETRIC:
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
        self.inspect(trial.kind, trial.method.table)
        if trial.kind != "kernel":
            self.inspect("problem", trial.problem.table)

    def entries_of(self, kind: str, table: Mapping[str, Any]) -> list[Entry]:
        """Return the entries that a table names, those of its nested tables included."""
        found = [self.get(kind, table["use"])]
        for key, value in table.items():
            if is_nested(key, value):
                found += self.entries_of(kind_of(key), value)
        return found

    def modules(self) -> Modules:
        """Return a finder of modules that follows those of benchfw and of plugins wherever they lie."""
        from benchfw.sources import Modules

        return Modules(hashed=[benchfw.__name__, *(plugin.distribution for plugin in self.plugins)])

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

    def _load(self, load: Callable[[Any], tuple[Any, Plugin]], what: Any) -> None:
        try:
            plugin, origin = load(what)
        except LoadingFault as fault:
            self.broken.append(str(fault))
            return
        if load is load_source:
            self._given.add(origin)
        wanted = getattr(plugin, "benchfw_api", benchfw.API_VERSION)
        if wanted != benchfw.API_VERSION:
            self._refuse(
                origin,
                f"is written for version {wanted} of benchfw's API, and this is version "
                f"{benchfw.API_VERSION}; upgrade the older of the two",
            )
            return
        if isinstance(plugin, ModuleType) and origin.path in {each.path for each in self.plugins}:
            return  # named twice, say by entry point and by --plugin
        self._plugins[id(plugin)] = origin
        try:
            self._manager.register(plugin, name=f"{origin.distribution}:{origin.name}")
        except pluggy.PluginValidationError as fault:
            with contextlib.suppress(Exception):  # half registered
                self._manager.unregister(plugin)
            self._refuse(origin, f"has a hook that is not benchfw's: {' '.join(str(fault).split())}")
            return
        for caller in self._manager.get_hookcallers(plugin) or ():
            if not caller.has_spec():
                hint = nearest(
                    caller.name, (name for name in vars(hookspecs) if name.startswith("register_"))
                )
                self._refuse(origin, f"has an unknown hook '{caller.name}'{hint}")

    def _refuse(self, plugin: Plugin, why: str) -> None:
        """Remember what is wrong with an installed plugin; that of one given by hand is an error."""
        fault = f"plugin '{plugin.name}' {why}"
        if plugin in self._given:
            raise PluginError(fault)
        self.broken.append(fault)

    def _collect(self) -> None:
        for kind in KINDS:
            self._call(f"register_{kind}s", partial(partial, self._register, kind))
        self._call("register_kernels", partial(partial, self._register_kernel))
        self._call("register_backends", partial(partial, self._register_backend))
        self._call("register_suites", lambda _: lambda folder: self._suite_folders.append(Path(folder)))
        self._call("register_commands", lambda _: self.commands.append)

    def _call(self, hook: str, register_for: Callable[[Plugin], Callable[..., None]]) -> None:
        # one call for each plugin, not one for all: the registry must know who registers what
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            plugin = self._plugins[id(implementation.plugin)]
            try:
                implementation.function(register_for(plugin))
            except PluginError:
                raise
            except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's hook may raise anything
                self._refuse(plugin, f"raised in {hook}: {fault_text(fault)}{place_of(fault, plugin.path)}")

    def _register(self, kind: str, plugin: Plugin, name: str, factory: Any) -> None:
        usable = callable(factory) or isinstance(factory, str) or kind == "dataset"  # which may be plain data
        if not isinstance(name, str) or not name or not usable:
            raise TypeError(f"register({name!r}, {factory!r}) needs a name and a factory or 'module:name'")
        self._add(Entry(kind, name, factory, plugin))

    def _register_backend(self, plugin: Plugin, name: str, factory: Callable[[], Any]) -> None:
        self._register("backend", plugin, name, factory)
        self.backends.add(name, lambda: self._entries["backend", name].factory)

    def _register_kernel(
        self, plugin: Plugin, kernel: Any, sample: Callable[..., tuple[Any, ...]] | str
    ) -> None:
        name = kernel.partition(":")[2].replace("_", "-") if isinstance(kernel, str) else kernel.name
        self._add(Entry("kernel", name, kernel, plugin, sample))

    def _add(self, entry: Entry) -> None:
        other = self._entries.setdefault((entry.kind, entry.name), entry)
        if other is not entry:
            raise PluginError(
                f"two plugins register the {entry.kind} '{entry.name}': {other.plugin} and {entry.plugin}; "
                "rename one of them or leave one out"
            )


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


def kind_of(key: str) -> str:
    """Return the kind that a parameter's name asks for: its last word, as in `inner_estimator`."""
    return key.rpartition("_")[2]


def is_nested(key: str, value: Any) -> bool:
    """Return whether a parameter holds another plugin's table."""
    return isinstance(value, Mapping) and "use" in value and kind_of(key) in NESTABLE
