"""The parts of a claim about some methods on one problem: each a number, and where it must lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from benchfw.analysis.claims import Part
from benchfw.analysis.estimates import Estimate
from benchfw.claims import QUANTITIES, WHEN_DONE, Claim, Range, Subject, metric_of
from benchfw.records import Cell, MethodKind
from benchfw.summary.claims.estimates import (
    Found,
    estimate_arrivals,
    estimate_bias,
    estimate_bound,
    estimate_difference,
    estimate_rate,
    estimate_ratio,
    estimate_value,
    find_bounded,
    sample_at,
)
from benchfw.summary.histories import History, last_seconds
from benchfw.summary.quantities import Sample

NO_BIAS = Range(0.0, 0.0)


class Measurements(NamedTuple):
    """What one comparison measured: its samples, and the trials that they are made of."""

    kind: MethodKind
    samples: Mapping[Cell, Sample]
    trials: Mapping[Cell, Sequence[History]]
    metrics: Sequence[str]
    cost_unit: str = "gradients"


def find_parts(claim: Claim, cells: Sequence[Cell], found: Measurements, subject: Subject) -> Iterator[Part]:
    """Yield the parts of a claim about some methods on one problem."""
    broken = [cell.method for cell in cells if not all(each.finished for each in found.trials[cell])]
    if claim.kind == "estimator" and broken:  # whatever stopped a run of draws would be in its variance
        yield make_part(claim.inside, f"some run of '{broken[0]}' did not finish", subject)
    elif claim.to_target and (
        reason := _find_start_at_target([found.samples[cell] for cell in cells], cells)
    ):
        yield make_part(claim.inside, reason, subject)
    elif claim.test == "order":
        for pair, methods in zip(pairwise(cells), pairwise(subject.methods), strict=True):
            mine, theirs = (found.samples[cell] for cell in pair)
            yield _order(mine, theirs, internal_name(claim.quantity), replace(subject, methods=methods))
    else:
        estimate, subject = _estimate(claim, cells, found, subject)
        part = make_part(claim.inside, estimate, subject)
        if claim.test == "unbiased":
            part = replace(part, disproof=NO_BIAS, denied=not claim.unbiased)
        yield part


def _find_start_at_target(samples: Sequence[Sample], cells: Sequence[Cell]) -> str:
    """Return which method has runs that start at the target, which say nothing of it; nothing if none has."""
    for sample, cell in zip(samples, cells, strict=True):
        if sample.at_start:
            runs = len(sample.arrivals)
            which = "every run" if sample.at_start == runs else f"{sample.at_start} of {runs} runs"
            return f"the first answer meets the target in {which} of '{cell.method}'"
    return ""


def make_part(inside: Range, found: Found, subject: Subject) -> Part:
    """Return a part with its number, or with the reason why there is none."""
    if isinstance(found, Estimate):
        return Part("", inside, found, subject=subject)
    return Part("", inside, reason=found, subject=subject)


def _estimate(
    claim: Claim, cells: Sequence[Cell], found: Measurements, subject: Subject
) -> tuple[Found, Subject]:
    """Return the number that a claim is about, and what there is to say of it."""
    sample, trials = found.samples[cells[0]], found.trials[cells[0]]
    other, quantity = found.samples[cells[-1]], internal_name(claim.quantity)
    if claim.quantity.endswith(WHEN_DONE):
        seconds = last_seconds(found.trials[cells[-1]])
        if not seconds:
            return f"the runs of '{cells[-1].method}' do not all end by themselves", subject
        sample, other = (
            sample_at(found.samples[cell], found.trials[cell], quantity, seconds) for cell in cells
        )
    number: Found
    match claim.test:
        case "ratio":
            number = estimate_ratio(sample, other, quantity)
        case "difference":
            number = estimate_difference(sample, other, quantity)
        case "value":
            number = estimate_value(sample, quantity)
        case "unbiased":
            number = estimate_bias(sample)
        case "reaches":
            number = estimate_arrivals(sample, every=claim.every, wanted=claim.inside.low > 0)
        case "bound":
            metric = claim.metric or find_bounded(trials)
            number, looks = estimate_bound(trials, metric, every=claim.every)
            subject = replace(subject, metric=metric, looks=looks)
        case "rate":
            metric = claim.metric or find_bounded(trials) or next(iter(found.metrics), "")
            number = estimate_rate(trials, metric, claim.law, claim.inside)
            subject = replace(subject, metric=metric)
        case _:
            number = claim.reason
    return number, subject


def _order(mine: Sample, theirs: Sample, quantity: str, subject: Subject) -> Part:
    """Return that one method is better than the next: by their ratio, or, where there is none, difference."""
    ratio = estimate_ratio(mine, theirs, quantity)
    if isinstance(ratio, Estimate) or quantity not in mine.values or quantity not in theirs.values:
        return make_part(Range(high=1.0), ratio, subject)
    better = Range(low=0.0) if mine.is_gain(quantity) else Range(high=0.0)
    return make_part(better, estimate_difference(mine, theirs, quantity), subject)


def internal_name(quantity: str) -> str:
    """Return what a summary calls a quantity."""
    return QUANTITIES[quantity][1] if quantity in QUANTITIES else metric_of(quantity)
