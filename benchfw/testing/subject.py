"""What is checked: a target, each name that it registers, and the problems that such a name meets."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import Backend, available_backends
from benchfw.backends.backend import BUILT_IN as CORE_BACKENDS
from benchfw.errors import BenchfwError, PluginError, PluginNotFound, Unavailable, nearest
from benchfw.loading import is_file_name
from benchfw.measure.estimators import estimated_quantity
from benchfw.plan import missing_oracles, needs_of, produced_class
from benchfw.registry import Entry, Registry
from benchfw.testing.answers import (
    ANSWERS,
    answer_numbers,
    answers_of,
    check_answers,
    check_draw,
    draw_once,
    flat_numbers,
    is_constrained,
)
from benchfw.testing.check import ROLES, NotApplicable
from benchfw.testing.oracles import find_fault
from benchfw.testing.problems import BUILT_IN, Effort, Setting

FEWEST_PROBLEMS = 3  # problems that a claim is tried on


@dataclass(eq=False)
class CheckTarget:
    """What `benchfw check` was asked about, with all that it registers."""

    name: str
    plugins: tuple[str, ...]
    registry: Registry
    effort: Effort
    entries: Sequence[Entry]

    @cached_property
    def subjects(self) -> list[Subject]:
        """Every registered name."""
        return [Subject(entry, self) for entry in self.entries]


@dataclass
class Subject:
    """One registered name. What it needs to be built with is its `check_with`, tables as in a suite."""

    entry: Entry
    target: CheckTarget
    refusals: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list, init=False)
    """The problems that it does not meet because of what is wrong with them, and what that is."""

    @property
    def registry(self) -> Registry:
        """The registry that it stands in."""
        return self.target.registry

    @property
    def effort(self) -> Effort:
        """How hard to look."""
        return self.target.effort

    def __str__(self) -> str:
        return f"{self.entry.kind} {self.entry.name}"

    @property
    def kind(self) -> str:
        """The role."""
        return self.entry.kind

    @property
    def expected_failures(self) -> Mapping[str, str]:
        """Known gaps: the check and why."""
        try:
            declared = dict(getattr(self.entry.factory, "expected_failures", {}))
        except (PluginError, TypeError, ValueError):  # a factory that cannot be imported fails its checks
            return {}
        return {str(name): str(reason) for name, reason in declared.items()}

    @property
    def tables(self) -> list[dict[str, Any]]:
        """What it is built with, as a suite would write it; the first stands for all where one is enough."""
        return tables_of(self.entry)

    @property
    def backends(self) -> list[Backend]:
        """The backends to try it on, numpy first: those of the core that are here, and its plugin's own.

        Other plugins' may lack parts of NumPy that it uses.
        """
        own = [
            name
            for name, entry in self.registry.entries("backend").items()
            if entry.plugin == self.entry.plugin
        ]
        return available_backends([*CORE_BACKENDS, *own])

    def build(self, table: Mapping[str, Any] | None = None, **changes: Any) -> Any:
        """Return a method, by the first of `tables` unless another is given."""
        return self.registry.build(self.kind, {**(table or self.tables[0]), **changes})

    def sample(self, problem: Any) -> list[Any]:
        """Return one draw of an estimator, or the first answers of an optimizer."""
        method = self.build()
        if self.kind == "estimator":
            return [draw_once(method, problem)]
        return list(islice(answers_of(method, problem), ANSWERS))

    def sample_numbers(self, setting: Setting, backend: Backend | None = None) -> NDArray[np.float64]:
        """Return the same on a problem built anew, as numbers."""
        problem = setting.build(backend)
        found = self.sample(problem)
        if self.kind == "estimator":
            return flat_numbers(problem, found[0])
        return np.concatenate([answer_numbers(problem, each) for each in found])

    @cached_property
    def settings(self) -> list[Setting]:
        """The problems that a method meets, or the problem itself in each of its forms."""
        if self.kind == "problem":
            return [_setting(self.registry, table) for table in self.tables]
        own, others = self.candidates()
        found = [each for each in own if self._accepts(each)]
        # others' problems may be feasible in a part of space only, without a projection onto it
        fewest = FEWEST_PROBLEMS if getattr(self.build(), "projects", True) else 1
        for each in others:
            if len(found) >= fewest:
                break
            if self._accepts(each):
                found.append(each)
        return found

    def setting(self) -> Setting:
        """Return the first problem that a method meets."""
        self.need_settings()
        return self.settings[0]

    def need_settings(self) -> list[Setting]:
        """Return the problems that a method meets; without any there is nothing to check."""
        if not self.settings:
            if self.broken:
                raise NotApplicable(f"no problem that it could meet works yet ({'; '.join(self.broken)})")
            raise NotApplicable("there is no small problem with the oracles that it needs")
        return self.settings

    def candidates(self) -> tuple[list[Setting], list[Setting]]:
        """Return the built-in problems and the plugin's own, and those of other plugins."""
        own = [Setting(made.__name__.lower(), made, built_in=True) for made in BUILT_IN]
        others: list[Setting] = []
        for entry in self.registry.entries("problem").values():
            same = entry.plugin == self.entry.plugin
            if same or hasattr(entry.factory, "check_with"):  # others' problems may be large
                (own if same else others).extend(_setting(self.registry, each) for each in tables_of(entry))
        return own, others

    def _accepts(self, setting: Setting) -> bool:
        """Return whether a problem has the oracles, and the method does not refuse it with a BenchfwError."""
        if setting.produces is not None and not self._has_oracles(setting.produces):
            return False  # problems of other plugins may take long to build
        try:
            problem = _build_available(setting)
            if problem is None or not self._is_for(problem) or self._is_broken(setting, problem):
                return False
            method = self.build()
            if not getattr(method, "projects", True) and is_constrained(problem):
                return False
            if self.kind == "estimator":
                if not hasattr(problem, estimated_quantity(method, problem)):
                    return False
                check_draw(method, problem, setting.name)
            else:
                check_answers(method, problem, setting.name)
        except PluginError:
            raise
        except Unavailable as fault:
            raise NotApplicable(str(fault)) from None
        except BenchfwError as fault:
            self.refusals.append(f"{setting.name}: {fault}")
            return False
        return True

    def _is_broken(self, setting: Setting, problem: Any) -> bool:
        """Return whether no method could run on a problem, which is not the fault of this one; note why."""
        fault = "" if setting.built_in else find_fault(problem)
        self.broken += [f"{setting.name}: {fault}"] * bool(fault)
        return bool(fault)

    @cached_property
    def _needs(self) -> list[tuple[type, ...]]:
        """The protocols that a problem must have, one of each tuple."""
        return [protocols for _, protocols in needs_of(self.kind, self.tables[0], self.registry)]

    def _is_for(self, problem: Any) -> bool:
        return self._has_oracles(type(problem)) and not self._ignores_prox(problem)

    def _has_oracles(self, problem: type) -> bool:
        return all(any(not missing_oracles(each, problem) for each in every) for every in self._needs)

    def _ignores_prox(self, problem: Any) -> bool:
        """Return whether an optimizer would leave out the problem's prox, and minimize another function."""
        proximal = any(hasattr(each, "prox") for protocols in self._needs for each in protocols)
        return self.kind == "optimizer" and hasattr(problem, "prox") and not proximal


def _build_available(setting: Setting) -> Any:
    """Return a problem; None where this machine lacks what it needs, which says nothing about the method."""
    try:
        return setting.build()
    except Unavailable:
        return None


def tables_of(entry: Entry) -> list[dict[str, Any]]:
    """Return the suite tables that the checks build a plugin from."""
    given: Sequence[Mapping[str, Any]] = getattr(entry.factory, "check_with", ({},))
    return [{"use": entry.name, **each} for each in given]


def describe_options(table: Mapping[str, Any]) -> str:
    """Return what a table asks for beyond the name: 'size=20, probes=4'."""
    return ", ".join(f"{key}={value}" for key, value in table.items() if key != "use")


def _setting(registry: Registry, table: Mapping[str, Any]) -> Setting:
    options = describe_options(table)
    name = f"{table['use']} ({options})" if options else str(table["use"])
    produces = produced_class(registry.get("problem", str(table["use"])).factory)
    return Setting(name, partial(registry.build, "problem", table), produces=produces)


def subjects_of(target: str, plugins: Iterable[str] = (), effort: Effort | None = None) -> list[Subject]:
    """Return what is to be checked; PluginError where the target is nothing, or registers nothing."""
    plugins = tuple(plugins)
    registry, entries = _entries_of(target, list(plugins))
    if not entries:
        raise PluginError(
            f"'{target}' registers nothing to check; it needs a function with @hookimpl that registers a "
            "problem, a method, a distribution or a kernel"
        )
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
        hint = nearest(
            target,
            names,
            "; give a file, a folder, a module, or the name of a problem, method, distribution or kernel",
        )
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
