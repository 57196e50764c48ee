"""Which comparisons may become a sentence on the first screen, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from benchfw.analysis.decisions import Contrast, Decision, Reason, decide_family, decide_part
from benchfw.analysis.evidence import Arrivals, Evidence
from benchfw.records import Cell
from benchfw.summary.model import Comparison
from benchfw.summary.quantities import SPREADS, TO_TARGET, WHEN_DONE, Sample

ARRIVALS = "arrivals"
"""How many of its runs a method brings to the target, against those of its reference."""

_FIRST_SCREEN = {
    "optimizer": ("cost_to_target", "seconds_to_target"),
    "estimator": (),
    "kernel": ("seconds_per_call",),
}


def with_decisions(
    compared: Sequence[tuple[Comparison, Sequence[Contrast], Mapping[Cell, Sample]]],
) -> Iterator[Comparison]:
    """Yield the comparisons with the decisions on their contrasts: one family for all of a report.

    Samples are those of estimators, for the parts of what differs.
    """
    decided = iter(decide_family([each for _, group, _ in compared for each in group]))
    for comparison, group, samples in compared:
        decisions = {(each.cell, each.quantity): next(decided) for each in group}
        if comparison.kind == "estimator":
            decisions |= dict(_parts(comparison, samples, decisions))
        yield replace(comparison, decisions=decisions)


def _parts(
    comparison: Comparison, samples: Mapping[Cell, Sample], decisions: Mapping[tuple[Cell, str], Decision]
) -> Iterator[tuple[tuple[Cell, str], Decision]]:
    """Yield what variance and time say where their product with each other differs from the reference's."""
    reference = samples[comparison.reference]
    for (cell, _), decision in decisions.items():
        for quantity in ("variance", "seconds_per_draw"):
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
                yield Contrast(cell, reference, quantity, evidence, reason)
        arrivals = _arrivals(sample, samples[reference])
        if arrivals is not None:
            yield Contrast(cell, reference, ARRIVALS, arrivals)


def _evidence(sample: Sample, reference: Sample, quantity: str) -> tuple[Evidence | None, Reason]:
    """Return what the pairs say about a ratio, or why there is none."""
    values = [*sample.values[quantity].values(), *reference.values[quantity].values()]
    if any(value < 0 for value in values):
        return None, Reason.SIGN
    if quantity in TO_TARGET and 0.0 in values:
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
