"""What the draws of all repetitions say about an estimator's variance and bias, and whether they can say it.

A variance is a mean of squares, of which a few rare draws may carry most: then no interval from the sample
has an upper end that holds, and a mean that lacks such draws looks biased. So the moments of the squares are
pooled over the repetitions first, and decide what may be said. docs/statistics.md has the measured errors.

Arrays have the repetitions along their last axis; leading axes are other estimators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.evidence import PairedLogs
from benchfw.analysis.intervals import LEVEL, Floats, Interval, Values, t_quantile

FEWEST_CARRIERS = 8.0
"""Below so many draws that carry the variance, nothing is said about it; fewer than 5 hardly count as 8."""

MANY_CARRIERS = 60.0
"""So many are enough, of however many draws; of few draws, the square root of their number."""

MATCH = 1.5
"""Of two estimators, the squares of one may vary by so many times more than those of the other."""

FEWEST_RUNS = 3
"""Fewer repetitions test no bias."""

_RARE = 0.025  # a spread between repetitions this unlikely given the draws' own is a coincidence


@dataclass(frozen=True)
class Moments:
    """What one trial recorded: the variance of its draws, its standard error, its increments' skewness."""

    variance: float
    std_error: float
    skewness: float
    draws: int


@dataclass(frozen=True, eq=False)
class Pool:
    """The squares of all draws about their means, pooled over `trials` repetitions.

    `variance` is the mean of the repetitions' variances, `noise` its relative standard error from the draws
    alone, `skewness` that of the pooled mean square. `carriers` is Kish's (1965) effective number of squares,
    (sum q)² / sum q²: k rare draws of one size count as k, n normal draws as n/3, none that differs as 0.
    `unevenness` is the standard deviation of the repetitions' numbers of draws over their mean.
    """

    trials: int
    draws: Floats
    variance: Floats
    noise: Floats
    skewness: Floats
    carriers: Floats
    unevenness: Floats

    @property
    def drift(self) -> Floats:
        """Return how many standard errors of a mean over repetitions its stopping may have moved it, at most.

        A run that stops when its draws have cost so much, or are precise enough, stops at a number of draws N
        that depends on them. Their sum about the truth has mean 0 at any such N (Wald 1944), so that their
        mean is off by -Cov(sum, N) / (E N)² to first order: at most the unevenness times the standard
        deviation of one repetition (Cauchy & Schwarz).
        """
        return np.asarray(self.unevenness * math.sqrt(self.trials))

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
        return np.asarray(self.broad & (self.skewness <= most))


def pool_moments(trials: Sequence[Moments]) -> Pool:
    """Return the pool of one estimator's trials."""
    columns = zip(
        *((each.variance, each.std_error, each.skewness, each.draws) for each in trials), strict=True
    )
    return pool_draws(*map(np.array, columns))


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
        np.std(count, axis=-1, ddof=min(variance.shape[-1] - 1, 1)) / np.mean(count, axis=-1),
    )


def spread_ends(values: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of the mean over repetitions of variances, or of what is proportional to them.

    Student's t over repetitions, with the skewness that the draws show taken out by Hall's (1992) cubic
    transformation, which is monotone and can be undone in closed form. A single repetition has the draws'
    own noise instead. The upper end is infinite where it would not hold, the lower 0 where nothing is known.
    """
    data = np.asarray(values, dtype=np.float64)
    mean = np.mean(data, axis=-1)
    own = mean * pool.noise
    if pool.trials == 1:
        error, freedom = own, int(np.min(pool.draws)) - 2
    else:
        between = np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
        error, freedom = np.maximum(between, _least_spread(pool.trials) * own), pool.trials - 1
    if freedom < 1:
        return np.zeros_like(mean), np.full_like(mean, np.inf)
    quantile = t_quantile(level, freedom)
    low, high = (
        mean - error * (_remove_skewness(side * quantile, pool.skewness) + side * pool.drift)
        for side in (1, -1)
    )
    return (
        np.where(pool.decisive, np.maximum(low, 0.0), 0.0),
        np.where(pool.known_above, high, np.inf),
    )


def spread_interval(values: Values, pool: Pool, level: float = LEVEL) -> Interval:
    """Return the mean of one estimator's variances, or of what is proportional to them, with its interval."""
    low, high = spread_ends(values, pool, level)
    data = np.asarray(values, dtype=np.float64)
    return Interval(float(np.mean(data)), float(low), float(high), len(data))


def bias_error(biases: Values, pool: Pool) -> Floats:
    """Return the standard error of the mean bias of a scalar over repetitions.

    It is not below what the draws' own variance allows: three repetitions with the same number of rare draws
    have the same mean by coincidence.
    """
    between = np.std(np.asarray(biases, dtype=np.float64), axis=-1, ddof=1) / math.sqrt(pool.trials)
    return np.asarray(np.maximum(between, _least_spread(pool.trials) * np.sqrt(pool.variance / pool.draws)))


def bias_ends(biases: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Student's interval of the mean bias; without ends where rare draws may be missing."""
    mean = np.asarray(np.mean(np.asarray(biases, dtype=np.float64), axis=-1))
    if pool.trials < 2:
        return np.full_like(mean, -np.inf), np.full_like(mean, np.inf)
    half = (t_quantile(level, pool.trials - 1) + pool.drift) * bias_error(biases, pool)
    return np.where(pool.broad, mean - half, -np.inf), np.where(pool.broad, mean + half, np.inf)


def bias_interval(biases: Values, pool: Pool, level: float = LEVEL) -> Interval:
    """Return the mean bias of one estimator of a number with its interval."""
    low, high = bias_ends(biases, pool, level)
    data = np.asarray(biases, dtype=np.float64)
    return Interval(float(np.mean(data)), float(low), float(high), len(data))


def unbiased_probability(biases: Values, pool: Pool) -> Floats:
    """Return the p-value of 'the mean bias is 0' by Student's t; NaN where the draws cannot decide."""
    from scipy.special import stdtr

    data = np.asarray(biases, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < FEWEST_RUNS:
        return np.full_like(mean, np.nan)
    error = bias_error(data, pool)
    size = np.divide(np.abs(mean), error, out=np.full_like(mean, np.inf), where=error > 0)
    size = np.maximum(np.where(mean == 0, 0.0, size) - pool.drift, 0.0)
    return np.where(pool.broad, 2 * stdtr(pool.trials - 1, -size), np.nan)


def single_probability(biases: Values, variances: Values, draws: Values, pool: Pool) -> Floats:
    """Return the p-value of 'no repetition has a bias' of a scalar; NaN where the draws cannot decide.

    Biases that differ in sign from data to data cancel in their mean; their squares do not. The sum of these
    over the sum of their variances given the draws has an F distribution with the degrees of freedom that
    match its second moments, kurtosis of the draws included (Satterthwaite 1946; Box 1954).
    """
    from scipy.special import fdtrc

    data, expected, freedom, others = _single_runs(biases, variances, draws, pool)
    if pool.trials < FEWEST_RUNS:
        return np.full_like(expected, np.nan)
    seen = np.divide(np.sum(data**2, axis=-1), expected, out=np.zeros_like(expected), where=expected > 0)
    return np.where(pool.broad & (expected > 0), fdtrc(freedom, others, seen), np.nan)


def single_bias(biases: Values, variances: Values, draws: Values, pool: Pool, level: float) -> float:
    """Return what the root mean square of one estimator's biases in its repetitions is at least.

    The length of the vector of biases is at least that of what was seen less that of the noise.
    """
    from scipy.special import fdtri

    data, expected, freedom, others = _single_runs(biases, variances, draws, pool)
    noise = float(fdtri(freedom, others, level) * expected)
    return max(0.0, math.sqrt(float(np.sum(data**2))) - math.sqrt(noise)) / math.sqrt(pool.trials)


def _single_runs(
    biases: Values, variances: Values, draws: Values, pool: Pool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the biases, what their squares sum to without bias, and the degrees of freedom of the two."""
    data, variance, count = (np.asarray(each, dtype=np.float64) for each in (biases, variances, draws))
    own = variance / count
    excess = np.expand_dims(pool.draws / np.maximum(pool.carriers, 1.0) - 3, -1) / count
    scale = np.sum(own, axis=-1)
    shares = own / np.where(scale > 0, scale, 1.0)[..., None]
    second = np.sum(shares**2 * (1 + np.maximum(excess, 0.0) / 2), axis=-1)
    freedom = 1 / np.where(second > 0, second, 1.0)
    others = 2 / np.maximum(pool.noise, 1e-6) ** 2
    # the stopping may have moved the mean of the squares, whose relative deviation is the root of two
    return data, np.asarray(scale * (1 + 2 * math.sqrt(2) * pool.unevenness)), freedom, others


def length_ends(squares: Values, pool: Pool, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return the interval of the length of a vector's bias, the root of its mean square over repetitions.

    `squares` are unbiased estimates of the squared lengths, which may be negative. Their interval is
    Student's; without ends where rare draws may be missing.
    """
    data = np.asarray(squares, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < 2:
        return np.zeros_like(mean), np.full_like(mean, np.inf)
    error = np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
    half = (t_quantile(level, pool.trials - 1) + 2 * pool.drift) * error
    low, high = (np.sqrt(np.maximum(end, 0.0)) for end in (mean - half, mean + half))
    return np.where(pool.broad, low, 0.0), np.where(pool.broad, high, np.inf)


def length_interval(squares: Values, pool: Pool, level: float = LEVEL) -> Interval:
    """Return the length of one estimator's bias with its interval."""
    low, high = length_ends(squares, pool, level)
    mean = float(np.mean(np.asarray(squares, dtype=np.float64)))
    return Interval(math.sqrt(max(mean, 0.0)), float(low), float(high), pool.trials)


def length_probability(squares: Values, pool: Pool) -> Floats:
    """Return the p-value of 'the length of the bias is 0'; NaN where the draws cannot decide.

    Two-sided, so that it agrees with the interval: a mean below 0 is no evidence of a bias.
    """
    from scipy.special import stdtr

    data = np.asarray(squares, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < FEWEST_RUNS:
        return np.full_like(mean, np.nan)
    error = np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
    size = np.divide(mean, error, out=np.full_like(mean, np.inf), where=error > 0)
    size = np.maximum(np.where(mean <= 0, 0.0, size) - 2 * pool.drift, 0.0)
    return np.where(pool.broad, np.minimum(2 * stdtr(pool.trials - 1, -size), 1.0), np.nan)


def log_ratios(
    values: Values, errors: Values, pool: Pool, others: Values, other_errors: Values, other_pool: Pool
) -> tuple[Floats, Floats]:
    """Return between which ends the log ratios of two estimators' variances are known, by repetition.

    Also of what is proportional to variances. `errors` are the relative standard errors of each repetition's
    variance. The logarithm of a variance is low by half of that squared, and lower for heavier tails: it is
    added back, so that unlike laws compare. Where some repetition never varied, the logs are those of the
    ratio of the means by the delta method. An end that rests on a variance that is not known from above is
    infinite, unless the other's tail shows as heavy: what both lack cancels. Both ends are where one of the
    two is not decisive. They allow for what stopping may have done to either (`Pool.drift`).
    """
    logs = _paired_logs(values, errors, others, other_errors)
    drift = np.expand_dims(pool.noise * pool.drift + other_pool.noise * other_pool.drift, -1)
    decisive = pool.decisive & other_pool.decisive
    known, other_known = (
        np.expand_dims((each.known_above | _is_matched(each, other)) & decisive, -1)
        for each, other in ((pool, other_pool), (other_pool, pool))
    )
    return np.where(other_known, logs - drift, -np.inf), np.where(known, logs + drift, np.inf)


def _paired_logs(values: Values, errors: Values, others: Values, other_errors: Values) -> Floats:
    above, below, own, their = (
        np.asarray(each, dtype=np.float64) for each in (values, others, errors, other_errors)
    )
    varied = np.all((above > 0) & (below > 0), axis=-1, keepdims=True)
    mean, other = (np.mean(each, axis=-1, keepdims=True) for each in (above, below))
    mean, other = (np.where(each > 0, each, 1.0) for each in (mean, other))
    safe, safe_other = np.where(varied, above, 1.0), np.where(varied, below, 1.0)
    of_pairs = np.log(safe / safe_other) + np.where(varied, own**2 - their**2, 0.0) / 2
    return np.where(varied, of_pairs, np.log(mean / other) + above / mean - below / other)


def pair_spreads(
    values: Values, errors: Values, pool: Pool, others: Values, other_errors: Values, other_pool: Pool
) -> PairedLogs | None:
    """Return the evidence on the ratio of two estimators; None where one of the two is not decisive."""
    if not (pool.decisive and other_pool.decisive):
        return None
    ends = log_ratios(values, errors, pool, others, other_errors, other_pool)
    return PairedLogs(*ends, _paired_logs(values, errors, others, other_errors))


def _is_matched(pool: Pool, other: Pool) -> NDArray[np.bool_]:
    """Return whether the squares of another estimator vary and lean nearly as much as those of this one."""
    noise, skewness = pool.noise <= MATCH * other.noise, pool.skewness <= MATCH * other.skewness
    return np.asarray(pool.broad & other.broad & noise & skewness)


@lru_cache(maxsize=128)
def _least_spread(trials: int) -> float:
    """Return what a spread between so many repetitions exceeds with a chance of 97.5 %, over what is true."""
    from scipy.special import gammaincinv

    freedom = trials - 1
    return math.sqrt(2 * float(gammaincinv(freedom / 2, _RARE)) / freedom)


def _remove_skewness(quantile: float, skewness: Floats) -> Floats:
    """Return the t with t + g t²/3 + g² t³/27 + g/6 = quantile, g being the skewness of the mean."""
    flat = np.abs(skewness) < 1e-6
    inside = np.where(flat, 1.0, skewness)
    bent = 3 / inside * (np.cbrt(1 + inside * (quantile - inside / 6)) - 1)
    return np.where(flat, quantile, bent)
