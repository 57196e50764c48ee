"""What may become a sentence on the first screen, each with its evidence, decided together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchfw.analysis.decisions import Contrast, Decision, Family, Reason, decide_family, decide_part
from benchfw.analysis.evidence import Arrivals, Evidence
from benchfw.analysis.pairing import pair_differences
from benchfw.records import Cell
from benchfw.summary.columns import pair_values
from benchfw.summary.draws import SPREADS, DrawSample
from benchfw.summary.model import Comparison, Sweep
from benchfw.summary.quantities import TO_TARGET, WHEN_DONE, Sample
from benchfw.summary.sweeps import with_leader

ARRIVALS = "arrivals"
"""How many of its runs a method brings to the target, against those of its reference."""

NOTABLE_DRIFT = 0.25
"""Below so many standard errors, what the stopping of runs may have done to a mean is not spoken of."""

_FIRST_SCREEN = {
    "optimizer": ("cost_to_target",),
    "estimator": (),
    "kernel": ("seconds_per_call",),
}


def with_decisions(
    compared: Sequence[tuple[Comparison, Sequence[Contrast], Mapping[Cell, DrawSample]]],
) -> Iterator[Comparison]:
    """Yield the comparisons with all that is decided about them: one family of tests for a whole report.

    Its members are the contrasts, the biases that can be tested, in the mean and in single runs, and each
    family of a sweep. Samples are those of estimators.
    """
    biases = [_testable_biases(comparison, samples) for comparison, _, samples in compared]
    singles = sum(
        not math.isnan(samples[cell].single_probability())
        for (*_, samples), cells in zip(compared, biases, strict=True)
        for cell in cells
    )
    others = sum(map(len, biases)) + singles + sum(len(_swept(comparison)) for comparison, *_ in compared)
    every = [each for _, group, _ in compared for each in group]
    family = Family(sum(each.testable for each in every), others)
    decided = iter(decide_family(every, family.budget))
    for (comparison, group, samples), tested in zip(compared, biases, strict=True):
        decisions = {(each.cell, each.quantity): next(decided) for each in group}
        if comparison.kind == "estimator":
            decisions |= dict(_parts(comparison, samples, decisions))
        found = replace(comparison, decisions=decisions, family=family, tested=tuple(tested))
        yield _with_leader(_with_biases(found, samples), samples)


def _testable_biases(comparison: Comparison, samples: Mapping[Cell, DrawSample]) -> list[Cell]:
    """Return the estimators whose runs all finished and whose draws can tell a bias."""
    return [
        cell
        for cell, sample in samples.items()
        if "bias" in sample.values
        and not comparison.runs(cell)[0]
        and not math.isnan(sample.unbiased_probability())
    ]


def _swept(comparison: Comparison) -> Mapping[str, Mapping[float, Cell]]:
    """Return the families of estimators of which one may have the smallest variance at every value."""
    sweep = comparison.sweep
    return sweep.families if comparison.kind == "estimator" and sweep and len(sweep.families) > 1 else {}


def _with_biases(comparison: Comparison, samples: Mapping[Cell, DrawSample]) -> Comparison:
    """Return the comparison with the estimators whose bias is not noise, and those that cannot be tested."""
    level = comparison.family.others_level
    biased = {
        cell: samples[cell].bias_interval(level)
        for cell in comparison.tested
        if samples[cell].unbiased_probability() <= 1 - level
    }
    singly = [
        cell
        for cell in comparison.tested
        if cell not in biased and samples[cell].single_probability() <= 1 - level
    ]
    pools = {cell: sample.pool for cell, sample in samples.items() if "variance" in sample.values}
    return replace(
        comparison,
        biased=biased,
        biased_singly={
            cell: samples[cell].single_bias(level) for cell in singly if not samples[cell].dependent()
        },
        dependent=tuple(cell for cell in singly if samples[cell].dependent()),
        uneven=tuple(cell for cell, pool in pools.items() if pool is not None and pool.drift > NOTABLE_DRIFT),
        narrow=tuple(cell for cell, pool in pools.items() if pool is None or not pool.broad),
        scarce=tuple(cell for cell, pool in pools.items() if pool is None or not pool.decisive),
    )


def _with_leader(comparison: Comparison, samples: Mapping[Cell, DrawSample]) -> Comparison:
    """Return the comparison with the leader of its sweep.

    A family leads if it does at all values, so that the one value at which it is closest decides whether that
    is false: a family costs one test, however many values it has (Berger 1982). It must have the smaller
    variance in the typical run, too.
    """
    intervals = {
        cell: samples[cell].spread_interval("variance", comparison.family.others_level)
        for members in _swept(comparison).values()
        for cell in members.values()
        if "variance" in samples[cell].values
    }
    if not intervals or comparison.sweep is None:
        return comparison
    sweep = with_leader(comparison.sweep, intervals)
    return replace(comparison, sweep=sweep if _leads_typically(sweep, samples) else comparison.sweep)


def _leads_typically(sweep: Sweep, samples: Mapping[Cell, DrawSample]) -> bool:
    pairs = [
        (members[value], sweep.families[sweep.leader][value])
        for family, members in sweep.families.items()
        for value in sweep.values
        if sweep.leader and family != sweep.leader
    ]
    found = (samples[cell].evidence(samples[first], "variance") for cell, first in pairs)
    return all(evidence is None or evidence.typical for evidence in found)


def _parts(
    comparison: Comparison, samples: Mapping[Cell, DrawSample], decisions: Mapping[tuple[Cell, str], Decision]
) -> Iterator[tuple[tuple[Cell, str], Decision]]:
    """Yield what variance and time say where their product with each other differs from the reference's."""
    reference = samples[comparison.reference]
    for (cell, _), decision in decisions.items():
        for quantity in ("variance", comparison.clocked("seconds_per_draw")):
            evidence = samples[cell].evidence(reference, quantity) if decision.differs else None
            if evidence is not None and evidence.testable:
                yield (cell, quantity), decide_part(evidence, decision.level)


def first_screen(comparison: Comparison) -> list[str]:
    """Return the quantities of which the verdict on a comparison may speak.

    Where the suite names no target, also where the methods end, or where they are when the reference is done.
    """
    found = list(_FIRST_SCREEN[comparison.kind])
    if comparison.kind == "estimator":
        found.append(comparison.product)
    if comparison.kind == "optimizer":
        found.append(comparison.clocked("seconds_to_target"))
    if any(target.automatic for target in comparison.targets):
        done = [f"{metric}{WHEN_DONE}" for metric in comparison.metrics[:2]]
        done = [name for name in done if comparison.row(comparison.reference, name)]
        found += done or [comparison.targets[0].metric]
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
    return None, Reason.FEW_DRAWS if quantity in SPREADS and sample.kind == "estimator" else Reason.NO_VALUE


def _arrivals(sample: Sample, reference: Sample) -> Arrivals | None:
    """Return the counts of arrivals; None where all runs of both arrive, or none does."""
    (mine, runs), (theirs, their_runs) = sample.reached, reference.reached
    if not runs or not their_runs or mine + theirs in (0, runs + their_runs):
        return None
    return Arrivals(mine, runs, theirs, their_runs)
