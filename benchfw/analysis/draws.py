"""What the draws of all repetitions say about an estimator's variance and bias, and whether they can say it.

A variance is a mean of squares, of which a few rare draws may carry most: then no interval from the sample
has an upper end that holds, and a mean that lacks such draws looks biased. So the moments of the squares are
pooled over the repetitions first, and decide what may be said. docs/statistics.md has the measured errors.

Arrays have the repetitions along their last axis; leading axes are other estimators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.evidence import PairedLogs
from benchfw.analysis.intervals import LEVEL, Floats, Interval, Values, t_quantile

FEWEST_CARRIERS = 8.0
"""Below so many draws that carry the variance, nothing is said about it; fewer than 5 hardly count as 8."""

MANY_CARRIERS = 60.0
"""So many are enough, of however many draws; of few draws, the square root of their number."""

FEWEST_RUNS = 3
"""Fewer repetitions test no bias."""

_RARE = 0.025  # a spread between repetitions this unlikely given the draws' own is a coincidence


@dataclass(frozen=True)
class Moments:
    """What one trial recorded: the variance of its draws, its standard error, its increments' skewness.

    It is not `finite` where the estimator itself knows that its variance is infinite.
    """

    variance: float
    std_error: float
    skewness: float
    draws: int
    finite: bool = True


@dataclass(frozen=True, eq=False)
class Pool:
    """The squares of all draws about their means, pooled over `trials` repetitions.

    `variance` is the mean of the repetitions' variances, `noise` its relative standard error from the draws
    alone, `skewness` that of the pooled mean square. `carriers` is Kish's (1965) effective number of squares,
    (sum q)² / sum q²: k rare draws of one size count as k, n normal draws as n/3, none that differs as 0. A
    variance that is not `finite` is known from below only, whatever the draws look like.
    """

    trials: int
    draws: Floats
    variance: Floats
    noise: Floats
    skewness: Floats
    carriers: Floats
    finite: bool = True

    @property
    def decisive(self) -> NDArray[np.bool_]:
        """Whether enough draws differ from the others to say anything about the variance."""
        return np.asarray(self.carriers >= FEWEST_CARRIERS)

    @property
    def broad(self) -> NDArray[np.bool_]:
        """Whether so many draws carry the variance that rarer ones need not be expected: bias is testable."""
        enough = np.clip(np.sqrt(self.draws), FEWEST_CARRIERS, MANY_CARRIERS)
        return np.asarray(self.carriers >= enough)

    @property
    def known_above(self) -> NDArray[np.bool_]:
        """Whether an interval of the variance has an upper end that holds, chosen by simulation.

        Few repetitions have wide intervals, which bear more skewness.
        """
        most = 0.25 if self.trials == 1 else 0.2 + 0.6 / self.trials
        return np.asarray(self.broad & (self.skewness <= most) & self.finite)


def pool_moments(trials: Sequence[Moments]) -> Pool:
    """Return the pool of one estimator's trials."""
    columns = zip(
        *((each.variance, each.std_error, each.skewness, each.draws) for each in trials), strict=True
    )
    return replace(pool_draws(*map(np.array, columns)), finite=all(each.finite for each in trials))


def pool_draws(variances: Values, std_errors: Values, skewnesses: Values, draws: Values) -> Pool:
    """Return the pools of many estimators at once: what `Moments` has, repetitions along the last axis."""
    given = (np.asarray(each, dtype=np.float64) for each in (variances, std_errors, skewnesses, draws))
    variance, std_error, skewness, count = np.broadcast_arrays(*given)
    terms = count - 1
    scale = np.max(variance, axis=-1, keepdims=True)
    scale = np.where(scale > 0, scale, 1.0)
    mean = variance / scale
    spread = (std_error / scale) ** 2 * terms * (terms - 1)
    third = skewness * spread**1.5 / np.sqrt(terms)
    total = np.sum(terms, axis=-1)
    first, second, cubes = (
        np.sum(each, axis=-1) / total
        for each in (
            terms * mean,
            spread + terms * mean**2,
            third + 3 * mean * spread + terms * mean**3,
        )
    )
    varied = first > 0
    inside = np.where(varied, first, 1.0)
    central = np.maximum(second - first**2, 0.0)
    skewed = central > 1e-12 * inside**2  # below that it is rounding: all squares are equal
    root = np.sqrt(np.where(skewed, central, 1.0))
    return Pool(
        variance.shape[-1],
        np.sum(count, axis=-1),
        np.mean(variance, axis=-1),
        np.sqrt(central / total) / inside,
        np.where(skewed, (cubes - 3 * first * second + 2 * first**3) / root**3, 0.0) / np.sqrt(total),
        np.where(varied, total * first**2 / np.where(varied, second, 1.0), 0.0),
    )


def spread_ends(values: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Student's interval over repetitions of the mean variance, or of what is proportional to it.

    A single repetition has the draws' own noise instead. The upper end is infinite where it would not hold,
    the lower 0 where nothing is known.
    """
    data = np.asarray(values, dtype=np.float64)
    mean = np.mean(data, axis=-1)
    own = mean * pool.noise
    if pool.trials == 1:
        error, freedom = own, int(np.min(pool.draws)) - 2
    else:
        between = np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
        error, freedom = np.maximum(between, least_spread(pool.trials) * own), pool.trials - 1
    if freedom < 1:
        return np.zeros_like(mean), np.full_like(mean, np.inf)
    half = t_quantile(level, freedom) * error
    return (
        np.where(pool.decisive, np.maximum(mean - half, 0.0), 0.0),
        np.where(pool.known_above, mean + half, np.inf),
    )


def spread_interval(values: Values, pool: Pool, level: float = LEVEL) -> Interval:
    """Return the mean of one estimator's variances, or of what is proportional to them, with its interval."""
    low, high = spread_ends(values, pool, level)
    data = np.asarray(values, dtype=np.float64)
    return Interval(float(np.mean(data)), float(low), float(high), len(data))


def log_ratios(values: Values, pool: Pool, others: Values, other_pool: Pool) -> tuple[Floats, Floats]:
    """Return between which ends the log ratios of two estimators' variances are known, by repetition.

    Also of what is proportional to variances. An end that rests on a variance that is not known from above is
    infinite; both are where one of the two is not decisive, or never varied in some repetition.
    """
    above, below = (np.asarray(each, dtype=np.float64) for each in (values, others))
    varied = np.all((above > 0) & (below > 0), axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(varied[..., None], np.log(above / below), 0.0)
    decisive = pool.decisive & other_pool.decisive & varied
    known, other_known = ((each.known_above & decisive)[..., None] for each in (pool, other_pool))
    return np.where(other_known, logs, -np.inf), np.where(known, logs, np.inf)


def pair_spreads(values: Values, pool: Pool, others: Values, other_pool: Pool) -> PairedLogs | None:
    """Return the evidence on the ratio of two estimators; None where one of the two is not decisive.

    Nor is there any where one never varied in some repetition.
    """
    if not (pool.decisive and other_pool.decisive and np.all(values) and np.all(others)):
        return None
    return PairedLogs(*log_ratios(values, pool, others, other_pool), np.log(np.divide(values, others)))


@lru_cache(maxsize=128)
def least_spread(trials: int) -> float:
    """Return what a spread between so many repetitions exceeds with a chance of 97.5 %, over what is true."""
    from scipy.special import gammaincinv

    freedom = trials - 1
    return math.sqrt(2 * float(gammaincinv(freedom / 2, _RARE)) / freedom)


def bias_error(biases: Values, pool: Pool) -> Floats:
    """Return the standard error of the mean bias of a scalar over repetitions.

    It is not below what the draws' own variance allows: three repetitions with the same number of rare draws
    have the same mean by coincidence.
    """
    between = np.std(np.asarray(biases, dtype=np.float64), axis=-1, ddof=1) / math.sqrt(pool.trials)
    return np.asarray(np.maximum(between, least_spread(pool.trials) * np.sqrt(pool.variance / pool.draws)))


def bias_ends(biases: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Student's interval of the mean bias; without ends where rare draws may be missing."""
    mean = np.asarray(np.mean(np.asarray(biases, dtype=np.float64), axis=-1))
    if pool.trials < 2:
        return np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = t_quantile(level, pool.trials - 1) * bias_error(biases, pool)
    return np.where(pool.broad, mean - half, -np.inf), np.where(pool.broad, mean + half, np.inf)


def unbiased_probability(biases: Values, pool: Pool) -> Floats:
    """Return the p-value of 'the mean bias is 0' by Student's t; NaN where the draws cannot decide."""
    mean = np.asarray(np.mean(np.asarray(biases, dtype=np.float64), axis=-1))
    if pool.trials < FEWEST_RUNS:
        return np.full_like(mean, np.nan)
    return _zero_probability(np.abs(mean), bias_error(biases, pool), pool)


def length_ends(squares: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of the length of a vector's bias, the root of its mean square over repetitions.

    `squares` are unbiased estimates of the squared lengths, which may be negative. Their interval is
    Student's, from 0 up where they are; without ends where rare draws may be missing.
    """
    data = np.asarray(squares, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < 2:
        return np.zeros_like(mean), np.full_like(mean, np.inf)
    half = t_quantile(level, pool.trials - 1) * np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
    low, high = (np.sqrt(np.maximum(end, 0.0)) for end in (mean - half, np.maximum(mean, 0.0) + half))
    return np.where(pool.broad, low, 0.0), np.where(pool.broad, high, np.inf)


def length_probability(squares: Values, pool: Pool) -> Floats:
    """Return the p-value of 'the length of the bias is 0'; NaN where the draws cannot decide.

    Two-sided, so that it agrees with the interval; a mean below 0 does not indicate a bias.
    """
    data = np.asarray(squares, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < FEWEST_RUNS:
        return np.full_like(mean, np.nan)
    return _zero_probability(mean, np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials), pool)


def _zero_probability(mean: Floats, error: Floats, pool: Pool) -> Floats:
    """Return Student's two-sided p-value of a mean that is only too large if it is above 0."""
    from scipy.special import stdtr

    size = np.divide(mean, error, out=np.where(mean > 0, np.inf, 0.0), where=error > 0)
    return np.where(pool.broad, np.minimum(2 * stdtr(pool.trials - 1, -size), 1.0), np.nan)
