"""The source code that decides a trial's records: benchfw's, and the modules of its problem and method."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchfw.data.load import recipe_roots
from benchfw.errors import DataError
from benchfw.records import Trial
from benchfw.registry import PARAMETRIC, Registry
from benchfw.sources import Closure, Modules

CORE_PACKAGES = ("backends", "data", "kernels", "measure")
"""The packages of benchfw all of which counts; what they import counts with them."""
DRIVERS = frozenset(f"benchfw.harness.workers.{name}" for name in ("inline", "surroundings", "worker"))
"""The modules of the harness in whose hands a trial is: warm-up, threads, limits, order. The others plan,
store and look after processes."""

HARNESS = "benchfw.harness."

OUTSIDE_RECORDS = frozenset({"filelock", "platformdirs", "pluggy", "pooch", "requests", "urllib3"})
"""Libraries of benchfw's own that load plugins and fetch data, whose content is hashed."""


class TrialSources:
    """The closures of trials; each is found once, and nothing is noticed of what is edited afterwards."""

    def __init__(self, registry: Registry, modules: Modules | None = None) -> None:
        self._registry = registry
        self._modules = modules or registry.modules()
        self.core = core_closure(self._modules)
        self._known: dict[frozenset[str | Path], Closure] = {}

    def closure_of(self, kind: str, table: Mapping[str, Any]) -> Closure:
        """Return the modules that a table involves, without those of benchfw that every trial has."""
        roots = frozenset(roots_of(self._registry, kind, table))
        if roots not in self._known:
            self._known[roots] = self._modules.closure(roots, leave_out=self.core.modules.__contains__)
        return self._known[roots]

    def closure(self, roots: Iterable[str | Path]) -> Closure:
        """Return the modules that roots import, and benchfw's own."""
        found = self._modules.closure(roots, leave_out=self.core.modules.__contains__)
        return Closure(
            {**self.core.modules, **found.modules},
            self.core.files | found.files,
            {**self.core.libraries, **found.libraries},
        )


def roots_of(registry: Registry, kind: str, table: Mapping[str, Any]) -> list[str | Path]:
    """Return where the closure of a table begins: its entries, and what makes its data set."""
    roots = [root for entry in registry.entries_of(kind, table) for root in entry.roots]
    name = registry.dataset_of(kind, table) if kind in PARAMETRIC else None
    try:
        return [*roots, *(recipe_roots(name) if name else ())]
    except DataError:  # the run says so
        return roots


def files_of_trial(trial: Trial, registry: Registry, others: Iterable[Path]) -> frozenset[str]:
    """Return the files of all modules that a trial and these others import, without those of benchfw."""
    backends = registry.entries("backend")
    roots = [*others, *(backends[trial.backend].roots if trial.backend in backends else ())]
    roots += roots_of(registry, trial.kind, trial.method.table)
    roots += [] if trial.kind == "kernel" else roots_of(registry, "problem", trial.problem.table)
    return registry.modules().closure(roots, leave_out=lambda name: name.startswith("benchfw.")).files


def core_closure(modules: Modules) -> Closure:
    """Return the modules of benchfw that decide the records of every trial, and their libraries."""
    packages = [modules.find(f"benchfw.{name}") for name in CORE_PACKAGES]
    names = [*DRIVERS, *(name for each in packages for name in modules.below(each))]
    found = modules.closure(
        names, leave_out=lambda name: f"{name}.".startswith(HARNESS) and name not in DRIVERS
    )
    libraries = {name: each for name, each in found.libraries.items() if name not in OUTSIDE_RECORDS}
    return Closure(found.modules, found.files, libraries)
