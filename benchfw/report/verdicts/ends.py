"""Sentences on where optimizers end."""

from __future__ import annotations

from benchfw.analysis.decisions import Reason, Verdict
from benchfw.analysis.significance import MARGIN
from benchfw.records import Cell
from benchfw.report.text import figures, plural
from benchfw.report.verdicts.leaders import has_factor, lowest
from benchfw.report.verdicts.phrases import cells_with, comparative, paired_runs, reached
from benchfw.summary.model import Comparison


def end_sentence(comparison: Comparison, leader: Cell | None) -> str:
    """Return a sentence on the end of the budget: a target that all reach hides who went on."""
    metric = comparison.targets[0].metric
    few = [cell for cell in comparison.measured if comparison.decision(cell, metric).reason is Reason.TOO_FEW]
    first = lowest(comparison, cells_with(comparison, metric, Verdict.BETTER), metric)
    there = [cell for cell in few if _is_zero(comparison, cell, metric)]
    if there and not _is_zero(comparison, comparison.reference, metric):
        return f"At the end, {_zeros(comparison, there[0], metric)}"
    if first is None or first == leader:
        return ""
    than = f"than {comparison.name(comparison.reference_for(first))}{_after(comparison, first)}"
    name, runs = comparison.name(first), paired_runs(comparison, first, metric)
    said = comparative(comparison, first, metric, "smaller", "larger")
    if said is not None:
        return f"At the end, {name} has {metric} {said} {than} ({runs})"
    # without a factor: it is at 0 in some runs
    word = "higher" if comparison.is_gain(metric) else "lower"
    return f"At the end, {name} is {word} in {metric} {than} ({runs}): {_zeros(comparison, first, metric)}"


def _zeros(comparison: Comparison, cell: Cell, metric: str) -> str:
    """Return in how many runs a method is at 0, and where the reference is, in the median."""
    there, runs = comparison.at_zero.get((cell, metric), (0, 0))
    first = comparison.reference_for(cell)
    row, reference = comparison.row(first, metric), comparison.name(first)
    others = f", {reference} at {figures(row.interval.estimate)} (median)" if row else ""
    return f"{comparison.name(cell)} is at {metric} 0 in {there} of {plural(runs, 'run')}{others}"


def _is_zero(comparison: Comparison, cell: Cell, quantity: str) -> bool:
    """Return whether most runs of a method are at 0."""
    there, runs = comparison.at_zero.get((cell, quantity), (0, 0))
    return 2 * there > runs


def _after(comparison: Comparison, cell: Cell) -> str:
    """Return how much more or less than the reference a method spent, where that is not about the same."""
    mine, theirs = (comparison.tallies[each].cost for each in (cell, comparison.reference_for(cell)))
    if not mine or not theirs or max(mine, theirs) <= MARGIN * min(mine, theirs):
        return ""
    more = "more" if mine > theirs else "fewer"
    return f" after {figures(max(mine, theirs) / min(mine, theirs), 2)} times {more} {comparison.cost_unit}"


def back_sentence(comparison: Comparison, cell: Cell) -> str:
    """Return a sentence on a method that reached the target first and lost it again."""
    target = comparison.targets[0]
    metric = target.metric
    row, name = comparison.row(cell, metric), comparison.name(cell)
    if comparison.verdict(cell, metric) is Verdict.WORSE and has_factor(comparison, cell, metric):
        more = comparative(comparison, cell, metric, "smaller", "larger")
        than = f"than {comparison.name(comparison.reference_for(cell))}{_after(comparison, cell)}"
        return f"At the end, {name} has {metric} {more} {than} ({paired_runs(comparison, cell, metric)})"
    if row is None or not reached(comparison, cell)[0]:
        return ""
    end = row.interval.estimate
    if end >= target.value if target.gain else end <= target.value:
        return ""
    side = "below" if target.gain else "above"
    return f"At the end, {name} is {side} the target again: {metric} {figures(end)} (median)"
