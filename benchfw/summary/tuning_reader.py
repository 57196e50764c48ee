"""Reads what tuning tried from the trials of a run, while these pass by on their way to the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from benchfw.provenance import Run
from benchfw.records import Budget, Cell, Ending, Result, Status, Trial
from benchfw.search import Tuning, space_of
from benchfw.summary.attempts import Aim, Spending, attempt_of
from benchfw.summary.histories import History, Reader
from benchfw.summary.tuned import TunedMethod
from benchfw.sweep import leaves


@dataclass
class _Tried:
    """The runs of one setting by their repetition: rounds of a tuner may share trials."""

    setting: Mapping[str, Any]
    by_repetition: dict[int, History] = field(default_factory=dict)

    @property
    def runs(self) -> list[History]:
        """The runs in order."""
        return list(self.by_repetition.values())


class TuningReader:
    """Takes the trials that tune out of the results of a run, and keeps what they scored."""

    def __init__(self, run: Run) -> None:
        noted = run.environment.tuning
        self._noted = noted
        self._spaces = {
            label: {path: space_of(table, f"run {run.id}") for path, table in tables.items()}
            for label, tables in noted.get("spaces", {}).items()
        }
        self._reader = Reader()
        self._tried: dict[tuple[Cell, int], dict[tuple[str, Budget], _Tried]] = {}
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
        key = json.dumps(setting, sort_keys=True, default=str), trial.budget
        known = self._tried.setdefault((trial.cell, trial.tuning), {})
        runs = known.setdefault(key, _Tried(setting)).by_repetition
        if trial.repetition not in runs:
            runs[trial.repetition] = self._aim_of(trial).measure_gap(self._reader.read(result))
        self._units[trial.cell] = result.outcome.cost_unit or self._units.get(trial.cell, "")

    def _aim_of(self, trial: Trial) -> Aim:
        return Aim.of(str(self._noted.get("metric", "")), trial.target)

    @property
    def allowance(self) -> Tuning | None:
        """What each method might spend; None where nothing was tuned."""
        if not self._spaces:
            return None
        known = {name: value for name, value in self._noted.items() if name not in {"spaces", "is_sequence"}}
        return Tuning(**{"trials": None, **known, "budget": Budget(**known.get("budget", {}))})

    def tuned(self) -> tuple[TunedMethod, ...]:
        """Return what tuning found, method by method on each problem, of methods that were not skipped."""
        cells = dict.fromkeys(cell for (cell, _), tried in self._tried.items() if _has_run(tried.values()))
        return tuple(self._tuned_of(cell) for cell in cells)

    def _tuned_of(self, cell: Cell) -> TunedMethod:
        rounds = [tried for (each, _), tried in sorted(self._tried.items()) if each == cell]
        runs = [run for tried in rounds for each in tried.values() for run in each.runs]
        run = next((each for each in runs if each.metrics), runs[0])  # one that broke at once says nothing
        target, aim = run.trial.target, self._aim_of(run.trial)
        measured = {name for each in runs for name in each.metrics}
        wanted = tuple(target) if aim.axis else (aim.metric,)
        unknown = tuple(name for name in wanted if measured and name and name not in measured)
        axis, metric = "" if unknown else aim.axis_of(run) or "", aim.metric_of(run)
        spending = Spending(self._noted.get("cost"), self._noted.get("seconds"))
        whole = max(_size(budget) for tried in rounds for _, budget in tried)
        attempts = (
            [
                attempt_of(each.setting, each.runs, aim, _size(budget) / whole)
                for (_, budget), each in tried.items()
            ]
            for tried in rounds
        )
        return TunedMethod(
            cell,
            self._spaces[cell.method],
            tuple(tuple(spending.within(each)) for each in attempts),
            axis,
            metric,
            self._units[cell],
            metric in run.gains,
            bool(self._noted.get("is_sequence", False)),
            axis == "seconds" or spending.seconds is not None or _is_timed(runs),
            target,
            unknown,
        )


def _has_run(tried: Iterable[_Tried]) -> bool:
    return any(run.outcome.status is not Status.SKIPPED for each in tried for run in each.runs)


def _is_timed(runs: Iterable[History]) -> bool:
    """Return whether some run was ended by its seconds."""
    return any(run.outcome.ending is Ending.SECONDS for run in runs)


def _values_at(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every value with its path, tables among them: a choice may be one."""
    yield from leaves(params, prefix)
    for key, value in params.items():
        if isinstance(value, Mapping):
            yield f"{prefix}{key}", value
            yield from _values_at(value, f"{prefix}{key}.")


def _size(budget: Budget) -> float:
    return float(next((limit for limit in vars(budget).values() if limit is not None), 1.0))
