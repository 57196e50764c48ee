"""Words on who reached the target, in how many runs, and with what: observed, without a claim."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from benchfw.records import Cell
from benchfw.report.text import FEW_NAMES, figures, join_names, plural
from benchfw.report.verdicts.phrases import target_text
from benchfw.summary.model import Comparison


@dataclass(frozen=True)
class Measure:
    """A quantity to the target, and how sentences speak of it."""

    quantity: str
    preposition: str
    less: str
    more: str
    noun: str


def choose_measure(comparison: Comparison) -> Measure:
    """Return what to compare by: counted calls, or time where the reference or all others have no count."""
    counted = [cell for cell in comparison.measured if comparison.row(cell, "cost_to_target")]
    if comparison.reference in counted and len(counted) > min(1, len(comparison.measured) - 1):
        unit = comparison.cost_unit
        return Measure("cost_to_target", "with", f"fewer {unit}", f"more {unit}", unit)
    return Measure("seconds_to_target", "in", "less time", "more time", "time")


def reached(comparison: Comparison, cell: Cell) -> tuple[int, int]:
    """Return (runs that met the target, runs that count); a method without a number had none that did."""
    row = comparison.row(cell, "seconds_to_target")
    return row.reached if row and row.reached else (0, comparison.runs(cell)[1])


def always_arrives(comparison: Comparison, cell: Cell) -> bool:
    """Return whether all runs of a method met the target."""
    there, runs = reached(comparison, cell)
    return there == runs


def arrivals_text(comparison: Comparison) -> str:
    """Return 'gd in 10 of 10 runs and sgd in 1 of 10 runs (9 did not finish)', all methods that ran."""
    counts = [f"{comparison.name(cell)} in {_runs_there(comparison, cell)}" for cell in _started(comparison)]
    return join_names(counts)


def arrives_mostly(comparison: Comparison, cell: Cell, measure: Measure) -> bool:
    """Return whether more than half of a method's runs met the target, so that it has a median."""
    row = comparison.row(cell, measure.quantity)
    return row is not None and math.isfinite(row.interval.estimate)


def observed_text(comparison: Comparison, measure: Measure, cells: Iterable[Cell]) -> str:
    """Return what the methods that mostly arrive needed to the target."""
    there = [cell for cell in cells if arrives_mostly(comparison, cell, measure)][:FEW_NAMES]
    rows = [row for cell in there if (row := comparison.row(cell, measure.quantity))]
    names = join_names([comparison.name(cell) for cell in there])
    unit = "s" if measure.noun == "time" else measure.noun
    values = join_names([figures(row.interval.estimate) for row in rows])
    verb = "reaches" if len(there) == 1 else "reach"
    runs = plural(max((row.interval.count for row in rows), default=0), "run")
    return f"{names} {verb} {target_text(comparison)} {measure.preposition} {values} {unit} ({runs})"


def missing_text(comparison: Comparison) -> str:
    """Return who never reaches the target, and who does so only at times, with the runs that broke."""
    never, parts = [], []
    for cell in _started(comparison):
        if reached(comparison, cell)[0] == 0 and not comparison.runs(cell)[0]:
            never.append(comparison.name(cell))
        elif not always_arrives(comparison, cell) or comparison.runs(cell)[0]:
            parts.append(f"{comparison.name(cell)} does in {_runs_there(comparison, cell)}")
    if never:
        parts.insert(0, f"{join_names(never)} never {'does' if len(never) == 1 else 'do'}")
    return "".join(f"; {part}" for part in parts[:FEW_NAMES])


def _started(comparison: Comparison) -> list[Cell]:
    """Return the methods that were not skipped."""
    return [cell for cell in comparison.cells if comparison.runs(cell)[1]]


def _runs_there(comparison: Comparison, cell: Cell) -> str:
    """Return '3 of 10 runs', with how many of them broke."""
    (there, runs), (broken, _) = reached(comparison, cell), comparison.runs(cell)
    failed = f" ({broken} did not finish)" if broken else ""
    return f"{there} of {plural(runs, 'run')}{failed}"
