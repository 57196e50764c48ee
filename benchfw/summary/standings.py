"""All problems of a run at once: the medians of the methods that ran on all of them, and average ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchfw.analysis.intervals import Interval
from benchfw.analysis.profiles import FEWEST_TO_RANK, Floats, average_ranks
from benchfw.records import Cell
from benchfw.summary.model import Comparison, Standing

ALL_PROBLEMS = "all problems"
"""What the problem of a cell is called that stands for a method on every problem of a run."""


@dataclass(frozen=True, eq=False)
class Medians:
    """The medians of a quantity about the target, (problems, methods); +inf where a method never arrives."""

    quantity: str
    unit: str
    cells: tuple[Cell, ...]
    values: Floats


def medians_over_problems(comparisons: Sequence[Comparison]) -> list[Medians]:
    """Return seconds and cost to the target of the optimizers; nothing where they had too few problems.

    Of two problems the tables say everything. A method that was skipped somewhere has not failed there: only
    those that ran on all problems count.
    """
    chosen = [each for each in comparisons if each.kind == "optimizer" and each.targets]
    if len(chosen) < FEWEST_TO_RANK:
        return []
    cells = [
        cell
        for cell in chosen[0].cells
        if all(each.row(cell._replace(problem=each.problem), "seconds_to_target") for each in chosen)
    ]
    units = {"seconds_to_target": "time", "cost_to_target": chosen[0].cost_unit}
    tables = []
    for quantity, unit in units.items():
        rows = [
            [each.row(cell._replace(problem=each.problem), quantity) for cell in cells] for each in chosen
        ]
        values = np.array([[row.interval.estimate if row else math.inf for row in line] for line in rows])
        if len(cells) > 1 and np.isfinite(values).any():
            everywhere = tuple(cell._replace(problem=ALL_PROBLEMS) for cell in cells)
            tables.append(Medians(quantity, unit, everywhere, values))
    return tables


def find_standings(comparisons: Sequence[Comparison]) -> tuple[Standing, ...]:
    """Return the average ranks in seconds and in cost, from three methods and problems on."""
    found = []
    for table in medians_over_problems(comparisons):
        ranking = average_ranks(table.values)
        if ranking is not None:
            half, last = ranking.critical_difference / 2, float(len(table.cells))
            ranks = {
                cell: Interval(rank, max(rank - half, 1.0), min(rank + half, last), len(table.values))
                for cell, rank in zip(table.cells, ranking.ranks, strict=True)
            }
            found.append(
                Standing(table.quantity, table.unit, ranks, ranking.probability, ranking.critical_difference)
            )
    return tuple(found)
