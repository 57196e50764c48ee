"""The key of a trial: a hash of all that determines its records, as far as it can be known before it runs.

Specs, seeds, limits, backend and device, threads, the versions of libraries, the data set, and the source of
every module that the trial imports. Labels and paths are not in it. What a trial reads beyond that is noted
while it runs (`harness/workers/reads.py`).
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from benchfw import data
from benchfw.errors import DataError
from benchfw.harness.fingerprint import TrialSources
from benchfw.records import Isolation, Spec, Trial
from benchfw.registry import Registry
from benchfw.sources import Closure

HASH_PREFIX = 12  # characters of a hash that a person is shown


class Identity:
    """Computes keys; what does not change from trial to trial is hashed once. The registry is active.

    `libraries`, `sources` and `datasets` tell a person what went into the keys so far: versions of libraries,
    the start of a hash of the modules used of each package, and of the content of each data set.
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

    def stamp(self, trial: Trial) -> Trial:
        """Return the trial with its key."""
        coordinates = [
            trial.repetition,
            trial.seed,
            vars(trial.budget),
            dict(trial.target),
            trial.precision,
            trial.at,
            self._context[trial.backend],
            self._part_of(trial.kind, trial.method),
            trial.problem.table if trial.kind == "kernel" else self._part_of("problem", trial.problem),
        ]
        return replace(trial, key=_hash(coordinates))

    def _part_of(self, kind: str, spec: Spec) -> str:
        """Return a spec's part of the key; repetitions share one object, and it is looked at once."""
        known = self._specs.get(id(spec))
        if known is None:
            known = self._specs[id(spec)] = spec, self._part(kind, spec.table)  # kept: no other gets its id
        return known[1]

    def _part(self, kind: str, table: Mapping[str, Any]) -> str:
        text = _canonical(table)
        if (kind, text) not in self._parts:
            parts = [kind, table, self._hash_source(kind, table), self._hash_data(kind, table)]
            self._parts[kind, text] = _hash(parts)
        return self._parts[kind, text]

    def _hash_source(self, kind: str, table: Mapping[str, Any]) -> str:
        found = self._sources.closure_of(kind, table)
        self._used |= found.modules
        self.libraries |= found.libraries
        places = [entry.source for entry in self._registry.entries_of(kind, table)]
        return _hash([found.digest, [each for each in places if isinstance(each, str)]])

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


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _hash(value: Any) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()
