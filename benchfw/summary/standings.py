"""All problems of a run at once: the medians of the methods that ran on all of them, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchfw.analysis.intervals import Interval
from benchfw.analysis.profiles import FEWEST_TO_RANK, Floats, average_ranks

if TYPE_CHECKING:
    from benchfw.summary.model import Method
    from benchfw.summary.summarize import Comparison

ALL_PROBLEMS = "all problems"


@dataclass(frozen=True, eq=False)
class Medians:
    """The medians of a quantity about the target, (problems, methods); +inf where a method never arrives."""

    quantity: str
    unit: str
    methods: tuple[Method, ...]
    values: Floats


@dataclass(frozen=True)
class Standing:
    """Average ranks in one quantity, 1 the best.

    The interval of a rank is half of Nemenyi's critical difference to either side: methods whose intervals
    overlap cannot be told apart at 5 %. `probability` is that of 'all methods are alike' (Friedman).
    """

    quantity: str
    unit: str
    ranks: Mapping[Method, Interval]
    probability: float
    critical_difference: float


def medians_over_problems(comparisons: Sequence[Comparison]) -> list[Medians]:
    """Return seconds and cost to the target of the optimizers; nothing where they had too few problems.

    Of two problems the tables tell everything. A method that was skipped somewhere has not failed there: only
    those that ran on all problems count.
    """
    chosen = [each for each in comparisons if each.kind == "optimizer" and each.targets]
    if len(chosen) < FEWEST_TO_RANK:
        return []
    methods = tuple(
        method
        for method in chosen[0].methods
        if all(each.row(method, "seconds_to_target") for each in chosen)
    )
    units = {"seconds_to_target": "seconds", "cost_to_target": chosen[0].cost_unit}
    tables = []
    for quantity, unit in units.items():
        rows = [[each.row(method, quantity) for method in methods] for each in chosen]
        values = np.array([[row.interval.estimate if row else math.inf for row in line] for line in rows])
        if len(methods) > 1 and np.isfinite(values).any():
            tables.append(Medians(quantity, unit, methods, values))
    return tables


def find_standings(comparisons: Sequence[Comparison]) -> tuple[Standing, ...]:
    """Return the average ranks in seconds and in cost, from three methods and problems on."""
    found = []
    for table in medians_over_problems(comparisons):
        ranking = average_ranks(table.values)
        if ranking is not None:
            half, last = ranking.critical_difference / 2, float(len(table.methods))
            ranks = {
                method: Interval(rank, max(rank - half, 1.0), min(rank + half, last), len(table.values))
                for method, rank in zip(table.methods, ranking.ranks, strict=True)
            }
            found.append(
                Standing(table.quantity, table.unit, ranks, ranking.probability, ranking.critical_difference)
            )
    return tuple(found)
