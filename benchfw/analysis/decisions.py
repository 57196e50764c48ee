"""One family a report: all comparisons that may become a sentence on the first screen, decided together.

docs/statistics.md has the rule, its sources and its measured error. `report/verdicts/` only words what is
decided here.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.evidence import Evidence, PairedLogs
from benchfw.analysis.intervals import Floats, Interval, Values
from benchfw.analysis.power import FACTOR, largest_spread, repetitions_needed, too_few_to_plan
from benchfw.analysis.significance import (
    BUDGET,
    MARGIN,
    benjamini_hochberg,
    least_equality,
    least_probability,
)
from benchfw.records import Cell


class Verdict(Enum):
    """What a report may say about a method and its reference in one quantity; lower is better."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    ALIKE = "within 10 % in each pair"
    UNDECIDED = "no difference beyond noise"
    NOT_COMPARABLE = "not comparable"


class Reason(Enum):
    """Why two methods are not comparable in a quantity."""

    NONE = ""
    TOO_FEW = "too few runs"
    NO_VALUE = "no pair of runs with a value"
    AT_START = "it starts at the target"
    ROUNDING = "both end where rounding decides"
    UNFINISHED = "some runs did not finish"
    FEW_DRAWS = "too few draws carry the variance"
    CONSTANT = "the draws of one never vary"


@dataclass(frozen=True, eq=False)
class Contrast:
    """One comparison of a method with its reference; without evidence it has the reason why.

    `coarse` says that a difference of less than the margin is not called one.
    """

    cell: Cell
    reference: Cell
    quantity: str
    evidence: Evidence | None = None
    reason: Reason = Reason.NONE
    coarse: bool = False

    @property
    def testable(self) -> bool:
        """Whether it could ever be decided, and so is part of the family."""
        return self.evidence is not None and self.evidence.testable


@dataclass(frozen=True)
class Decision:
    """The word for a contrast, and its interval: the one that decided it, or a wider one.

    Where several methods differ, their intervals hold for all of them at once; `level` is that of each, but
    for a near end that would reach 1, which stays as it decided. They are those of ratios, or of differences
    where the quantity has a sign (`evidence.null` is 0). `needed` is how many repetitions would show a factor
    of 1.25 with 90 % chance, where that is undecided; `unplanned` says that there are too few runs to tell.
    """

    verdict: Verdict
    interval: Interval | None = None
    level: float = 1 - BUDGET
    needed: int | None = None
    unplanned: bool = False
    reason: Reason = Reason.NONE
    evidence: Evidence | None = field(default=None, compare=False, repr=False)

    @property
    def differs(self) -> bool:
        """Whether one of the two is better."""
        return self.verdict in (Verdict.BETTER, Verdict.WORSE)

    @property
    def assumes_normal(self) -> bool:
        """Whether a difference rests on so few pairs that they are taken as normal."""
        return self.differs and self.evidence is not None and self.evidence.assumed_normal


ASIDE = 0.005
"""The part of the budget that biases and sweeps have in a report that compares methods."""

NO_VALUE = Decision(Verdict.NOT_COMPARABLE, reason=Reason.NO_VALUE)


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a family of comparisons allows: arrays of the family's shape.

    `different` and `equal` exclude each other. `level` is that of the interval that decided: it leaves out 1
    where `different`, and lies within the margin where `equal`.
    """

    different: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    level: Floats


@dataclass(frozen=True)
class Family:
    """How many tests share the error budget of a report: comparisons, and others (biases, sweeps).

    Where a report has both, the others have a tenth of the budget: each is decided by itself, with
    Bonferroni's level, so that a method is seldom called biased wrongly however many comparisons differ.
    """

    comparisons: int = 0
    others: int = 0

    @property
    def budget(self) -> float:
        """Return the false discovery rate of the comparisons."""
        return BUDGET - ASIDE if self.others else BUDGET

    @property
    def lone_level(self) -> float:
        """Return the level of an interval that alone leaves out 1."""
        return 1 - self.budget / max(self.comparisons, 1)

    @property
    def others_level(self) -> float:
        """Return the level of the intervals that decide the others."""
        return 1 - (ASIDE if self.comparisons else BUDGET) / max(self.others, 1)


def decide(difference: Values, equality: Values, budget: float | Floats = BUDGET) -> Decisions:
    """Return what is different, what is equal, and the level of each interval; the family is the last axis.

    `difference` has the p-values of 'the ratio is 1', `equality` those of 'the ratio is outside the margin'.
    Each of the two is selected by Benjamini & Hochberg (1995) among all m comparisons; since at most one of
    a comparison's two hypotheses is true, m are true at most, and the false discovery rate of both words
    together is at most the budget. Intervals have the false-coverage-rate level 1 - R budget / m of Benjamini
    & Yekutieli (2005), R being the number selected; what is not selected gets the level at which it failed.
    """
    unlike, alike = np.asarray(difference, dtype=np.float64), np.asarray(equality, dtype=np.float64)
    size = unlike.shape[-1]
    if size == 0:
        empty = np.zeros(unlike.shape, dtype=np.bool_)
        return Decisions(empty, empty, np.zeros(unlike.shape))
    different = benjamini_hochberg(unlike) <= budget
    equal = benjamini_hochberg(alike) <= budget
    many, few = (np.sum(found, axis=-1, keepdims=True) for found in (different, equal))
    counts = np.where(different, many, np.where(equal, few, np.minimum(many, few) + 1))
    return Decisions(different, equal & ~different, 1 - np.minimum(counts, size) * budget / size)


def decide_family(contrasts: Sequence[Contrast], budget: float = BUDGET) -> list[Decision]:
    """Return the decision on each contrast: those that could ever be decided share one error budget."""
    judged = [each for each in contrasts if each.testable]
    methods = len({(each.cell, each.reference) for each in judged})
    pieces = [each.evidence for each in judged if each.evidence is not None]
    allowed = budget / max(methods, 1)
    found = decide(
        [max(each.difference, _least(each, allowed)) for each in pieces],
        [max(each.equality, least_equality(each.count, allowed)) for each in pieces],
        budget,
    )
    words = iter(zip(pieces, found.different, found.equal, found.level, strict=True))
    decided = [
        _decision(*next(words), allowed, coarse=each.coarse) if each.testable else _refuse(each)
        for each in contrasts
    ]
    pairs = list(zip(decided, contrasts, strict=True))
    sizes = Counter(_place(contrast) for decision, contrast in pairs if decision.differs)
    return [
        replace(
            _hold_together(decision, contrast.evidence, sizes[_place(contrast)]), evidence=contrast.evidence
        )
        for decision, contrast in pairs
    ]


def _place(contrast: Contrast) -> tuple[str, str, str]:
    return contrast.cell.problem, contrast.cell.kind, contrast.quantity


def _hold_together(decision: Decision, evidence: Evidence | None, count: int) -> Decision:
    """Return a difference with an interval that holds for all of so many methods that differ at once.

    A report names the one that seems furthest ahead, whose ratio is more likely too large than too small.
    Where the wider interval reaches 1, its near end is that of the one that decided.
    """
    found = decision.interval
    if not decision.differs or found is None or evidence is None or count == 1:
        return decision
    level = 1 - (1 - decision.level) / count
    wide = evidence.interval(level)
    below = found.estimate < evidence.null
    low = wide.low if below or wide.low > evidence.null else found.low
    high = wide.high if not below or wide.high < evidence.null else found.high
    interval = replace(found, low=min(low, found.low), high=max(high, found.high))
    return replace(decision, interval=interval, level=level)


def decide_part(evidence: Evidence, level: float) -> Decision:
    """Return the decision on a part of a difference that the family selected, by the interval at its level.

    Parts of what is not selected are not spoken of, so that they cost the family nothing (Benjamini &
    Bogomolov 2014).
    """
    equality = max(evidence.equality, least_equality(evidence.count, 1 - level))
    found = _decision(evidence, evidence.difference <= 1 - level, equality <= 1 - level, level)
    return replace(found, evidence=evidence)


def _decision(
    evidence: Evidence,
    different: bool,
    equal: bool,
    level: float,
    allowed: float = BUDGET,
    *,
    coarse: bool = False,
) -> Decision:
    found = evidence.interval(float(level))
    if different and coarse and evidence.null == 1 and found.low >= 1 / MARGIN and found.high <= MARGIN:
        equal = evidence.equality <= 1 - level and least_equality(evidence.count, allowed) == 0
        different = not (equal or evidence.alike)
    if different:
        lower = found.estimate < evidence.null
        return Decision(Verdict.BETTER if lower else Verdict.WORSE, found, float(level))
    if equal:
        return Decision(Verdict.EQUAL, found, float(level))
    factor = FACTOR / math.exp(min(evidence.width, 700.0)) if isinstance(evidence, PairedLogs) else FACTOR
    needed, unplanned = _plan(evidence, float(level), factor, allowed)
    # too few pairs for an interval at the level that is asked for have one at theirs, which may leave out 1
    shown = min(float(level), 1 - _least(evidence, allowed))
    if evidence.alike:
        return Decision(Verdict.ALIKE, evidence.interval(shown), shown)
    return Decision(Verdict.UNDECIDED, evidence.interval(shown), shown, needed, unplanned=unplanned)


def _plan(evidence: Evidence, level: float, factor: float, allowed: float) -> tuple[int | None, bool]:
    """Return how many pairs would show a factor, and whether these are too few to say so."""
    spread = largest_spread(evidence.spread, evidence.count)
    if not math.isfinite(spread) or factor <= 1:  # the brackets alone are as wide as the factor
        return None, False
    needed = repetitions_needed(spread, level, factor, allowed)
    unplanned = too_few_to_plan(needed, evidence.count)
    return None if unplanned else needed, unplanned


def _least(evidence: Evidence, allowed: float) -> float:
    return 0.0 if evidence.exact else least_probability(evidence.count, allowed)


def _refuse(contrast: Contrast) -> Decision:
    if contrast.evidence is None:
        return Decision(Verdict.NOT_COMPARABLE, reason=contrast.reason)
    found = contrast.evidence.interval(1 - BUDGET)
    return Decision(Verdict.NOT_COMPARABLE, found, reason=Reason.TOO_FEW)
