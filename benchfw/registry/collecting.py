"""Loads plugins and calls their hooks, to know what they register.

A plugin comes from the entry-point group `benchfw`, or from a file or a module that is given by hand. An
installed one that fails is remembered in `broken` and the others still load; one given by hand is an error.
"""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from types import FunctionType, MethodType, ModuleType
from typing import Any

import pluggy

import benchfw
from benchfw import hookspecs
from benchfw.backends import BackendTable
from benchfw.errors import PluginError, nearest
from benchfw.loading import (
    EntryPoint,
    LoadingFault,
    Plugin,
    fault_text,
    load_entry_point,
    load_source,
    place_of,
)
from benchfw.registry.entries import KINDS, Entry


class HookManager(pluggy.PluginManager):
    """Looks for hooks among what a plugin's module holds, not among the names that it imports when asked."""

    def parse_hookimpl_opts(self, plugin: Any, name: str) -> pluggy.HookimplOpts | None:
        """Return the options of a hook; None for other names: before 1.7 pluggy would import them all."""
        if isinstance(plugin, ModuleType) and name not in vars(plugin):
            return None
        return super().parse_hookimpl_opts(plugin, name)


class Collector:
    """What the installed plugins and those given by hand register."""

    def __init__(self, installed: Iterable[EntryPoint], sources: Iterable[str]) -> None:
        self.broken: list[str] = []
        self.hooked: list[Plugin] = []
        self.suite_folders: list[Path] = []
        self.backends = BackendTable()
        self.entries: dict[tuple[str, str], Entry] = {}
        self._origins: dict[int, Plugin] = {}
        self._given: set[Plugin] = set()
        self._manager = HookManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        for point in installed:
            self._load(load_entry_point, point)
        for source in sources:
            self._load(load_source, source)
        self._collect()

    @property
    def hook(self) -> pluggy.HookRelay:
        """The hooks, for the events of a run."""
        return self._manager.hook

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins that were loaded."""
        return tuple(self._origins.values())

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
        self._origins[id(plugin)] = origin
        try:
            self._manager.register(plugin, name=f"{origin.distribution}:{origin.name}")
        except pluggy.PluginValidationError as fault:
            with contextlib.suppress(Exception):  # half registered
                self._manager.unregister(plugin)
            reason = (
                _find_unknown_argument(plugin)
                or f"has a hook that does not fit: {' '.join(str(fault).split())}"
            )
            self._refuse(origin, reason)
            return
        callers = self._manager.get_hookcallers(plugin) or ()
        self.hooked += [origin] * bool(callers)
        for caller in callers:
            if not caller.has_spec():
                hint = nearest(
                    caller.name, (name for name in vars(hookspecs) if name.startswith("register_"))
                )
                self._refuse(origin, f"has an unknown hook '{caller.name}'{hint}")
        for name in _unmarked_hooks(plugin):
            self._refuse(origin, f"has {name} without @hookimpl, so that it is never called; mark it")

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
        self._call("register_suites", lambda _: lambda folder: self.suite_folders.append(Path(folder)))

    def find_commands(self) -> list[Any]:
        """Return the verbs that plugins add; asked by the command line alone, which they import."""
        commands: list[Any] = []
        self._call("register_commands", lambda _: commands.append)
        return commands

    def _call(self, hook: str, register_for: Callable[[Plugin], Callable[..., None]]) -> None:
        # one call for each plugin, not one for all: the registry must know who registers what
        for implementation in getattr(self._manager.hook, hook).get_hookimpls():
            plugin = self._origins[id(implementation.plugin)]
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
        self.add(Entry(kind, name, factory, plugin))

    def _register_backend(self, plugin: Plugin, name: str, factory: Callable[[], Any]) -> None:
        self._register("backend", plugin, name, factory)
        self.backends.add(name, lambda: self.entries["backend", name].factory)

    def _register_kernel(
        self, plugin: Plugin, kernel: Any, sample: Callable[..., tuple[Any, ...]] | str
    ) -> None:
        name = kernel.partition(":")[2].replace("_", "-") if isinstance(kernel, str) else kernel.name
        self.add(Entry("kernel", name, kernel, plugin, sample))

    def add(self, entry: Entry) -> None:
        """Add an entry; two of one name are an error."""
        other = self.entries.setdefault((entry.kind, entry.name), entry)
        if other is not entry:
            raise PluginError(
                f"two plugins register the {entry.kind} '{entry.name}': {other.plugin} and {entry.plugin}; "
                "rename one of them or leave one out"
            )


def _functions_named_as_hooks(plugin: Any) -> dict[str, FunctionType | MethodType]:
    find = vars(plugin).get if isinstance(plugin, ModuleType) else partial(getattr, plugin)
    found = {name: find(name, None) for name in _HOOKS}
    return {name: each for name, each in found.items() if isinstance(each, FunctionType | MethodType)}


def _find_unknown_argument(plugin: Any) -> str:
    """Return which hook of a plugin takes an argument that it is not given; nothing where none does."""
    for name, function in _functions_named_as_hooks(plugin).items():
        functions = (function, getattr(hookspecs, name))
        taken, given = (list(inspect.signature(each).parameters) for each in functions)
        if not set(taken) <= set(given):
            names = ", ".join(given)
            return f"has {name}({', '.join(taken)}), and that hook takes {names}; write def {name}({names})"
    return ""


def _unmarked_hooks(plugin: Any) -> list[str]:
    """Return the functions of a plugin that have the name of a hook, are not marked, and not used by it."""
    owner = plugin if isinstance(plugin, ModuleType) else type(plugin)
    return [
        name
        for name, each in _functions_named_as_hooks(plugin).items()
        if not hasattr(each, f"{hookspecs.PROJECT}_impl") and not _is_mentioned(name, owner)
    ]


def _is_mentioned(name: str, owner: Any) -> bool:
    """Return whether the source of a module or class has a name elsewhere than in its definition."""
    try:
        source = inspect.getsource(owner)
    except (OSError, TypeError):  # it has none
        return True
    return len(re.findall(rf"\b{name}\b", source)) > 1


_HOOKS = [name for name, each in vars(hookspecs).items() if hasattr(each, f"{hookspecs.PROJECT}_spec")]
