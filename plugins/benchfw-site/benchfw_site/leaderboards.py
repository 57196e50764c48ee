"""The methods of one run on one problem in the order of what it measured, with the ranks left open.

A leaderboard describes one run: one machine, the same seeds and budgets. Runs are never put into one table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchfw.analysis.intervals import Interval
from benchfw.report.text import interval_text
from benchfw.summary.model import Comparison, Row, Summary
from benchfw.summary.times import is_time

RULE = (
    "The methods of one run, in the order of the estimate: one machine, the same seeds and budgets. Runs of "
    "other machines or dates have tables of their own. In brackets are the ranks that the intervals leave "
    "open: a method is ahead of another where its whole interval is. This describes the table and is not a "
    "test; what was tested is in the sentences of the report."
)
FEWEST_METHODS = 2


@dataclass(frozen=True)
class Place:
    """A line of a leaderboard; `best` and `worst` are the ranks that its interval leaves open."""

    rank: int
    best: int
    worst: int
    method: str
    value: str

    @property
    def ranks(self) -> str:
        """Return '2 [1, 3]', or '2' where nothing is open."""
        return f"{self.rank}" if self.best == self.worst else f"{self.rank} [{self.best}, {self.worst}]"


@dataclass(frozen=True)
class Leaderboard:
    """The methods on a problem by one quantity, the best first."""

    problem: str
    quantity: str
    places: tuple[Place, ...]


def find_leaderboards(summary: Summary) -> list[Leaderboard]:
    """Return a leaderboard for each problem with numbers of several methods; none of an imported run."""
    found = [] if summary.imported else [_rank(each) for each in summary.comparisons]
    return [each for each in found if each is not None]


def _rank(comparison: Comparison) -> Leaderboard | None:
    quantity = _quantity(comparison)
    rows = [row for cell in comparison.measured if (row := comparison.row(cell, quantity))]
    if comparison.by_size or len(rows) < FEWEST_METHODS:
        return None
    spans = [_span(row, gain=comparison.is_gain(quantity)) for row in rows]
    scale, unit = 1.0, comparison.cost_unit if quantity.startswith("cost") else ""
    if is_time(quantity):
        scale, unit = comparison.unit(quantity)
    places = [
        Place(
            1 + sum(other.estimate < span.estimate for other in spans),
            1 + sum(other.high < span.low for other in spans),
            len(rows) - sum(span.high < other.low for other in spans),
            comparison.name(row.cell),
            _value(row.interval.scaled(1 / scale)),
        )
        for row, span in zip(rows, spans, strict=True)
    ]
    shown = ", ".join(filter(None, [quantity.replace("_", " "), unit]))
    return Leaderboard(comparison.problem, shown, tuple(sorted(places, key=lambda each: each.rank)))


def _quantity(comparison: Comparison) -> str:
    """Return what methods are ranked by: cost to the target, else the metric at the end; or their product."""
    if comparison.kind == "kernel":
        return comparison.clocked("seconds_per_call")
    if comparison.kind == "estimator":
        return comparison.product
    if not comparison.targets:
        return comparison.metrics[0] if comparison.metrics else ""
    known = all(comparison.row(cell, "cost_to_target") for cell in comparison.measured)
    return "cost_to_target" if known else comparison.clocked("seconds_to_target")


def _span(row: Row, *, gain: bool) -> Interval:
    """Return the interval of a row, lower is better; that of a method that never arrives is at infinity."""
    if math.isnan(row.interval.estimate) or (row.reached is not None and row.reached[0] == 0):
        return Interval(math.inf, math.inf, math.inf, row.interval.count)
    return row.interval.negated() if gain else row.interval


def _value(interval: Interval) -> str:
    return "never" if math.isinf(interval.estimate) else interval_text(interval)
