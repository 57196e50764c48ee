"""The key of a trial: a hash of all that determines its records.

Specs, seeds, limits, backend and device, threads, the versions of the numerical libraries, the data
set, and the source of every plugin package involved. Labels and paths are not in it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from benchfw import data
from benchfw.errors import DataError
from benchfw.harness.fingerprint import (
    core_fingerprint,
    fingerprint,
    imported_by,
    library_version,
    with_imported,
)
from benchfw.loading import Plugin
from benchfw.records import Isolation, Spec, Trial
from benchfw.registry import Registry

HASH_PREFIX = 12  # characters of a hash that a person is shown


class Identity:
    """Computes keys; what does not change from trial to trial is hashed once. The registry is active.

    `sources`, `libraries` and `datasets` tell a person what went into the keys so far: the plugins' modules
    and the data sets with the start of their hashes, libraries with their versions.
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
        self.sources = {"benchfw": core_fingerprint()[:HASH_PREFIX]}
        self.libraries: dict[str, str] = {}
        self.datasets: dict[str, str] = {}
        # once a run, not once a process: in a notebook a plugin may be edited between two runs
        self._fingerprint = functools.cache(fingerprint)
        self._imported_by = functools.cache(imported_by)
        added = registry.entries("backend")  # by plugins; the core's own are in its fingerprint
        self._context = {
            name: _hash(
                [
                    core_fingerprint(),
                    sys.version_info[:2],
                    threads,
                    name,
                    dict(each),
                    self._fingerprint(added[name].plugin) if name in added else "",
                    isolation,  # seconds of a trial that others went before are never served for one alone
                ]
            )
            for name, each in devices.items()
        }

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
            used = self._registry.plugins_of(kind, table)
            plugins = sorted(with_imported(used, self._registry.plugins, self._imported_by), key=_address)
            sources = [[plugin.module, plugin.version, self._fingerprint(plugin)] for plugin in plugins]
            libraries = sorted({name for plugin in plugins for name in self._imported_by(plugin)})
            versions = [[name, library_version(name)] for name in libraries]
            self.sources |= {module: source[:HASH_PREFIX] for module, _, source in sources if source}
            self.libraries |= {
                name: version for name, version in versions if version and name not in self.sources
            }
            self._parts[kind, text] = _hash([kind, table, sources, versions, self._data(kind, table)])
        return self._parts[kind, text]

    def _data(self, kind: str, table: Mapping[str, Any]) -> str:
        name = self._registry.dataset_of(kind, table)
        if not name:
            return ""
        try:
            found = data.fingerprint(name)
        except DataError:
            return "absent"  # a run has fetched it before, or stopped
        self.datasets[name] = found[:HASH_PREFIX]
        return found


def datasets_read(trials: Iterable[Trial], registry: Registry) -> list[str]:
    """Return the data sets that trials read."""
    tables = {str(trial.problem.table): trial.problem.table for trial in trials if trial.kind != "kernel"}
    names = (registry.dataset_of("problem", table) for table in tables.values())
    return sorted({name for name in names if name})


def _address(plugin: Plugin) -> tuple[str, str, str]:
    return plugin.module, plugin.version, plugin.name


_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode


def _hash(value: Any) -> str:
    return hashlib.sha256(_canonical(value).encode()).hexdigest()
