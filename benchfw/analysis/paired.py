"""Paired ratios on the scale of their logarithms: Student's test, equality, repetitions needed.

Each pair's log ratio is known to lie between `low` and `high`: the same number twice where it was seen, a
bracket where a target was met between two looks, an infinite end where only a bound is known. Pairs are the
last axis; leading axes are other comparisons.
"""

from __future__ import annotations

import math
from bisect import bisect_left

import numpy as np

from benchfw.analysis.intervals import Floats, Values, t_quantile

FEWEST_PAIRS = 3
"""Below three pairs no verdict is made."""

MARGIN = 1.1
"""Two quantities are equal if their ratio lies between 1/MARGIN and MARGIN."""

FACTOR = 1.25
"""The ratio that an undecided comparison is planned for."""

CHANCE = 0.9
MOST_REPETITIONS = 100_000


def least_probability(count: int) -> float:
    """Return the p-value below which so many pairs say nothing, 2/4^n.

    Two methods that are alike and whose runs fall into two clusters differ by the same factor in all pairs
    with this chance, and then Student's test would be as sure as it likes.
    """
    return 2 * 0.25**count


def difference_probability(low: Values, high: Values) -> Floats:
    """Return the two-sided p-value of 'the ratio is 1' by Student's paired t test of the log ratios.

    With brackets the end that is nearer to 1 is tested, so that no place inside them could change the result.
    """
    under, over = _moments(low), _moments(high)
    return _two_sided(np.minimum(_above(*under, 0.0), _above(-over[0], *over[1:], 0.0)), np.shape(low)[-1])


def equality_probability(low: Values, high: Values, margin: float = MARGIN) -> Floats:
    """Return the smallest a for which the interval of level 1 - a lies within [1/margin, margin].

    Twice the p-value of the two one-sided tests (Schuirmann 1987), so that the printed interval decides.
    """
    under, over = _moments(low), _moments(high)
    edge = math.log(margin)
    outside = np.maximum(_above(*under, -edge), _above(-over[0], *over[1:], -edge))
    return _two_sided(outside, np.shape(low)[-1])


def log_interval(low: Values, high: Values, level: Values | float) -> tuple[Floats, Floats]:
    """Return the ends of the t interval of the mean log ratio: from below of `low`, from above of `high`.

    Infinite ones at a level that so few pairs cannot reach.
    """
    from scipy.special import stdtrit

    (start, start_error, freedom), (end, end_error, _) = _moments(low), _moments(high)
    asked = np.asarray(level, dtype=np.float64)
    quantile = stdtrit(freedom, (1 + asked) / 2)
    within_reach = 1 - asked >= least_probability(np.shape(low)[-1]) * (1 - 1e-9)
    with np.errstate(invalid="ignore"):
        return (
            np.where(np.isfinite(start) & within_reach, start - quantile * start_error, -np.inf),
            np.where(np.isfinite(end) & within_reach, end + quantile * end_error, np.inf),
        )


def repetitions_needed(
    spread: float, level: float, factor: float = FACTOR, chance: float = CHANCE
) -> int | None:
    """Return how many pairs would show a factor with this chance, given the spread of the log ratios.

    None where that is more than MOST_REPETITIONS.
    """
    if not math.isfinite(spread):
        return None

    def enough(count: int) -> bool:
        return smallest_ratio(spread, count, level, chance) <= factor

    most = FEWEST_PAIRS
    while not enough(most):
        most *= 2
        if most > MOST_REPETITIONS:
            return None
    return bisect_left(range(most), True, lo=max(FEWEST_PAIRS, most // 2), key=enough)


def smallest_ratio(spread: float, count: int, level: float, chance: float = CHANCE) -> float:
    """Return the ratio that so many pairs show with this chance, given the spread of the log ratios.

    By the t interval of this level, with the noncentral t distribution. (A sum of two quantiles of t would
    promise 90 % where five pairs at a level of 99.7 % have 79 %.) Infinite where so few pairs decide nothing.
    """
    from scipy.special import nctdtrinc

    if count < FEWEST_PAIRS or least_probability(count) > (1 - level) * (1 + 1e-9):
        return math.inf
    shift = float(nctdtrinc(count - 1, 1 - chance, t_quantile(level, count - 1)))
    exponent = shift * spread / math.sqrt(count)
    return math.exp(exponent) if exponent < 700 else math.inf


def _moments(values: Values) -> tuple[Floats, Floats, int]:
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


def _two_sided(probability: Floats, count: int) -> Floats:
    return np.asarray(np.clip(2 * probability, least_probability(count), 1.0))
