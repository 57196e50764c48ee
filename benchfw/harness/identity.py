"""The key of a trial: a hash of all that determines its records, as far as it can be known before it runs.

Specs, seeds, limits, backend and device, threads, the versions of libraries, the data set, and the source of
every module that the trial imports. Labels and paths are not in it. What a trial reads beyond that is noted
while it runs (`harness/workers/reading`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchfw import data
from benchfw.data.load import recipe_roots
from benchfw.errors import DataError
from benchfw.records import Isolation, Spec, Trial, change
from benchfw.registry import PARAMETRIC, Registry
from benchfw.sources import Closure, Modules
from benchfw.trials import KeyMaker

HASH_PREFIX = 12  # characters of a hash that a person is shown

CORE_PACKAGES = ("backends", "data", "kernels", "measure")
"""The packages of benchfw all of which counts; what they import counts with them."""
DRIVERS = frozenset(f"benchfw.harness.workers.{name}" for name in ("inline", "surroundings", "worker"))
"""The modules of the harness in whose hands a trial is: warm-up, threads, limits, order. The others plan,
store and look after processes."""

HARNESS = "benchfw.harness."

OUTSIDE_RECORDS = frozenset({"filelock", "platformdirs", "pluggy", "pooch", "requests", "urllib3"})
"""Libraries of benchfw's own that load plugins and fetch data, whose content is hashed."""


class Identity:
    """Computes keys; what does not change from trial to trial is hashed once. The registry is active.

    `libraries`, `sources` and `datasets` tell a person what went into the keys so far: versions of libraries,
    the start of a hash of the modules used of each package, and of the content of each data set. `files` are
    those of the modules.
    """

    def __init__(
        self,
        registry: Registry,
        devices: Mapping[str, Mapping[str, str]],
        threads: int,
        *,
        isolation: Isolation = "trial",
    ) -> None:
        self._registry = registry
        self._parts: dict[tuple[str, str], str] = {}
        self._specs: dict[int, tuple[Spec, str]] = {}
        self.datasets: dict[str, str] = {}
        # once a run, not once a process: in a notebook a plugin may be edited between two runs
        self._sources = TrialSources(registry)
        self._data: dict[str, str] = {}
        core = self._sources.core
        self._used = dict(core.modules)
        self.libraries = dict(core.libraries)
        added = registry.entries("backend")  # by plugins; the core's own are in its closure
        self._context = {
            name: _hash(
                [
                    core.digest,
                    sys.version_info[:2],
                    threads,
                    name,
                    dict(each),
                    self._hash_source("backend", {"use": name}) if name in added else "",
                    isolation,  # seconds of a trial that others went before are never served for one alone
                ]
            )
            for name, each in devices.items()
        }

    @property
    def sources(self) -> dict[str, str]:
        """Return the start of a hash of the modules used so far, by package."""
        used = Closure(self._used, frozenset(), {})
        return {name: digest[:HASH_PREFIX] for name, digest in used.by_package().items()}

    def stamp(self, trial: Trial) -> tuple[Trial, KeyMaker]:
        """Return the trial with its problem's key, and what gives the keys of its repetitions.

        All but the number of a repetition is looked at once.
        """
        of_problem = "" if trial.kind == "kernel" else self._part_of("problem", trial.problem)
        coordinates = [
            trial.seed,
            vars(trial.budget),
            dict(trial.target),
            trial.precision,
            trial.at,
            trial.best,
            trial.tuning,
            trial.holds_out,
            self._context[trial.backend],
            self._part_of(trial.kind, trial.method),
            of_problem or trial.problem.table,
        ]
        rest = _canonical(coordinates)[1:]
        core = self._sources.core.digest
        problem_key = _hash([core, of_problem])[: 2 * HASH_PREFIX] if of_problem else ""
        stamped = change(trial, problem_key=problem_key)
        return stamped, lambda repetition: _hash_text(f"[{repetition},{rest}")

    def _part_of(self, kind: str, spec: Spec) -> str:
        """Return a spec's part of the key; repetitions share one object, and it is looked at once."""
        known = self._specs.get(id(spec))
        if known is None:
            known = self._specs[id(spec)] = spec, self._part(kind, spec.table)  # kept: no other gets its id
        return known[1]

    def _part(self, kind: str, table: Mapping[str, Any]) -> str:
        text = _canonical(table)
        if (kind, text) not in self._parts:
            own = self._registry.without_paths(kind, table)
            parts = [kind, own, self._hash_source(kind, table), self._hash_data(kind, table)]
            self._parts[kind, text] = _hash(parts)
        return self._parts[kind, text]

    def _hash_source(self, kind: str, table: Mapping[str, Any]) -> str:
        found = self._sources.closure_of(kind, table)
        self._used |= found.modules
        self.libraries |= found.libraries
        entries = self._registry.entries_of(kind, table)
        places = [entry.source for entry in entries if isinstance(entry.source, str)]
        return _hash([found.digest, places, [entry.given.digest for entry in entries if entry.given]])

    def _hash_data(self, kind: str, table: Mapping[str, Any]) -> str:
        name = self._registry.dataset_of(kind, table) or ""
        if name and name not in self._data:
            try:
                self._data[name] = data.fingerprint(name)
                self.datasets[name] = self._data[name][:HASH_PREFIX]
            except DataError:
                self._data[name] = "absent"  # a run has fetched it before, or stopped
        return self._data.get(name, "")


def datasets_read(trials: Iterable[Trial], registry: Registry) -> list[str]:
    """Return the data sets that trials read."""
    tables = {str(trial.problem.table): trial.problem.table for trial in trials if trial.kind != "kernel"}
    names = (registry.dataset_of("problem", table) for table in tables.values())
    return sorted({name for name in names if name})


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
    """Return where the closure of a table begins: its entries, their files, and what makes its data set."""
    roots = [root for entry in registry.entries_of(kind, table) for root in entry.roots]
    roots += registry.source_files(kind, table)
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


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _hash(value: Any) -> str:
    return _hash_text(_canonical(value))


def _hash_text(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
