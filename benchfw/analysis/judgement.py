"""The words for what changed from one run to another: all of their differences judged together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from benchfw.analysis.compare import Difference
from benchfw.analysis.intervals import LEVEL, Interval
from benchfw.analysis.significance import BUDGET, benjamini_hochberg, least_equality, least_probability

Word: TypeAlias = Literal["regressed", "improved", "within noise", "no change", "identical"]
WORDS: tuple[Word, ...] = ("regressed", "improved", "within noise", "no change", "identical")

FLOOR = 0.05
"""A change by a smaller share than this is not worth a word, however sure it is."""

FEWEST = 3
"""Two repetitions a run are never enough to tell a change from noise."""


@dataclass(frozen=True)
class Change:
    """A difference, its p-value adjusted for all that were judged with it, and the word for it.

    `ratio` is a difference where `signed`.
    """

    ratio: Interval
    probability: float
    adjusted: float
    word: Word
    signed: bool = False


def judge(differences: Sequence[Difference], floor: float = FLOOR, methods: int = 1) -> list[Change]:
    """Return the word for each difference, with Benjamini & Hochberg's correction over all of them.

    identical: the same values bit by bit in both, which is not a test and claims nothing about other runs.
    regressed or improved: the adjusted p-value is at most 5 %, and the estimate is above 1 + floor, or below
    1 / (1 + floor). no change: the whole interval is between those two, and so is the ratio by the rule of a
    report's "equal", which allows for slow runs that are rare. within noise: neither can be said.
    One whose estimate is within the floor, whose interval holds 1 or that has too few runs is never claimed,
    so its p-value counts as 1: else many small ones, however sure, would let the others pass for surer than
    they are. So a p-value of at most 5 % and the words regressed or improved always come together.
    What clusters of runs or rare runs do counts once for each of the `methods`.
    """
    allowed = BUDGET / max(methods, 1)
    probabilities = np.array([_probability(each, floor, allowed) for each in differences], dtype=np.float64)
    equalities = np.array([_equality(each, floor, allowed) for each in differences], dtype=np.float64)
    tested = np.array([not each.identical for each in differences], dtype=np.bool_)
    adjusted, alike = np.ones_like(probabilities), np.ones_like(equalities)
    adjusted[tested] = benjamini_hochberg(probabilities[tested])
    alike[tested] = benjamini_hochberg(equalities[tested])
    return [
        Change(
            each.ratio,
            float(own),
            float(together),
            _word(each, float(together), float(equal)),
            each.size is not None,
        )
        for each, own, together, equal in zip(differences, probabilities, adjusted, alike, strict=True)
    ]


def _probability(found: Difference, floor: float, allowed: float) -> float:
    """Return the p-value of what could be a change; 1 of what could not."""
    ratio = found.ratio
    # one long trial with an interval of its own counts; two or a bare one do not
    enough = ratio.count >= FEWEST or (ratio.count == 1 and ratio.bounded)
    if not enough or math.isnan(found.probability) or not _beyond(found, floor):
        return 1.0
    if found.exact or ratio.count == 1:
        return found.probability
    return max(found.probability, least_probability(ratio.count, allowed))


def _beyond(found: Difference, floor: float) -> bool:
    """Whether the estimate is beyond the floor, and the interval leaves out what two that are alike have."""
    ratio, null = found.ratio, found.null
    if not (found.exact or ratio.low > null or ratio.high < null):
        return False
    if found.size is not None:
        return abs(ratio.estimate) > floor * found.size
    return not 1 / (1 + floor) <= ratio.estimate <= 1 + floor


def _equality(found: Difference, floor: float, allowed: float) -> float:
    """Return the p-value of 'outside of the floor'; 1 where the interval is not within."""
    ratio = found.ratio
    if not (1 / (1 + floor) <= ratio.low and ratio.high <= 1 + floor) or found.size is not None:
        return 1.0
    return max(found.equality(1 + floor), least_equality(ratio.count, allowed))


def _word(found: Difference, adjusted: float, equal: float) -> Word:
    if found.identical:
        return "identical"
    if adjusted <= 1 - LEVEL:
        return "regressed" if found.ratio.estimate > found.null else "improved"
    return "no change" if equal <= 1 - LEVEL else "within noise"
