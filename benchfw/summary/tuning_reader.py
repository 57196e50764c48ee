"""Reads what tuning tried from the trials of a run, while these pass by on their way to the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any

from benchfw.provenance import Run
from benchfw.records import Budget, Cell, Ending, Result, Status
from benchfw.search import Tuning, space_of
from benchfw.summary.attempts import Aim, attempt_of
from benchfw.summary.histories import History, Reader
from benchfw.summary.tuned import TunedMethod
from benchfw.sweep import leaves


class TuningReader:
    """Takes the trials that tune out of the results of a run, and keeps what they scored."""

    def __init__(self, run: Run) -> None:
        self._noted = run.environment.tuning
        self._spaces = {
            label: {path: space_of(table, f"run {run.id}") for path, table in tables.items()}
            for label, tables in self._noted.get("spaces", {}).items()
        }
        self._reader = Reader()
        self._tried: dict[Cell, dict[str, list[History]]] = {}
        self._settings: dict[str, dict[str, Any]] = {}
        self._units: dict[Cell, str] = {}

    def listen(self, results: Iterable[Result]) -> Iterator[Result]:
        """Yield the results of the verdict."""
        for result in results:
            if not result.trial.tuning:
                yield result
            elif result.trial.method.label in self._spaces:
                self._take(result)

    def _take(self, result: Result) -> None:
        trial = result.trial
        params = dict(_values_at(trial.method.params))
        setting = {path: params[path] for path in self._spaces[trial.method.label] if path in params}
        text = json.dumps(setting, sort_keys=True, default=str)
        self._settings[text] = setting
        run = self._aim_of(trial.target).measure_gap(self._reader.read(result))
        self._tried.setdefault(trial.cell, {}).setdefault(text, []).append(run)
        self._units[trial.cell] = result.outcome.cost_unit or self._units.get(trial.cell, "")

    def _aim_of(self, target: Mapping[str, float]) -> Aim:
        return Aim.of(str(self._noted.get("metric", "")), target)

    @property
    def allowance(self) -> Tuning | None:
        """What each method might spend; None where nothing was tuned."""
        if not self._spaces:
            return None
        known = {key.name: self._noted[key.name] for key in fields(Tuning) if key.name in self._noted}
        return Tuning(**{**known, "budget": Budget(**known.get("budget", {}))})

    def tuned(self) -> tuple[TunedMethod, ...]:
        """Return what tuning found, method by method on each problem, of methods that were not skipped."""
        return tuple(self._tuned_of(cell) for cell in self._tried if not self._is_skipped(cell))

    def _is_skipped(self, cell: Cell) -> bool:
        return all(
            run.outcome.status is Status.SKIPPED for runs in self._tried[cell].values() for run in runs
        )

    def _tuned_of(self, cell: Cell) -> TunedMethod:
        tried = self._tried[cell]
        runs = [run for some in tried.values() for run in some]
        example = next((run for run in runs if run.metrics), runs[0])  # one that broke at once says nothing
        target = example.trial.target
        aim = self._aim_of(target)
        measured = {name for run in runs for name in run.metrics}
        wanted = tuple(target) if aim.axis else (aim.metric,)
        unknown = tuple(name for name in wanted if measured and name and name not in measured)
        axis, metric = "" if unknown else aim.axis_of(example) or "", aim.metric_of(example)
        return TunedMethod(
            cell,
            self._spaces[cell.method],
            tuple(attempt_of(self._settings[text], some, aim) for text, some in tried.items()),
            axis,
            metric,
            self._units[cell],
            gain=metric in example.gains,
            timed=axis == "seconds" or any(run.outcome.ending is Ending.SECONDS for run in runs),
            target=target,
            unknown=unknown,
        )


def _values_at(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its path, tables among them: a choice may be one."""
    yield from leaves(params, prefix)
    for key, value in params.items():
        if isinstance(value, Mapping):
            yield f"{prefix}{key}", value
            yield from _values_at(value, f"{prefix}{key}.")
