"""Tests of one comparison, and of many together: p-values, intervals, and the repetitions needed.

Each pair's log ratio is known to lie between `low` and `high`: the same number twice where it was seen, a
bracket where a target was met between two looks, an infinite end where only a bound is known. Pairs are the
last axis; leading axes are other comparisons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchfw.analysis.intervals import Floats, Values, normal_probability
from benchfw.analysis.medians import is_typical, median_ends

FEWEST_PAIRS = 3
"""Below three pairs no verdict is made."""

MARGIN = 1.1
"""Two quantities are equal if their ratio lies between 1/MARGIN and MARGIN."""

SELDOM = 0.1
"""What happens in this share of the runs may make two methods unequal; what is rarer is not looked for."""

BUDGET = 0.05
"""The false discovery rate of a report's verdicts; when nothing differs, the chance of any false one."""

_MANY = 100  # from so many values on the rank sum is as good as normal


def least_probability(count: int, allowed: float = BUDGET) -> float:
    """Return the p-value below which n pairs say nothing: 2/4^n, or 0 where that is a chance to be allowed.

    Two methods that are alike and whose runs fall into two clusters differ by the same factor in all n pairs
    with a chance of 2/4^n, and then Student's test would be as sure as it likes. The clusters are those of
    runs, the same in all quantities of a method on a problem, so that a method counts once: what is allowed
    to each is the budget over the number of methods.
    """
    return _if_beyond(2 * 0.25**count, allowed)


def least_equality(count: int, allowed: float = BUDGET) -> float:
    """Return the same for 'the ratio is outside the margin': 0.9^n, or 0.

    With this chance n pairs do not show what happens in one run of ten, and that one may take so long that
    the ratio is outside.
    """
    return _if_beyond((1 - SELDOM) ** count, allowed)


def _if_beyond(chance: float, allowed: float) -> float:
    return chance if chance > allowed * (1 + 1e-9) else 0.0


def difference_probability(low: Values, high: Values) -> Floats:
    """Return the two-sided p-value of 'the ratio is 1' by Student's paired t test of the log ratios.

    With brackets the end that is nearer to 1 is tested, so that no place inside them could change the result.
    What is not true of the typical run (`is_typical`) has a p-value of 1.
    """
    under, over = moments(low), moments(high)
    found = _two_sided(np.minimum(_above(*under, 0.0), _above(-over[0], *over[1:], 0.0)))
    return np.where(_atypical(low, high, found <= BUDGET), 1.0, found)


def equality_probability(low: Values, high: Values, margin: float = MARGIN) -> Floats:
    """Return the smallest a for which the interval of level 1 - a lies within [1/margin, margin].

    Twice the p-value of the two one-sided tests (Schuirmann 1987), so that the printed interval lies within.
    So must that of the pairs and one more like the outermost on either side: where a few pairs are slow, the
    interval of Student reaches too little to their side. Where the median's interval is the wider one, it
    must lie within, too.
    """
    edge = math.log(margin)
    inner, outer = np.asarray(low, dtype=np.float64), -np.asarray(high, dtype=np.float64)
    found = [
        _above(*moments(each), -edge)
        for ends in (inner, outer)
        for each in (ends, np.concatenate([ends, np.min(ends, axis=-1, keepdims=True)], axis=-1))
    ]
    alike = _two_sided(np.max(found, axis=0))
    atypical = _atypical(low, high, alike <= BUDGET)
    if np.any(atypical):
        start, end = median_ends(low, high)
        alike = np.where(atypical & ~((start >= -edge) & (end <= edge)), 1.0, alike)
    return alike


def log_interval(low: Values, high: Values, level: Values | float) -> tuple[Floats, Floats]:
    """Return the ends of the t interval of the mean log ratio: from below of `low`, from above of `high`.

    Infinite ones at a level that so few pairs cannot reach. Where it leaves out 0, and that is not true of
    the typical run, its near end is that of the median's interval.
    """
    from scipy.special import stdtrit

    (start, start_error, freedom), (end, end_error, _) = moments(low), moments(high)
    asked = np.asarray(level, dtype=np.float64)
    quantile = stdtrit(freedom, (1 + asked) / 2)
    within_reach = 1 - asked >= least_probability(np.shape(low)[-1]) * (1 - 1e-9)
    with np.errstate(invalid="ignore"):
        below = np.where(np.isfinite(start) & within_reach, start - quantile * start_error, -np.inf)
        above = np.where(np.isfinite(end) & within_reach, end + quantile * end_error, np.inf)
    atypical = _atypical(low, high, (below > 0) | (above < 0))
    if np.any(atypical):
        nearest = median_ends(low, high)
        below = np.where(atypical & (below > 0), nearest[0], below)
        above = np.where(atypical & (above < 0), nearest[1], above)
    return below, above


def share_probability(mine: ArrayLike, runs: ArrayLike, theirs: ArrayLike, their_runs: ArrayLike) -> Floats:
    """Return the two-sided p-value of 'both arrive equally often' by Fisher's (1935) exact test.

    Twice the smaller tail. It takes the runs of the two as independent: data that are hard for both make it
    conservative, data that are hard for one or the other let it err more often.
    """
    from scipy.special import gammaln

    a, n, b, m = np.broadcast_arrays(
        *(np.asarray(each, dtype=np.float64) for each in (mine, runs, theirs, their_runs))
    )
    total = a + b
    ways = np.arange(0, int(np.max(total, initial=0)) + 1)

    def log_choose(size: Floats, some: Floats) -> Floats:
        return np.asarray(gammaln(size + 1) - gammaln(some + 1) - gammaln(size - some + 1))

    size, other, both = n[..., None], m[..., None], total[..., None]
    possible = (ways <= size) & (both - ways <= other) & (both - ways >= 0)
    mass = np.where(
        possible,
        np.exp(
            log_choose(size, np.minimum(ways, size))
            + log_choose(other, np.clip(both - ways, 0, other))
            - log_choose(size + other, both)
        ),
        0.0,
    )
    below = np.sum(np.where(ways <= a[..., None], mass, 0.0), axis=-1)
    above = np.sum(np.where(ways >= a[..., None], mass, 0.0), axis=-1)
    return np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))


def rank_sum_probability(doubled: NDArray[np.int64], some: int, excess: float) -> float:
    """Return the chance that the doubled ranks of some of all values are as far from their mean.

    Exact, with ties (Lehmann 1975); of many values normal, corrected for ties and continuity.
    """
    count = len(doubled)
    if count >= _MANY:
        spread = float(np.std(doubled)) * math.sqrt(some * (count - some) / (count - 1))
        return normal_probability(max(0.0, abs(excess) - 1) / spread)
    # chances[k, s]: that of the values so far k are chosen, with the sum s, when each is with the same chance
    chances = np.zeros((some + 1, int(np.sum(doubled)) + 1))
    chances[0, 0] = 1.0
    for rank in doubled:
        chances[1:, rank:] += chances[:-1, :-rank]
        chances /= 2
    sums = chances[some]
    far = np.abs(np.arange(len(sums)) - some * (count + 1)) >= abs(excess)
    return float(np.sum(sums[far]) / np.sum(sums))


def benjamini_hochberg(probabilities: Values) -> Floats:
    """Return adjusted p-values: of what is rejected at level a, a share of a at most is false on average.

    Benjamini & Hochberg 1995; also valid for positively dependent tests (Benjamini & Yekutieli 2001). With no
    true effect at all it bounds the chance of any rejection.
    """
    given = np.asarray(probabilities, dtype=np.float64)
    size = given.shape[-1]
    order = np.argsort(given, axis=-1)[..., ::-1]
    scaled = np.take_along_axis(given, order, -1) * (size / np.arange(size, 0, -1))
    adjusted = np.empty_like(given)
    np.put_along_axis(adjusted, order, np.minimum.accumulate(scaled, axis=-1), -1)
    return np.minimum(adjusted, 1.0)


def moments(values: Values) -> tuple[Floats, Floats, int]:
    """Return mean, standard error (0 of infinite values) and degrees of freedom along the last axis."""
    data = np.asarray(values, dtype=np.float64)
    count = data.shape[-1]
    finite = np.isfinite(data)
    with np.errstate(invalid="ignore"):
        mean = np.mean(data, axis=-1)
    if count < 2:
        return mean, np.full(mean.shape, np.inf), 1
    error = np.std(np.where(finite, data, 0.0), axis=-1, ddof=1) / math.sqrt(count)
    # the rounding of equal numbers is not a spread
    rounding = 1e-13 * np.max(np.abs(np.where(finite, data, 0.0)), axis=-1)
    return mean, np.where(np.all(finite, axis=-1) & (error > rounding), error, 0.0), count - 1


def _above(mean: Floats, error: Floats, freedom: int, edge: float) -> Floats:
    """Return the p-value of 'the mean is at most the edge'."""
    from scipy.special import stdtr

    size = mean - edge
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = np.where(error > 0, size / error, np.sign(size) * np.inf)
    statistic = np.where(np.isfinite(mean), np.where(size == 0, 0.0, statistic), -np.inf)
    return np.asarray(stdtr(freedom, -statistic))


def _atypical(low: Values, high: Values, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which of those that are asked about Student's test alone would tell apart."""
    found = np.zeros(np.shape(asked), dtype=np.bool_)
    if np.any(asked):
        under, over = (np.asarray(each, dtype=np.float64) for each in (low, high))
        found[asked] = ~is_typical(under[asked], over[asked])
    return found


def _two_sided(probability: Floats) -> Floats:
    return np.asarray(np.minimum(2 * probability, 1.0))
