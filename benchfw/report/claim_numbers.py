"""The words for one number of a claim: what it is, with the interval that decided, and the range claimed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

from benchfw.analysis.claims import Decided, DecidedPart, Standing
from benchfw.analysis.estimates import Estimate, Runs, Share, lies_inside, lies_outside
from benchfw.analysis.intervals import Interval
from benchfw.claims import Claim, Range, Subject, metric_of
from benchfw.report.text import (
    factor_text,
    plural,
    raise_powers,
    ratio_figures,
    sided_end,
    sided_text,
    times_text,
)
from benchfw.summary.times import TimeUnit, unit_of

Units: TypeAlias = Mapping[str, TimeUnit]

_TIMES = {
    "seconds to target": "seconds_to_target",
    "CPU seconds to target": "cpu_seconds_to_target",
    "seconds a draw": "seconds_per_draw",
    "CPU seconds a draw": "cpu_seconds_per_draw",
    "seconds a call": "seconds_per_call",
}
"""Times, and what summaries call them."""

_NOUNS = {
    "seconds to target": ("time", "to the target"),
    "CPU seconds to target": ("CPU time", "to the target"),
    "cost to target": ("cost", "to the target"),
    "iterations to target": ("number of iterations", "to the target"),
    "mse": ("mean squared error", ""),
    "seconds a draw": ("time", "for a draw"),
    "CPU seconds a draw": ("CPU time", "for a draw"),
    "cost a draw": ("cost", "for a draw"),
    "mse x seconds": ("mean squared error x seconds", ""),
    "seconds a call": ("time", "for a call"),
}
"""What a quantity is called, and what follows its method; a quantity that is not here has its own name."""


def describe_number(claim: Claim, part: DecidedPart, units: Units) -> str:
    """Return the number of a part of a claim as a sentence, with the interval that decided."""
    found, estimate, subject = part.interval, part.part.estimate, part.part.subject
    if found is None or estimate is None:
        return part.part.reason
    if claim.test == "bound":
        return _describe_bound(part, found, subject)
    if isinstance(estimate, Share):
        method = subject.methods[0]
        return f"{method} reaches the target in {_share_text(part, estimate, found)}"
    said = _describe_quantity(claim, part, found, subject, units)
    if subject.problems == 1:
        return said
    mean = "geometric mean" if isinstance(estimate, Runs) and estimate.logs else "mean"
    return f"{said}, in the {mean} over {plural(subject.problems, 'problem')}"


def describe_range(claim: Claim, decided: Decided, units: Units) -> str:
    """Return what was claimed, in the unit of what was found."""
    inside = claim.inside
    if claim.test == "reaches" and claim.every:
        every, half = ("every", "above") if inside.low > 0 else ("no", "below")
        return f"in {every} run, shown by an interval {half} one half"
    said = {
        "untestable": "",
        "order": " before ".join(claim.methods),
        "bound": f"at most the bound in {'every run' if claim.every else 'the mean of the runs'}",
        "unbiased": f"0, shown by an interval within ±{claim.margin:.6g}" if claim.unbiased else "not 0",
        "reaches": f"in a share of runs {_range_text(inside)}",
    }
    return said.get(claim.test, _range_text(inside, *_find_unit(claim, decided.parts, units)))


def describe_as_measured(claim: Claim, part: DecidedPart) -> str:
    """Return the ratio that the values as measured give, where they alone would decide; else nothing."""
    estimate = part.part.estimate
    if claim.test not in ("ratio", "order") or not isinstance(estimate, Runs) or not estimate.whole:
        return ""
    found, inside = estimate.as_measured.interval(part.level), part.part.inside
    decides = lies_inside(found, inside, estimate.possible) or lies_outside(found, inside)
    return _ratio_text(part, found) if decides and estimate.logs else ""


def _describe_quantity(
    claim: Claim, part: DecidedPart, found: Interval, subject: Subject, units: Units
) -> str:
    estimate, (method, *other) = part.part.estimate, subject.methods
    noun, after = _find_noun(claim.quantity)
    what = f"the {noun} of {method}{f' {after}' if after else ''}"
    if claim.test in ("ratio", "order") and isinstance(estimate, Runs) and estimate.logs:
        if not estimate.whole and found.low <= 0 and math.isinf(found.high):
            return f"{what} is not known relative to that of {other[0]}"
        return f"{what} is {_beside(part, found)} that of {other[0]}"
    if claim.test == "unbiased" and math.isinf(found.estimate):
        return f"the bias of {method} is not 0, and its draws do not vary"
    size, unit = _find_unit(claim, [part], units)
    value = _number_text(part, found.scaled(1 / size), unit, size=size)
    if other:
        return f"{what} minus that of {other[0]} is {value}"
    said = {
        "linear": f"an iteration multiplies the {subject.metric} of {method} by {value}",
        "sublinear": f"the {subject.metric} of {method} goes like iterations to the power of {value}",
        "unbiased": f"the bias of {method} is {value} standard deviations of a draw",
        "value": f"{what} is {value}",
    }
    return said[claim.law if claim.test == "rate" else claim.test]


def _describe_bound(part: DecidedPart, found: Interval, subject: Subject) -> str:
    """Return how near the curves of a method come to their bound, or by how much they miss it."""
    looks, estimate = subject.looks, part.part.estimate
    if looks is None:
        return part.part.reason
    what, total = f"the {subject.metric} of {subject.methods[0]}", plural(looks.total, "look")
    if not isinstance(estimate, Share):
        mean = f"in the mean of {plural(found.count, 'run')}"
        return f"{what} is {_ratio_text(part, found)} times its bound at the highest of {total}, {mean}"
    if looks.above:
        runs = f"{estimate.runs - estimate.some} of {plural(estimate.runs, 'run')}"
        finite = math.isfinite(looks.largest)
        most = f"at most {factor_text(looks.largest, 1)} times it" if finite else "without a limit"
        return f"{what} is above its bound at {looks.above} of {total} in {runs}, {most}"
    largest = f"{factor_text(looks.largest, 1)} times" if looks.largest != 1 else ""
    runs = _share_text(part, estimate, found)
    return f"{what} is at most {f'{largest} ' if largest else ''}its bound at {total}, in {runs}"


def _share_text(part: DecidedPart, share: Share, found: Interval) -> str:
    """Return in how many runs something is so; with the interval of their share, unless one run decides."""
    runs = f"{share.some} of {plural(share.runs, 'run')}"
    return runs if share.refutes else f"{runs} (a share of {_number_text(part, found)})"


def _beside(part: DecidedPart, found: Interval) -> str:
    """Return what relates two methods: '0.50 [0.49, 0.52] times', '1.0 × 10⁻⁸ % below', 'less than'."""
    shown = _ratio_text(part, found)
    if shown == "1" and not found.low <= 1 <= found.high:
        return f"{times_text(found)} {'above' if found.low > 1 else 'below'}"
    return _side(found) or f"{shown} times"


def _side(found: Interval) -> str:
    """Return on which side of 1 a ratio lies, where no more is known of it; else nothing."""
    if found.low == 0 and found.high == math.nextafter(1.0, 0.0):
        return "less than"
    return "more than" if found.high == math.inf and found.low == math.nextafter(1.0, 2.0) else ""


def _ratio_text(part: DecidedPart, found: Interval) -> str:
    if found.low == math.inf:
        return "infinitely many"  # times
    return raise_powers(_number_text(part, found, least=ratio_figures(found)))


def _number_text(
    part: DecidedPart, found: Interval, unit: str = "", *, least: int = 3, size: float = 1.0
) -> str:
    """Return a number, rounded so that its interval reads on the side of what is claimed that it is on."""
    beyond = part.standing is (Standing.HOLDS if part.part.denied else Standing.REFUTED)
    inside = part.part.possible if beyond else part.part.inside
    limits = () if part.standing is Standing.UNDECIDED else (inside.low / size, inside.high / size)
    estimate = part.part.estimate
    if found.low == math.inf:
        return f"infinitely many {unit}" if unit else "infinite"
    known_below = math.isfinite(found.low) and (found.low > 0 or not _is_ratio(estimate))
    # most runs never get there, or some do not, so that an estimate would be that of their budgets
    if known_below and math.isinf(found.high) and (math.isinf(found.estimate) or _is_cut_short(estimate)):
        return f"at least {sided_end(found.low, limits, -1)} {unit}".rstrip()
    zero = found.estimate == 0 == found.low < found.high and isinstance(estimate, Runs)
    if zero or (not known_below and math.isfinite(found.high) and _is_cut_short(estimate)):
        return f"at most {sided_end(found.high, limits, 1)} {unit}".rstrip()
    shown = sided_text(replace(found, low=found.estimate, high=found.estimate), limits, unit, least)
    if math.isinf(found.low) and math.isfinite(found.high):
        return f"{shown} (at most {sided_end(found.high, limits, 1)})"
    if math.isinf(found.high) and math.isfinite(found.low) and found.low:
        return f"{shown} (at least {sided_end(found.low, limits, -1)})"
    return sided_text(found, limits, unit, least)


def _is_ratio(estimate: Estimate | None) -> bool:
    return isinstance(estimate, Runs) and estimate.logs


def _is_cut_short(estimate: Estimate | None) -> bool:
    """Return whether some runs are known from one side only."""
    return isinstance(estimate, Runs) and not estimate.whole


def _find_noun(quantity: str) -> tuple[str, str]:
    """Return what a quantity is called, and what follows the name of its method."""
    metric = metric_of(quantity)
    if metric:
        return metric, quantity.removeprefix(metric).strip()
    return _NOUNS.get(quantity, (quantity, ""))


def _find_unit(claim: Claim, parts: Sequence[DecidedPart], units: Units) -> tuple[float, str]:
    """Return the size of the unit that a quantity is shown in, and its name."""
    noun, _ = _find_noun(claim.quantity)
    if claim.test not in ("value", "difference", "order"):
        return 1.0, ""
    if claim.quantity in _TIMES:
        return unit_of(units, _TIMES[claim.quantity])
    return 1.0, next((each.part.subject.cost_unit for each in parts), "") if noun == "cost" else ""


def _range_text(inside: Range, size: float = 1.0, unit: str = "") -> str:
    low, high = (f"{end / size:.12g}" for end in (inside.low, inside.high))
    if inside.two_ended:
        return f"between {low} and {high} {unit}".rstrip()
    side, end = ("below", high) if math.isfinite(inside.high) else ("above", low)
    return f"{side} {end} {unit.removesuffix('s') if end == '1' else unit}".rstrip()
