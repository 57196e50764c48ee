"""Finds plugins, collects what they register, and builds objects from suite tables.

A plugin comes from the entry-point group `benchfw`, from a file, or from a module name. One that fails
to import is remembered in `Registry.broken` and the others still load.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

import pluggy

import benchfw
from benchfw import hookspecs
from benchfw.backends import register_backend
from benchfw.errors import PluginError, nearest

if TYPE_CHECKING:
    from benchfw.parameters import Parameter

KINDS = ("problem", "estimator", "optimizer", "distribution", "dataset", "figure")
NESTABLE = frozenset({"estimator", "optimizer", "distribution"})


class Plugin(NamedTuple):
    """Where something came from: the module, and the distribution that brought it, if any."""

    name: str
    module: str
    distribution: str
    version: str
    path: Path | None

    def __str__(self) -> str:
        return f"{self.distribution} {self.version}".strip()


class Entry(NamedTuple):
    """One registered name; `source` is the factory, or where to import it from when it is first used."""

    kind: str
    name: str
    source: Callable[..., Any] | str
    plugin: Plugin
    sample: Callable[..., tuple[Any, ...]] | None = None

    @property
    def factory(self) -> Callable[..., Any]:
        """What makes the object, imported now if it was registered by name."""
        if not isinstance(self.source, str):
            return self.source
        module, _, name = self.source.partition(":")
        try:
            factory: Callable[..., Any] = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as fault:
            raise PluginError(
                f"{self.kind} '{self.name}' of {self.plugin} is not at '{self.source}' ({fault}); "
                "register it as 'module:name'"
            ) from fault
        return factory

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """Return the parameters that a suite may set, by name."""
        from benchfw.parameters import parameters_of

        return parameters_of(self.factory, hidden=("backend", "rng") if self.kind == "problem" else ())

    @property
    def summary(self) -> str:
        """Return the first line of the documentation."""
        text = (self.factory.__doc__ or "").strip()
        return text.splitlines()[0] if text else ""


class Registry:
    """All names that the installed and the named plugins register."""

    def __init__(self, plugins: Iterable[str] = ()) -> None:
        self.sources = tuple(dict.fromkeys(plugins))
        self.broken: list[str] = []
        self._suite_folders: list[Path] = []
        self.commands: list[Any] = []
        self._entries: dict[tuple[str, str], Entry] = {}
        self._plugins: dict[int, Plugin] = {}
        self._manager = pluggy.PluginManager(hookspecs.PROJECT)
        self._manager.add_hookspecs(hookspecs)
        for point in importlib.metadata.entry_points(group=hookspecs.PROJECT):
            self._load_entry_point(point)
        for source in self.sources:
            self._load_source(source)
        self._collect()

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
        """Where suites are looked up by name: ./suites, those installed with benchfw, the plugins'."""
        package = Path(benchfw.__file__).parent
        # a wheel carries the suites inside the package; a checkout has them beside it
        own = [folder for folder in (package / "suites", package.parent / "suites") if folder.is_dir()]
        return [folder for folder in (Path("suites"), *own[:1], *self._suite_folders) if folder.is_dir()]

    def entries(self, kind: str) -> dict[str, Entry]:
        """Return the entries of one kind by name, in alphabetical order."""
        return {name: entry for (k, name), entry in sorted(self._entries.items()) if k == kind}

    def get(self, kind: str, name: str) -> Entry:
        """Return one entry; an unknown name is explained with the nearest one and the broken plugins."""
        entry = self._entries.get((kind, name))
        if entry is None:
            hint = nearest(name, self.entries(kind))
            broken = f" (not loaded: {'; '.join(self.broken)})" if self.broken else ""
            raise PluginError(f"unknown {kind} '{name}'{hint}{broken}")
        return entry

    def build(self, kind: str, table: Mapping[str, Any], *leading: Any) -> Any:
        """Build the object that a suite table `{use = …, parameter = …}` describes, nested tables first."""
        entry = self.get(kind, table["use"])
        params = {
            key: self.build(kind_of(key), value) if is_nested(key, value) else value
            for key, value in table.items()
            if key != "use"
        }
        return entry.factory(*leading, **params)

    def plugins_of(self, kind: str, table: Mapping[str, Any]) -> set[Plugin]:
        """Return the plugins that a table involves, those of its nested tables included."""
        found = {self.get(kind, table["use"]).plugin}
        for key, value in table.items():
            if is_nested(key, value):
                found |= self.plugins_of(kind_of(key), value)
        return found

    def _load_entry_point(self, point: importlib.metadata.EntryPoint) -> None:
        name = point.dist.name if point.dist else point.value
        version = point.dist.version if point.dist else ""
        try:
            module = point.load()
        except Exception as fault:  # noqa: BLE001 - a stranger's module may raise anything at import
            self.broken.append(f"plugin '{point.name}' of {name} {version}: {_explain(fault)}")
            return
        self._add(module, point.name, name, version)

    def _load_source(self, source: str) -> None:
        try:
            module = _import_file(Path(source)) if _is_file(source) else importlib.import_module(source)
        except FileNotFoundError:
            raise PluginError(f"no plugin file '{source}'; give a path that exists") from None
        except Exception as fault:  # noqa: BLE001 - a stranger's module may raise anything at import
            if isinstance(fault, ModuleNotFoundError) and fault.name == source.partition(".")[0]:
                raise PluginError(f"no plugin module '{source}'; install it or give its file") from None
            self.broken.append(f"plugin '{source}': {_explain(fault)}")
            return
        self._add(module, source, Path(source).name, "")

    def _add(self, module: Any, name: str, distribution: str, version: str) -> None:
        if id(module) in self._plugins:  # named twice, say by entry point and by --plugin
            return
        path = getattr(module, "__file__", None)
        self._plugins[id(module)] = Plugin(
            name=name,
            module=getattr(module, "__name__", name),
            distribution=distribution,
            version=version,
            path=Path(path) if path else None,
        )
        self._manager.register(module, name=f"{distribution}:{name}")

    def _collect(self) -> None:
        for kind in KINDS:
            for plugin, call in self._implementations(f"register_{kind}s"):
                call(register=lambda name, factory, k=kind, p=plugin: self._register(k, name, factory, p))
        for plugin, call in self._implementations("register_kernels"):
            call(register=lambda kernel, sample, p=plugin: self._register_kernel(kernel, sample, p))
        for _, call in self._implementations("register_backends"):
            call(register=register_backend)
        for _, call in self._implementations("register_suites"):
            call(register=self._suite_folders.append)
        for _, call in self._implementations("register_commands"):
            call(register=self.commands.append)

    def _implementations(self, hook: str) -> list[tuple[Plugin, Callable[..., Any]]]:
        # one call for each plugin, not one for all: the registry must know who registers what
        found = getattr(self._manager.hook, hook).get_hookimpls()
        return [(self._plugins[id(each.plugin)], each.function) for each in found]

    def _register_kernel(self, kernel: Any, sample: Callable[..., tuple[Any, ...]], plugin: Plugin) -> None:
        name = kernel.partition(":")[2].replace("_", "-") if isinstance(kernel, str) else kernel.name
        self._register("kernel", name, kernel, plugin, sample)

    def _register(
        self,
        kind: str,
        name: str,
        source: Callable[..., Any] | str,
        plugin: Plugin,
        sample: Callable[..., tuple[Any, ...]] | None = None,
    ) -> None:
        other = self._entries.get((kind, name))
        if other is not None:
            raise PluginError(
                f"two plugins register the {kind} '{name}': {other.plugin} and {plugin}; "
                "rename one of them or leave one out"
            )
        self._entries[kind, name] = Entry(kind, name, source, plugin, sample)


def kind_of(key: str) -> str:
    """Return the kind that a parameter's name asks for: its last word, as in `inner_estimator`."""
    return key.rpartition("_")[2]


def is_nested(key: str, value: Any) -> bool:
    """Return whether a parameter holds another plugin's table."""
    return isinstance(value, Mapping) and "use" in value and kind_of(key) in NESTABLE


def _is_file(source: str) -> bool:
    return source.endswith(".py") or "/" in source


def _import_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(path)
    name = path.stem
    folder = str(path.resolve().parent)
    if folder not in sys.path:  # helper modules beside the file are part of the plugin
        sys.path.insert(0, folder)
    loaded = sys.modules.get(name)
    if loaded is not None and Path(getattr(loaded, "__file__", None) or "").resolve() == path.resolve():
        return loaded
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise PluginError(f"'{path}' is not a Python file; a plugin file ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and pickle look the module up by name
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _explain(fault: BaseException) -> str:
    return f"{type(fault).__name__}: {fault}"
