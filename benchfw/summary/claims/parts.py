"""The parts of a claim about some methods on one problem: each a number, and where it must lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from benchfw.analysis.claims import Estimate, Part
from benchfw.claims import QUANTITIES, WHEN_DONE, Claim, Range, metric_of
from benchfw.records import Cell, MethodKind
from benchfw.summary import quantities
from benchfw.summary.claims.estimates import (
    Found,
    estimate_arrivals,
    estimate_bias,
    estimate_bound,
    estimate_difference,
    estimate_rate,
    estimate_ratio,
    estimate_value,
)
from benchfw.summary.histories import History
from benchfw.summary.quantities import Sample

NO_BIAS = Range(0.0, 0.0)


class Measurements(NamedTuple):
    """What one comparison measured: its samples, and the trials that they are made of."""

    kind: MethodKind
    samples: Mapping[Cell, Sample]
    trials: Mapping[Cell, Sequence[History]]
    metrics: Sequence[str]


def find_parts(claim: Claim, cells: Sequence[Cell], found: Measurements) -> Iterator[tuple[str, Part]]:
    """Yield the parts of a claim about some methods on one problem, each with what tells it from others."""
    broken = [cell.method for cell in cells if not all(each.finished for each in found.trials[cell])]
    if claim.kind == "estimator" and broken:  # whatever stopped a run of draws would be in its variance
        yield "", make_part(claim.inside, f"some run of '{broken[0]}' did not finish")
    elif claim.test == "order":
        for one, other in pairwise(cells):
            part = _order(found.samples[one], found.samples[other], internal_name(claim.quantity))
            yield f"{one.method} / {other.method}", part
    else:
        estimate, note = _estimate(claim, cells, found)
        part = make_part(claim.inside, estimate, note=note)
        yield (
            "",
            replace(part, disproof=NO_BIAS, denied=not claim.unbiased) if claim.test == "unbiased" else part,
        )


def make_part(inside: Range, found: Found, *, name: str = "", note: str = "") -> Part:
    """Return a part with its number, or with the reason why there is none."""
    if isinstance(found, Estimate):
        return Part(name, inside, found, note=note)
    return Part(name, inside, reason=found, note=note)


def _estimate(claim: Claim, cells: Sequence[Cell], found: Measurements) -> tuple[Found, str]:
    """Return the number that a claim is about, and a note on it."""
    sample, trials = found.samples[cells[0]], found.trials[cells[0]]
    quantity, note = internal_name(claim.quantity), ""
    number: Found
    match claim.test:
        case "ratio":
            number = estimate_ratio(sample, found.samples[cells[1]], quantity)
        case "difference":
            number = estimate_difference(sample, found.samples[cells[1]], quantity)
        case "value":
            number = estimate_value(sample, quantity)
        case "unbiased":
            number = estimate_bias(sample)
        case "reaches":
            number = estimate_arrivals(sample, every=claim.every, wanted=claim.inside.low > 0)
        case "bound":
            number, note = estimate_bound(trials, claim.metric, every=claim.every)
        case "rate":
            number = estimate_rate(trials, claim.metric, claim.law, found.metrics)
        case _:
            number = claim.reason
    return number, note


def _order(mine: Sample, theirs: Sample, quantity: str) -> Part:
    """Return that one method is better than the next: by their ratio, or, where there is none, difference."""
    ratio = estimate_ratio(mine, theirs, quantity)
    if isinstance(ratio, Estimate) or quantity not in mine.values or quantity not in theirs.values:
        return make_part(Range(high=1.0), ratio)
    better = Range(low=0.0) if mine.is_gain(quantity) else Range(high=0.0)
    return make_part(better, estimate_difference(mine, theirs, quantity))


def internal_name(quantity: str) -> str:
    """Return what a summary calls a quantity."""
    if quantity in QUANTITIES:
        return QUANTITIES[quantity][1]
    return f"{metric_of(quantity)}{quantities.WHEN_DONE if quantity.endswith(WHEN_DONE) else ''}"
