"""The verdicts on estimators: variance, time, bias."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from benchfw.records import Cell
from benchfw.report.text import FEW_NAMES, figures, interval_text, join_names, plural
from benchfw.report.verdicts.phrases import (
    comparative,
    estimate_of,
    paired_runs,
    rows_ahead,
    rows_of,
    undecided_text,
)
from benchfw.summary.model import Comparison, Row


def estimator_verdict(comparison: Comparison) -> str:
    """Return who has the smallest variance for its time, and who is biased."""
    products = [row for row in rows_of(comparison, "variance_x_seconds") if row.interval.estimate > 0]
    exact = [
        comparison.name(row.cell) for row in rows_of(comparison, "variance") if row.interval.estimate == 0
    ]
    sentences = [f"{join_names(exact)} never varied"] if exact else []
    reference = comparison.name(comparison.reference)
    rivals = [row for row in products if row.cell != comparison.reference and row.ratio]
    if rivals:
        best = min(rows_ahead(comparison, "variance_x_seconds") or rivals, key=estimate_of)
        sentences.insert(0, _efficiency(comparison, best, reference))
    elif products:
        variance = comparison.row(comparison.reference, "variance")
        shown = interval_text(variance.interval) if variance else "unknown"
        sentences.insert(0, f"{reference} has variance {shown}; there is no other method to compare it with")
    sentences.append(_along_the_sweep(comparison))
    sentences += _bias(comparison)
    return " ".join(f"{sentence}." for sentence in sentences if sentence)


def _efficiency(comparison: Comparison, best: Row, reference: str) -> str:
    """Return variance, time a draw and their product for the best method against the reference."""
    name = comparison.name(best.cell)
    product = comparative(comparison, best.cell, best.quantity, "smaller", "larger")
    if best.ratio is None or product is None:
        found = undecided_text(comparison, best.cell, best.quantity)
        return f"{found} in variance x time between {reference} and {name}"
    if best.ratio.estimate > 1:
        return (
            f"No method has a smaller variance x time than {reference}; the next, {name}, "
            f"has one {product} ({paired_runs(comparison, best.cell, best.quantity)})"
        )
    less = comparative(comparison, best.cell, "variance", "less variance", "more variance")
    longer = comparative(comparison, best.cell, "seconds_per_draw", "less time", "more time")
    spread = f"{less} than" if less else "the same variance within noise as"
    seconds = f"{longer} a draw" if longer else "about the same time a draw"
    both = f"{name} has {spread} {reference} and takes {seconds}"
    return f"{both}: variance x time {product} ({paired_runs(comparison, best.cell, best.quantity)})"


def _along_the_sweep(comparison: Comparison) -> str:
    """Return which family of a sweep has the smallest variance at every value that all of them have."""
    sweep = comparison.sweep
    if sweep is None or len(sweep.families) < 2 or not sweep.values:
        return ""
    leaders, margins = set(), []
    for value in sweep.values:
        rows = {
            family: row
            for family, members in sweep.families.items()
            if (row := comparison.row(members[value], "variance"))
        }
        if len(rows) < 2:
            return ""
        first, second, *_ = sorted(rows, key=lambda family: estimate_of(rows[family]))
        apart = all(rows[first].interval.high < rows[other].interval.low for other in rows if other != first)
        leaders.add(first if apart else "")
        margins.append(
            estimate_of(rows[second]) / estimate_of(rows[first]) if estimate_of(rows[first]) else math.inf
        )
    where = f"at every {sweep.parameter} from {sweep.values[0]:g} to {sweep.values[-1]:g}"
    if len(leaders) > 1 or "" in leaders:
        return f"No family of methods has the smallest variance beyond noise {where}"
    least, most = figures(min(margins), 2), figures(max(margins), 2)
    if math.isinf(max(margins)):  # somewhere the leader never varied
        return f"{leaders.pop()} has the smallest variance {where}, at least {least} times below the next"
    between = least if least == most else f"{least} to {most}"
    return f"{leaders.pop()} has the smallest variance {where}, {between} times below the next"


def _bias(comparison: Comparison) -> Iterator[str]:
    """Yield whose mean is off; no number of draws tells a bias from what rarer draws would correct."""
    broken = [cell for cell in comparison.biased if cell in comparison.claims]
    frank = [cell for cell in comparison.biased if cell not in comparison.claims]
    if broken:
        yield (
            "Claimed to be unbiased, but the mean is off, by a bias or for lack of rare draws: "
            f"{_off(comparison, broken)}"
        )
    if frank:
        yield f"The mean is off: {_off(comparison, frank)}"
    others = [
        row
        for row in rows_of(comparison, "bias")
        if row.cell not in comparison.biased and row.interval.count > 1
    ]
    if others:
        all_claim = not comparison.biased and all(row.cell in comparison.claims for row in others)
        counts = plural(max(row.interval.count for row in others), "run")
        where = " in the others" if comparison.biased else ""
        yield f"No bias beyond noise{where} ({counts}){', as claimed' if all_claim else ''}"


def _off(comparison: Comparison, cells: Sequence[Cell]) -> str:
    """Return names and sizes: a vector's bias is measured from below, so the near end is what is sure."""
    shown = [
        f"{comparison.name(cell)} by at least {figures(min(abs(row.interval.low), abs(row.interval.high)))}"
        for cell in cells[:FEW_NAMES]
        if (row := comparison.row(cell, "bias"))
    ]
    more = len(cells) - FEW_NAMES
    return join_names([*shown, f"{more} more"] if more > 0 else shown)
