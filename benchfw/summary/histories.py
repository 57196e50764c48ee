"""Trials as a summary keeps them: curves in the place of records, and how many ended how."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from benchfw.analysis.convergence import Curve, curve_within, curves_by_metric
from benchfw.records import Cell, Counting, Result, Status, Trial, change

_AXES = ("iteration", "seconds", "cost")

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

    `bounds` are the theorem's curves of the metrics that have one.
    """

    result: Result
    curves: Mapping[str, Curve]
    bounds: Mapping[str, Curve]
    spent: Spent

    @classmethod
    def of(cls, result: Result) -> History:
        """Return the history of a result; its metrics are in the order in which they first appear."""
        records = result.outcome.records
        curves, bounds = curves_by_metric(records), curves_by_metric(records, "bound")
        spent = Spent()
        if records:
            iterations, seconds, cost = (max(getattr(each, axis) for each in records) for axis in _AXES)
            spent = Spent(iterations, seconds, cost, records[-1].cpu_seconds)
        return cls(change(result, outcome=change(result.outcome, records=())), curves, bounds, spent)

    @property
    def repetition(self) -> int:
        """Return the trial's repetition."""
        return self.result.trial.repetition

    @property
    def finished(self) -> bool:
        """Whether the trial ran to its end: estimates rest on those."""
        return self.result.outcome.status in FINISHED

    @property
    def skipped(self) -> bool:
        """Whether the trial was never started, which says nothing about its method."""
        return self.result.outcome.status is Status.SKIPPED

    def budgeted(self, metric: str) -> Curve | None:
        """Return a metric's curve up to the trial's budget, without what a last step overspent."""
        budget, curve = self.result.trial.budget, self.curves.get(metric)
        return None if curve is None else curve_within(curve, budget.seconds, budget.cost)


def histories_by_cell(results: Iterable[Result]) -> dict[Cell, list[History]]:
    """Return the trials of each cell, in the order of first appearance."""
    groups: dict[Cell, list[History]] = {}
    for result in results:
        groups.setdefault(result.trial.cell, []).append(History.of(result))
    return groups


@dataclass(frozen=True)
class Tally:
    """How many trials of a method there were, how many of them ended well or not, and the first of them."""

    trials: int
    started: int
    unfinished: int
    declares_cost: bool
    first: Trial

    @classmethod
    def of(cls, histories: Sequence[History]) -> Tally:
        """Return the tally of one cell's trials."""
        started = [each for each in histories if not each.skipped]
        return cls(
            len(histories),
            len(started),
            sum(not each.finished for each in started),
            any(each.result.outcome.counting is Counting.DECLARED for each in histories),
            histories[0].result.trial,
        )
