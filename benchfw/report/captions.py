"""What stands above a table: its heading, and a caption that says what its numbers and brackets are."""

from __future__ import annotations

import math

from benchfw.records import OBJECTIVE, MethodKind
from benchfw.report.text import figures
from benchfw.report.verdicts.kernels import kernel_caption
from benchfw.report.verdicts.phrases import none_improves_text, reference_name, target_text, typical_note
from benchfw.report.verdicts.sweeps import PRODUCTS
from benchfw.summary.model import Comparison
from benchfw.summary.quantities import FEWEST_FOR_MEDIAN

_HEADINGS = {"optimizer": "optimizers", "estimator": "estimators", "kernel": "kernels"}


def heading(comparison: Comparison) -> str:
    """Return what a comparison is about: 'least-squares, optimizers'."""
    if comparison.by_size:
        return comparison.problem
    shared = f" ({comparison.shared_name})" if comparison.shared_name else ""
    return f"{heading_of(comparison.problem, comparison.kind)}{shared}"


def heading_of(problem: str, kind: MethodKind) -> str:
    """Return what the methods of one kind on one problem are called."""
    return f"{problem}, {_HEADINGS[kind]}" if problem else _HEADINGS[kind]


_BEST = {
    "": "",
    "given": "The gap is the distance to the objective that was given as best. ",
    "run": "The gap is the distance to the {} objective of the repetition in this run, by any method. ",
    "store": "The gap is the distance to the {} objective of the repetition in this store, in any run. ",
}


def caption(comparison: Comparison) -> str:
    """Return the line above a table: the target if there is one, and what the brackets are."""
    if comparison.kind == "kernel":
        return kernel_caption(comparison)
    aim = f"Target: {target_text(comparison)}. {_target_rule(comparison)}" if comparison.targets else ""
    aim += _BEST[comparison.best].format("highest" if OBJECTIVE in comparison.gains else "lowest")
    ratios = f"; ratios to {reference_text(comparison)}, paired by repetition" if comparison.paired else ""
    what = f"{_middle(comparison)}{ratios}."
    held = " Their 95 % intervals are for one row at a time; those of the verdict allow for the whole report."
    several = held if comparison.decisions else ""
    return f"{aim}{what}{several}{typical_note(comparison)}{_estimator_notes(comparison)}"


def reference_text(comparison: Comparison) -> str:
    """Return the method that ratios are relative to, and why, where it is not the one that was asked for."""
    name = reference_name(comparison, comparison.measured)
    if comparison.replaced is None:
        return name
    return f"{name} ({comparison.name(comparison.replaced)} never reaches the target)"


def _middle(comparison: Comparison) -> str:
    """Return what the numbers of a table are, and their brackets."""
    if comparison.kind != "optimizer":
        return "Mean over repetitions (geometric for times) [95 % interval]"
    runs = max((row.interval.count for row in comparison.rows if row.reached is None), default=0)
    # five values have no interval for their median but their range, which covers it at 15/16
    level = {5: " [94 % interval]"}.get(runs, " [95 % interval]" if runs > FEWEST_FOR_MEDIAN else "")
    return (
        f"At the end the median over repetitions{level}; to the target the geometric mean [lowest, highest "
        "run, widened for the time between looks and for a busy machine], or the median [its interval] where "
        "some run never arrives or starts there"
    )


def _target_rule(comparison: Comparison) -> str:
    """Return how a target was set if none was given; no method is treated apart."""
    if not any(target.automatic for target in comparison.targets):
        return ""
    if not all(target.improved for target in comparison.targets):
        return f"{none_improves_text(comparison)}. "
    best = "highest" if comparison.targets[0].gain else "lowest"
    if any(target.floored for target in comparison.targets):
        return (
            f"No target was given: the methods that come nine tenths of the way to the {best} end are at 0 "
            "up to rounding, and below this number rounding decides. "
        )
    return (
        f"No target was given: of the methods that come nine tenths of the way to the {best} end, it is the "
        "worst end of the last one, rounded towards the start. "
    )


def _estimator_notes(comparison: Comparison) -> str:
    """Return what the columns of estimators are, and how their bias was tested."""
    if comparison.kind != "estimator":
        return ""
    notes = ""
    rows = [row for row in comparison.rows if row.quantity in ("variance", comparison.product)]
    if any(row.interval.low > 0 and math.isinf(row.interval.high) for row in rows):
        notes += (
            ' "At least": a few draws carry most of the variance, and rarer ones may be missing, or the '
            "method knows that its variance is infinite."
        )
    if any(row.quantity == "relative_efficiency" for row in comparison.rows):
        notes += (
            f" Efficiency: the reference's {PRODUCTS[comparison.product]} over the method's. Typical: the "
            "geometric mean over pairs of runs, not the ratio of the means beside it."
        )
    if comparison.tested:
        level = figures(100 * (1 - comparison.family.others_level), 2)
        notes += f" Bias is tested over repetitions at {level} %, a part of the report's 5 %."
        if comparison.biased:
            notes += " A mean may also look off because draws too rare for this sample are missing from it."
    return notes
