"""What may become a sentence on the first screen, each with its evidence, decided together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from benchfw.analysis.decisions import Contrast, Decision, Family, Reason, decide_family, decide_part
from benchfw.analysis.evidence import Arrivals, Evidence
from benchfw.analysis.intervals import Interval
from benchfw.analysis.pairing import pair_differences
from benchfw.analysis.significance import least_probability
from benchfw.records import Cell
from benchfw.summary.columns import pair_values
from benchfw.summary.draws import SPREADS, DrawSample
from benchfw.summary.model import Comparison, Lead
from benchfw.summary.quantities import TO_TARGET, Sample, sure_arrivals
from benchfw.summary.sweeps import count_pairs, find_leads

ARRIVALS = "arrivals"
"""How many of its runs a method brings to the target, against those of its reference."""

_FIRST_SCREEN = {
    "optimizer": ("cost_to_target",),
    "estimator": (),
    "kernel": ("seconds_per_call",),
}


def with_decisions(
    compared: Sequence[tuple[Comparison, Sequence[Contrast], Mapping[Cell, DrawSample]]],
) -> Iterator[Comparison]:
    """Yield the comparisons with all that is decided about them: one family of tests for a whole report.

    Its members are the contrasts, the biases that can be tested, and what may be said of the families of a
    sweep at every value. Samples are those of estimators.
    """
    biases = [_testable_biases(comparison, samples) for comparison, _, samples in compared]
    others = sum(map(len, biases)) + sum(_count_leads(comparison) for comparison, *_ in compared)
    every = [each for _, group, _ in compared for each in group]
    family = Family(sum(each.testable for each in every), others)
    decided = iter(decide_family(every, family.budget))
    for (comparison, group, samples), tested in zip(compared, biases, strict=True):
        decisions = {(each.cell, each.quantity): next(decided) for each in group}
        if comparison.kind == "estimator":
            decisions |= dict(_parts(comparison, samples, decisions))
        found = replace(comparison, decisions=decisions, family=family, tested=tuple(tested))
        yield _with_leads(_with_biases(found, samples), group, samples)


def _testable_biases(comparison: Comparison, samples: Mapping[Cell, DrawSample]) -> list[Cell]:
    """Return the estimators whose runs all finished and whose draws can tell a bias."""
    return [
        cell
        for cell, sample in samples.items()
        if "bias" in sample.values
        and not comparison.runs(cell)[0]
        and not math.isnan(sample.unbiased_probability())
    ]


def _count_leads(comparison: Comparison) -> int:
    """Return how many statements may be made about the families of a sweep at every value."""
    sweep = comparison.sweep
    if sweep is None or not sweep.contested or not comparison.paired:
        return 0
    return count_pairs(sweep) * len(swept_quantities(comparison))


def _with_biases(comparison: Comparison, samples: Mapping[Cell, DrawSample]) -> Comparison:
    """Return the comparison with the estimators whose bias is not noise, and those that cannot be tested."""
    level = comparison.family.others_level
    biased = {
        cell: samples[cell].bias_interval(level)
        for cell in comparison.tested
        if samples[cell].unbiased_probability() <= 1 - level
    }
    pools = {cell: sample.pool for cell, sample in samples.items() if "variance" in sample.values}
    return replace(
        comparison,
        biased=biased,
        draws={cell: round(float(pool.draws)) for cell, pool in pools.items() if pool is not None},
        narrow=tuple(cell for cell, pool in pools.items() if pool is None or not pool.broad),
        scarce=tuple(cell for cell, pool in pools.items() if pool is None or not pool.decisive),
    )


def _with_leads(
    comparison: Comparison, contrasts: Sequence[Contrast], samples: Mapping[Cell, DrawSample]
) -> Comparison:
    """Return the comparison with the families of its sweep that are below others at every value.

    One family is below another if it is at all values, so that the value at which they are closest decides
    whether that is false: a pair costs one test, however many values it has (Berger 1982). It must hold for
    the typical run, too.
    """
    sweep = comparison.sweep
    if sweep is None or not _count_leads(comparison):
        return comparison
    level = comparison.family.others_level
    leads: list[Lead] = []
    for quantity in swept_quantities(comparison):
        if comparison.kind == "estimator":
            ratio = partial(_spread_ratio, comparison, samples, quantity, level)
        else:
            evidence = {
                (each.cell, each.reference): each.evidence for each in contrasts if each.quantity == quantity
            }
            ratio = partial(_paired_ratio, evidence, level)
        leads += find_leads(sweep, quantity, ratio)
    return replace(comparison, sweep=replace(sweep, leads=tuple(leads)))


def _spread_ratio(
    comparison: Comparison,
    samples: Mapping[Cell, DrawSample],
    quantity: str,
    level: float,
    upper: Cell,
    lower: Cell,
) -> Interval | None:
    """Return the paired ratio of two estimators whose runs all finished."""
    known = all(quantity in samples[each].values and not comparison.runs(each)[0] for each in (upper, lower))
    evidence = samples[upper].evidence(samples[lower], quantity) if known else None
    if evidence is None or not evidence.testable or not evidence.typical:
        return None
    return evidence.interval(level)


def _paired_ratio(
    found: Mapping[tuple[Cell, Cell], Evidence | None], level: float, upper: Cell, lower: Cell
) -> Interval | None:
    """Return one method's paired ratio to another, where the one is the reference of the other."""
    evidence = found.get((upper, lower), found.get((lower, upper)))
    if evidence is None or not evidence.testable or not evidence.typical or evidence.null != 1:
        return None
    if not evidence.exact and least_probability(evidence.count, 1 - level) > 1 - level:
        return None
    ratio = evidence.interval(level)
    return ratio if (upper, lower) in found else ratio.inverted()


def _parts(
    comparison: Comparison, samples: Mapping[Cell, DrawSample], decisions: Mapping[tuple[Cell, str], Decision]
) -> Iterator[tuple[tuple[Cell, str], Decision]]:
    """Yield what variance and time say where their product with each other differs from the reference's."""
    for (cell, _), decision in decisions.items():
        reference = samples[comparison.reference_for(cell)]
        for quantity in ("variance", comparison.clocked("seconds_per_draw")):
            evidence = samples[cell].evidence(reference, quantity) if decision.differs else None
            if evidence is not None and evidence.testable:
                yield (cell, quantity), decide_part(evidence, decision.level)


def swept_quantities(comparison: Comparison) -> list[str]:
    """Return the quantities in which families of a sweep are compared at every value."""
    if comparison.kind == "estimator":
        return ["variance", comparison.product]
    return ["cost_to_target", comparison.clocked("seconds_to_target")]


def first_screen(comparison: Comparison) -> list[str]:
    """Return the quantities of which the verdict on a comparison may speak.

    Where the suite names no target, also where the methods end, unless the reference ended by itself: it did
    not have the budget of the others.
    """
    found = list(_FIRST_SCREEN[comparison.kind])
    if comparison.kind == "estimator":
        found.append(comparison.product)
    if comparison.kind == "optimizer":
        found.append(comparison.clocked("seconds_to_target"))
    stopped = comparison.tallies[comparison.reference].by_itself
    if any(target.automatic for target in comparison.targets) and not stopped:
        found.append(comparison.targets[0].metric)
    return found


def find_contrasts(comparison: Comparison, samples: Mapping[Cell, Sample]) -> Iterator[Contrast]:
    """Yield the comparisons of each method with its reference that may become a sentence."""
    for cell, sample in samples.items():
        reference = comparison.reference_for(cell)
        if cell == reference:
            continue
        # whatever stopped a run of draws would be in its variance, had it been counted
        draws = comparison.kind == "estimator"
        broken = draws and (comparison.runs(cell)[0] or comparison.runs(reference)[0])
        for quantity in first_screen(comparison):
            if quantity in sample.values and quantity in samples[reference].values:
                evidence, reason = _evidence(sample, samples[reference], quantity)
                if broken:
                    evidence, reason = None, Reason.UNFINISHED
                yield Contrast(cell, reference, quantity, evidence, reason, quantity in TO_TARGET)
        arrivals = _arrivals(sample, samples[reference])
        if arrivals is not None:
            yield Contrast(cell, reference, ARRIVALS, arrivals)


def _evidence(sample: Sample, reference: Sample, quantity: str) -> tuple[Evidence | None, Reason]:
    """Return what the pairs say about a ratio, or why there is none."""
    mine, theirs = sample.values[quantity], reference.values[quantity]
    values = [*mine.values(), *theirs.values()]
    if not sample.has_ratio(quantity, values):
        _, *pairs = pair_values(mine, theirs)
        apart = pair_differences(*pairs)
        return apart, Reason.NONE if apart else Reason.UNFINISHED
    if not sample.comparable(reference, quantity):
        return None, Reason.AT_START
    evidence = sample.evidence(reference, quantity)
    if evidence is not None:
        return evidence, Reason.NONE
    if quantity not in SPREADS or sample.kind != "estimator":
        return None, Reason.NO_VALUE
    constant = any(not any(each.values[quantity].values()) for each in (sample, reference))
    return None, Reason.CONSTANT if constant else Reason.FEW_DRAWS


def _arrivals(sample: Sample, reference: Sample) -> Arrivals | None:
    """Return the counts of arrivals; None where all runs of both arrive, or none does."""
    (mine, runs), (theirs, their_runs) = sample.reached, reference.reached
    if not runs or not their_runs or mine + theirs in (0, runs + their_runs):
        return None
    mine, theirs = sure_arrivals(sample, reference)
    return Arrivals(mine, runs, theirs, their_runs)
