"""Tests that are judged together: one error budget for all sentences of a report.

Functions take p-values with the family along the last axis; leading axes are other reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import Floats, Values

BUDGET = 0.05
"""The false discovery rate of a report's verdicts; when nothing differs, the chance of any false one."""


@dataclass(frozen=True, eq=False)
class Decisions:
    """What a family of comparisons allows: arrays of the family's shape.

    `different` and `equal` exclude each other. `level` is that of the interval that decided: it leaves out 1
    where `different`, lies within the margin where `equal`, and does neither elsewhere.
    """

    different: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    level: Floats


def decide(difference: Values, equality: Values, budget: float = BUDGET) -> Decisions:
    """Return what is different, what is equal, and the level of each interval.

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


def benjamini_hochberg(probabilities: Values) -> Floats:
    """Return adjusted p-values: of what is rejected at level a, a share of a at most is false on average.

    Benjamini & Hochberg 1995; also valid for positively dependent tests (Benjamini & Yekutieli 2001). With no
    true effect at all it bounds the chance of any rejection, as Holm's does.
    """
    given = np.asarray(probabilities, dtype=np.float64)
    size = given.shape[-1]
    order = np.argsort(given, axis=-1)[..., ::-1]
    scaled = np.take_along_axis(given, order, -1) * (size / np.arange(size, 0, -1))
    adjusted = np.empty_like(given)
    np.put_along_axis(adjusted, order, np.minimum.accumulate(scaled, axis=-1), -1)
    return np.minimum(adjusted, 1.0)


def holm(probabilities: Values) -> NDArray[Any]:
    """Return Holm's adjusted p-values: any false rejection at level a has probability a at most.

    Valid under every dependence of the tests, and never weaker than Bonferroni's (Holm 1979).
    """
    given = np.asarray(probabilities, dtype=np.float64)
    order = np.argsort(given)
    adjusted = np.empty_like(given)
    adjusted[order] = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    return np.minimum(adjusted, 1.0)
