"""Trials as a summary keeps them: curves in the place of records, and how many ended how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, NamedTuple

from benchfw.analysis.convergence import Curve, curve_within, curves_by_metric, time_to_all
from benchfw.records import Cell, Counting, Outcome, Record, Result, Status, Trial, change

_AXES = (attrgetter("iteration"), attrgetter("seconds"), attrgetter("cost"))
_OWN = ("records", "seconds", "reads", "facts")
_SHARED = ("problem", "method", "seed", "budget", "target", "precision", "at", "best")
_alike = attrgetter(*(each.name for each in fields(Outcome) if each.name not in _OWN))
_NOTHING: Mapping[str, Curve] = {}
MOST_OUTCOMES = 100  # that are remembered, for others that are equal

FINISHED = frozenset({Status.DONE, Status.REACHED})


class Spent(NamedTuple):
    """The largest position of any record of a trial, and the CPU seconds of its last one."""

    iterations: float = 0.0
    seconds: float = 0.0
    cost: float = 0.0
    cpu_seconds: float | None = None


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """A trial with curves in the place of its records, which would take several times the memory.

    `bounds` are the theorem's curves of the metrics that have one. `trial` is the first of its cell and
    `outcome` that of a trial that ended alike, without records and seconds: both are shared.
    """

    repetition: int
    trial: Trial
    outcome: Outcome
    curves: Mapping[str, Curve]
    bounds: Mapping[str, Curve]
    spent: Spent

    @property
    def finished(self) -> bool:
        """Whether the trial ran to its end: estimates rest on those."""
        return self.outcome.status in FINISHED

    @property
    def skipped(self) -> bool:
        """Whether the trial was never started, which says nothing about its method."""
        return self.outcome.status is Status.SKIPPED

    def budgeted(self, metric: str) -> Curve | None:
        """Return a metric's curve up to the trial's budget, without what a last step overspent."""
        budget, curve = self.trial.budget, self.curves.get(metric)
        return None if curve is None else curve_within(curve, budget.seconds, budget.cost)


class Reader:
    """Makes histories of results, with what those of a cell have in common kept once."""

    def __init__(self) -> None:
        self._trials: dict[Cell, Trial] = {}
        self._outcomes: dict[tuple[Any, ...], Outcome] = {}

    def read(self, result: Result) -> History:
        """Return the history of a result; its metrics are in the order in which they first appear."""
        trial, records = result.trial, _up_to_arrival(result)
        bounded = any(each.role == "bound" for each in records)
        spent = Spent()
        if records:
            iterations, seconds, cost = (max(map(axis, records)) for axis in _AXES)
            spent = Spent(iterations, seconds, cost, records[-1].cpu_seconds)
        return History(
            trial.repetition,
            self._share_trial(trial),
            self._share_outcome(result.outcome),
            curves_by_metric(records),
            curves_by_metric(records, "bound") if bounded else _NOTHING,
            spent,
        )

    def _share_trial(self, trial: Trial) -> Trial:
        first = self._trials.setdefault(trial.cell, trial)
        alike = all(getattr(first, name) == getattr(trial, name) for name in _SHARED)
        return first if alike else trial

    def _share_outcome(self, outcome: Outcome) -> Outcome:
        key = (*_alike(outcome), *outcome.facts.items())
        if key not in self._outcomes:
            if len(self._outcomes) >= MOST_OUTCOMES:
                self._outcomes.clear()
            self._outcomes[key] = change(outcome, records=(), seconds=0.0, reads={})
        return self._outcomes[key]


def histories_by_cell(results: Iterable[Result]) -> dict[Cell, list[History]]:
    """Return the trials of each cell, in the order of first appearance."""
    groups: dict[Cell, list[History]] = {}
    reader = Reader()
    for result in results:
        groups.setdefault(result.trial.cell, []).append(reader.read(result))
    return groups


def _up_to_arrival(result: Result) -> Sequence[Record]:
    """Return a trial's records; of calls from scratch, which overshoot, those up to the first arrival."""
    outcome, target = result.outcome, result.trial.target
    if not (outcome.from_scratch and outcome.status is Status.REACHED):
        return outcome.records
    curves = curves_by_metric(outcome.records)
    last = time_to_all([curves[name] for name in target], [*target.values()]).iterations
    return [each for each in outcome.records if each.iteration <= last]


@dataclass(frozen=True)
class Tally:
    """How many trials of a method there were, how many of them ended well or not, and the first of them."""

    trials: int
    started: int
    unfinished: int
    declares_cost: bool
    from_scratch: bool
    first: Trial

    @classmethod
    def of(cls, histories: Sequence[History]) -> Tally:
        """Return the tally of one cell's trials."""
        started = [each for each in histories if not each.skipped]
        return cls(
            len(histories),
            len(started),
            sum(not each.finished for each in started),
            any(each.outcome.counting is Counting.DECLARED for each in histories),
            any(each.outcome.from_scratch for each in histories),
            histories[0].trial,
        )
