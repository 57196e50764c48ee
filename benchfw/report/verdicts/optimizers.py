"""The verdict on optimizers: who reaches the target with fewer calls, who faster, who ends lowest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchfw.analysis.convergence import ROUNDING_FLOOR
from benchfw.report.text import FEW_NAMES, figures, interval_text, join_names, plural
from benchfw.report.verdicts.phrases import (
    comparative,
    estimate_of,
    paired_runs,
    rows_ahead,
    rows_of,
    target_text,
    undecided_text,
    when_done,
)
from benchfw.summary.model import Comparison, Row
from benchfw.summary.quantities import WHEN_DONE


def optimizer_verdict(comparison: Comparison) -> str:
    """Return one to three sentences on the optimizers of one problem."""
    costs = rows_of(comparison, "cost_to_target")
    reached = [row for row in costs if math.isfinite(row.interval.estimate)]
    if comparison.targets and not costs and rows_of(comparison, "seconds_to_target"):
        return f"No oracle call was counted, so that only times can be compared.{_fastest(comparison, None)}"
    if not comparison.targets or not costs:
        return "No method gave a value to compare."
    if not reached:
        target = target_text(comparison)
        return f"No method reaches {target} in more than half of its runs{_closest(comparison)}."
    reference = comparison.row(comparison.reference, "cost_to_target")
    # the first among those ahead of the reference beyond noise, if any: an estimate alone may be luck
    leader = min(rows_ahead(comparison, "cost_to_target"), key=estimate_of, default=None)
    best = leader or (reference if reference in reached else None) or min(reached, key=estimate_of)
    if leader is not None:
        sentence = _better(comparison, leader)
    elif reference is None or reference not in reached:
        sentence = _without_reference(comparison, reached)
    elif len(costs) == 1:
        more = " of a counted cost" if len(comparison.measured) > 1 else ""
        sentence = f"{_alone(comparison, reference)}; there is no other method{more} to compare it with"
    else:
        sentence = _reference_first(comparison, reference, reached)
    automatic = any(target.automatic for target in comparison.targets)
    end = (_done(comparison) or _end(comparison, best)) if automatic else ""
    return f"{sentence}{_others(comparison, costs)}.{_fastest(comparison, best)}{end}"


def _better(comparison: Comparison, best: Row) -> str:
    """Return the sentence for a method that is ahead of the reference."""
    fewer = comparative(
        comparison, best.cell, best.quantity, f"fewer {comparison.cost_unit}", f"more {comparison.cost_unit}"
    )
    name, reference = comparison.name(best.cell), comparison.name(comparison.reference)
    seconds = _time_clause(comparison, comparison.row(best.cell, "seconds_to_target"))
    target = target_text(comparison)
    return f"{name} reaches {target} with {fewer} than {reference}{seconds} ({paired_runs(best)})"


def _time_clause(comparison: Comparison, row: Row | None) -> str:
    if row is None or row.ratio is None:
        return ""
    said = comparative(comparison, row.cell, row.quantity, "less time", "more time")
    after = _preparation(comparison, row)
    if said is None:
        return f" and in about the same time{after}"
    return f" and in {said}{after}" if row.ratio.estimate < 1 else f", but in {said}{after}"


def _preparation(comparison: Comparison, ahead: Row) -> str:
    """Return what a method and the reference took to prepare, which their times leave out."""
    cells = dict.fromkeys((ahead.cell, comparison.reference))
    found = [(cell, comparison.row(cell, "prepare_seconds")) for cell in cells]
    parts = [f"{comparison.name(cell)} {figures(row.interval.estimate, 2)} s" for cell, row in found if row]
    return f", not counting the time to prepare ({', '.join(parts)})" if parts else ""


def _reference_first(comparison: Comparison, reference: Row, reached: Sequence[Row]) -> str:
    """Return the sentence for a reference that no other method is ahead of, not even in its estimate."""
    rival = min((row for row in reached if row is not reference), key=estimate_of, default=None)
    if rival is None:
        return _only(comparison, reference)
    more = comparative(comparison, rival.cell, rival.quantity, "fewer", f"more {comparison.cost_unit}")
    if rival.ratio is None or more is None:
        return _no_difference(comparison, rival)
    return (
        f"No method reaches {target_text(comparison)} with fewer {comparison.cost_unit} than "
        f"{comparison.name(reference.cell)}; the next, {comparison.name(rival.cell)}, needs {more} "
        f"({paired_runs(rival)})"
    )


def _no_difference(comparison: Comparison, rival: Row) -> str:
    found = undecided_text(comparison, rival.cell, rival.quantity)
    return (
        f"{found} in {comparison.cost_unit} to {target_text(comparison)} "
        f"between {comparison.name(comparison.reference)} and the next best, {comparison.name(rival.cell)}"
    )


def _without_reference(comparison: Comparison, reached: Sequence[Row]) -> str:
    """Return the sentence for methods that get there where the reference does not, or is not counted."""
    order = sorted(reached, key=estimate_of)
    if len(order) == 1:
        return _only(comparison, order[0])
    names = join_names([comparison.name(row.cell) for row in order])
    shown = join_names([interval_text(row.interval) for row in order[:FEW_NAMES]])
    number = plural(order[0].interval.count, "run")
    return f"{names} reach {target_text(comparison)} with {shown} {comparison.cost_unit} ({number})"


def _only(comparison: Comparison, row: Row) -> str:
    """Return the sentence for a method alone: "Only …" unless others get there too, at times or uncounted."""
    others = (each for each in rows_of(comparison, "seconds_to_target") if each.cell != row.cell)
    if any(each.reached and each.reached[0] for each in others):
        return _alone(comparison, row)
    return f"Only {_alone(comparison, row, ',')}"


def _alone(comparison: Comparison, row: Row, comma: str = "") -> str:
    name, cost = comparison.name(row.cell), f"{interval_text(row.interval)} {comparison.cost_unit}"
    runs = plural(row.interval.count, "run")
    return f"{name} reaches {target_text(comparison)}{comma} with {cost} ({runs})"


def _others(comparison: Comparison, costs: Sequence[Row]) -> str:
    """Return who never reaches the target, and who does so only at times."""
    never = [comparison.name(row.cell) for row in costs if row.reached and row.reached[0] == 0]
    parts = [f"{join_names(never)} never {'does' if len(never) == 1 else 'do'}"] if never else []
    partly = [row for row in costs if row.reached and 0 < row.reached[0] < row.reached[1]]
    parts += [
        f"{comparison.name(row.cell)} does in {row.reached[0]} of {row.reached[1]} runs"
        for row in partly[:FEW_NAMES]
        if row.reached
    ]
    return "".join(f"; {part}" for part in parts)


def _fastest(comparison: Comparison, best: Row | None) -> str:
    """Return a sentence on time where another method is ahead there, and beyond noise."""
    first = min(rows_ahead(comparison, "seconds_to_target"), key=estimate_of, default=None)
    if first is None or (best is not None and first.cell == best.cell) or first.ratio is None:
        return ""
    less = comparative(comparison, first.cell, first.quantity, "less", "more")
    name, reference = comparison.name(first.cell), comparison.name(comparison.reference)
    after = _preparation(comparison, first)
    return f" In time, {name} is ahead: {less} than {reference}{after} ({paired_runs(first)})."


def _end(comparison: Comparison, best: Row) -> str:
    """Return a sentence on the end of the budget: a target where the reference ends hides who went on."""
    metric, target = comparison.targets[0].metric, comparison.targets[0].value
    lowest = min(rows_ahead(comparison, metric), key=estimate_of, default=None)
    if lowest is None or lowest.cell == best.cell or lowest.ratio is None:
        return ""
    if lowest.interval.estimate < ROUNDING_FLOOR * target:
        return ""  # so far down rounding decides
    less = comparative(comparison, lowest.cell, lowest.quantity, "less", "more")
    return (
        f" At the end, {comparison.name(lowest.cell)} has the smallest {metric}: "
        f"{interval_text(lowest.interval)}, {less} than {comparison.name(comparison.reference)} "
        f"({paired_runs(lowest)})."
    )


def _done(comparison: Comparison) -> str:
    """Return a sentence on the moment at which the reference was done by itself, if it was."""
    parts = []
    for quantity in when_done(comparison):
        metric = quantity.removesuffix(WHEN_DONE)
        least = min(rows_ahead(comparison, quantity), key=estimate_of, default=None)
        if least is None:
            parts.append(f"no method has a smaller {metric}")
        else:
            less = comparative(comparison, least.cell, least.quantity, "less", "more")
            shown = interval_text(least.interval)
            parts.append(f"{comparison.name(least.cell)} has {metric} {shown}, {less} ({paired_runs(least)})")
    done = f" When {comparison.name(comparison.reference)} is done, "
    return f"{done}{', and '.join(parts)}." if parts else ""


def _closest(comparison: Comparison) -> str:
    primary = comparison.targets[0].metric
    rows = [row for row in rows_of(comparison, primary) if math.isfinite(row.interval.estimate)]
    if not rows:
        return ""
    best = min(rows, key=lambda row: row.interval.estimate)
    return f"; the closest is {comparison.name(best.cell)} with {interval_text(best.interval)}"
