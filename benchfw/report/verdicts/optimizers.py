"""The verdict on optimizers: who reaches the target with fewer calls, who faster, who ends lowest."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchfw.analysis.convergence import ROUNDING_FLOOR
from benchfw.report.numbers import interval_text
from benchfw.report.verdicts.phrases import (
    ahead,
    comparative,
    counted,
    merit,
    noise,
    rows_of,
    runs,
    target_text,
    when_done,
)
from benchfw.summary.model import FEW_NAMES, listed
from benchfw.summary.quantities import WHEN_DONE
from benchfw.summary.summarize import Comparison, Row


def optimizer_verdict(comparison: Comparison) -> str:
    """Return one to three sentences on the optimizers of one problem."""
    costs = rows_of(comparison, "cost_to_target")
    reached = [row for row in costs if math.isfinite(row.interval.estimate)]
    if not comparison.targets or not costs:
        return "No method gave a value to compare."
    if not reached:
        target = target_text(comparison)
        return f"No method reaches {target} in more than half of its runs{_closest(comparison)}."
    reference = comparison.row(comparison.reference, "cost_to_target")
    # the first among those ahead of the reference beyond noise, if any: an estimate alone may be luck
    leader = min(ahead(reached), key=merit, default=None)
    best = leader or (reference if reference in reached else None) or min(reached, key=merit)
    if leader is not None:
        sentence = _better(comparison, leader)
    elif reference is None or reference not in reached:
        sentence = _without_reference(comparison, reached, costs)
    elif len(costs) == 1:
        sentence = f"{_alone(comparison, reference)}; there is no other method to compare it with"
    else:
        sentence = _reference_first(comparison, reference, reached)
    automatic = any(target.automatic for target in comparison.targets)
    end = (_done(comparison) or _end(comparison, best)) if automatic else ""
    return f"{sentence}{_others(comparison, costs)}.{_fastest(comparison, best)}{end}"


def _better(comparison: Comparison, best: Row) -> str:
    """Return the sentence for a method that is ahead of the reference."""
    fewer = comparative(best, f"fewer {comparison.cost_unit}", f"more {comparison.cost_unit}")
    name, reference = comparison.name(best.method), comparison.name(comparison.reference)
    seconds = _time_clause(comparison.row(best.method, "seconds_to_target"))
    return f"{name} reaches {target_text(comparison)} with {fewer} than {reference}{seconds} ({runs(best)})"


def _time_clause(row: Row | None) -> str:
    if row is None or row.ratio is None:
        return ""
    said = comparative(row, "less time", "more time")
    if said is None:
        return " and in about the same time"
    return f" and in {said}" if row.ratio.estimate < 1 else f", but in {said}"


def _reference_first(comparison: Comparison, reference: Row, reached: Sequence[Row]) -> str:
    """Return the sentence for a reference that no other method is ahead of, not even in its estimate."""
    rival = min((row for row in reached if row is not reference), key=merit, default=None)
    if rival is None:
        return f"Only {_alone(comparison, reference)}"
    more = comparative(rival, "fewer", f"more {comparison.cost_unit}")
    if rival.ratio is None or more is None:
        return _no_difference(comparison, rival)
    return (
        f"No method reaches {target_text(comparison)} with fewer {comparison.cost_unit} than "
        f"{comparison.name(reference.method)}; the next, {comparison.name(rival.method)}, needs {more} "
        f"({runs(rival)})"
    )


def _no_difference(comparison: Comparison, rival: Row) -> str:
    return (
        f"{noise(rival)} in {comparison.cost_unit} to {target_text(comparison)} "
        f"between {comparison.name(comparison.reference)} and the next best, {comparison.name(rival.method)}"
    )


def _without_reference(comparison: Comparison, reached: Sequence[Row], costs: Sequence[Row]) -> str:
    """Return the sentence for methods that get there where the reference does not."""
    order = sorted(reached, key=merit)
    if len(order) == 1:
        sometimes = any(row.reached and row.reached[0] for row in costs if row is not order[0])
        return f"{'' if sometimes else 'Only '}{_alone(comparison, order[0])}"
    names = listed([comparison.name(row.method) for row in order])
    shown = listed([interval_text(row.interval) for row in order[:FEW_NAMES]])
    number = counted(order[0].interval.count, "run")
    return f"{names} reach {target_text(comparison)} with {shown} {comparison.cost_unit} ({number})"


def _alone(comparison: Comparison, row: Row) -> str:
    cost = interval_text(row.interval)
    return (
        f"{comparison.name(row.method)} reaches {target_text(comparison)} with {cost} {comparison.cost_unit} "
        f"({counted(row.interval.count, 'run')})"
    )


def _others(comparison: Comparison, costs: Sequence[Row]) -> str:
    """Return who never reaches the target, and who does so only at times."""
    never = [comparison.name(row.method) for row in costs if row.reached and row.reached[0] == 0]
    parts = [f"{listed(never)} never {'does' if len(never) == 1 else 'do'}"] if never else []
    partly = [row for row in costs if row.reached and 0 < row.reached[0] < row.reached[1]]
    parts += [
        f"{comparison.name(row.method)} does in {row.reached[0]} of {row.reached[1]} runs"
        for row in partly[:FEW_NAMES]
        if row.reached
    ]
    return "".join(f"; {part}" for part in parts)


def _fastest(comparison: Comparison, best: Row) -> str:
    """Return a sentence on time where another method is ahead there, and beyond noise."""
    first = min(ahead(rows_of(comparison, "seconds_to_target")), key=merit, default=None)
    if first is None or first.method == best.method or first.ratio is None:
        return ""
    less = comparative(first, "less", "more")
    reference = comparison.name(comparison.reference)
    return f" In time {comparison.name(first.method)} is ahead: {less} than {reference} ({runs(first)})."


def _end(comparison: Comparison, best: Row) -> str:
    """Return a sentence on the end of the budget: a target where the reference ends hides who went on."""
    metric, target = comparison.targets[0].metric, comparison.targets[0].value
    lowest = min(ahead(rows_of(comparison, metric)), key=merit, default=None)
    if lowest is None or lowest.method == best.method or lowest.ratio is None:
        return ""
    if lowest.interval.estimate < ROUNDING_FLOOR * target:
        return ""  # so far down rounding decides
    less = comparative(lowest, "less", "more")
    return (
        f" At the end {comparison.name(lowest.method)} has the smallest {metric}: "
        f"{interval_text(lowest.interval)}, {less} than {comparison.name(comparison.reference)} "
        f"({runs(lowest)})."
    )


def _done(comparison: Comparison) -> str:
    """Return a sentence on the moment at which the reference was done by itself, if it was."""
    parts = []
    for quantity in when_done(comparison):
        metric = quantity.removesuffix(WHEN_DONE)
        least = min(ahead(rows_of(comparison, quantity)), key=merit, default=None)
        if least is None:
            parts.append(f"no method has a smaller {metric}")
        else:
            less = comparative(least, "less", "more")
            shown = interval_text(least.interval)
            parts.append(f"{comparison.name(least.method)} has {metric} {shown}, {less} ({runs(least)})")
    done = f" When {comparison.name(comparison.reference)} is done, "
    return f"{done}{', and '.join(parts)}." if parts else ""


def _closest(comparison: Comparison) -> str:
    primary = comparison.targets[0].metric
    rows = [row for row in rows_of(comparison, primary) if math.isfinite(row.interval.estimate)]
    if not rows:
        return ""
    best = min(rows, key=lambda row: row.interval.estimate)
    return f"; the closest is {comparison.name(best.method)} with {interval_text(best.interval)}"
