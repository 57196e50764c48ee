"""Who is ahead of the reference in a quantity."""

from __future__ import annotations

import math
from collections.abc import Iterable

from benchfw.analysis.decisions import Verdict
from benchfw.records import Cell
from benchfw.report.verdicts.phrases import cells_with, comparative
from benchfw.summary.model import Comparison


def find_leader(comparison: Comparison, quantity: str) -> Cell | None:
    """Return the method that is furthest ahead of the reference, by a factor that is known."""
    ahead = cells_with(comparison, quantity, Verdict.BETTER)
    return lowest(comparison, [cell for cell in ahead if has_factor(comparison, cell, quantity)], quantity)


def lowest(comparison: Comparison, cells: Iterable[Cell], quantity: str) -> Cell | None:
    """Return the method with the lowest ratio to the reference; of several, the one that takes least time."""

    def ratio(cell: Cell, quantity: str) -> float:
        found = comparison.decision(cell, quantity).interval
        return math.inf if found is None else found.estimate

    def place(cell: Cell) -> tuple[float, float]:
        own = float(f"{ratio(cell, quantity):.9g}")  # equal costs have means that differ by rounding
        return own, ratio(cell, comparison.clocked("seconds_to_target"))

    return min(cells, key=place, default=None)


def has_factor(comparison: Comparison, cell: Cell, quantity: str) -> bool:
    """Return whether a method is better or worse by a factor that is known."""
    return comparative(comparison, cell, quantity, "", "") is not None
