"""What is checked: one registered name, what it is built with, and the problems that it meets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import Backend, Rng, get_backend
from benchfw.errors import BenchfwError, PluginError, Unavailable
from benchfw.measure.estimators import estimated_quantity
from benchfw.plan import missing_oracles, needs_of, produced_class
from benchfw.registry import Entry, Registry
from benchfw.testing.arrays import answer_numbers, flat_numbers
from benchfw.testing.check import NotApplicable
from benchfw.testing.limit import restart_limit
from benchfw.testing.methods import ANSWERS, answers_of, check_answers, check_draw, draw_once
from benchfw.testing.problems import BUILT_IN

DATA_SEED = 1201
FEWEST_PROBLEMS = 3  # problems that a claim is tried on


@dataclass(frozen=True)
class Effort:
    """How hard checks look: processor time a problem for a claim about chance, steps of an optimizer.

    A check that spends more than `timeout` seconds on one problem is stopped, and has failed.
    """

    seconds: float = 3.0
    iterations: int = 300
    timeout: float = 60.0


@dataclass(frozen=True)
class Setting:
    """A small problem by name: `build()` makes it anew from the same data, on any backend.

    `produces` is its class, where that is known before it is built.
    """

    name: str
    make: Callable[[Backend, Rng], Any]
    built_in: bool = False
    produces: type | None = None

    def build(self, backend: Backend | None = None, seed: int = DATA_SEED) -> Any:
        """Return the problem, on the host unless a backend is given."""
        restart_limit()
        backend = backend or get_backend("numpy")
        return self.make(backend, backend.rng(seed))

    def with_options(self, **options: Any) -> Setting:
        """Return a built-in problem with other options."""
        return Setting(self.name, partial(self.make, **options), self.built_in)


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
        for each in others:
            if len(found) >= FEWEST_PROBLEMS:
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
            problem = setting.build()
            if not self._has_oracles(type(problem)) or self._ignores_prox(problem):
                return False
            method = self.build()
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

    @cached_property
    def _needs(self) -> list[tuple[type, ...]]:
        """The protocols that a problem must have, one of each tuple."""
        return [protocols for _, protocols in needs_of(self.kind, self.tables[0], self.registry)]

    def _has_oracles(self, problem: type) -> bool:
        return all(any(not missing_oracles(each, problem) for each in every) for every in self._needs)

    def _ignores_prox(self, problem: Any) -> bool:
        """Return whether an optimizer would leave out the problem's prox, and minimize another function."""
        proximal = any(hasattr(each, "prox") for protocols in self._needs for each in protocols)
        return self.kind == "optimizer" and hasattr(problem, "prox") and not proximal


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
