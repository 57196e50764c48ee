"""Whether an estimator is biased, in the mean over its repetitions or in single ones, and by how much.

Where the draws of a pool are not broad, rarer ones may be missing from the mean, and nothing is said. Arrays
have the repetitions along their last axis; leading axes are other estimators.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchfw.analysis.draws import Pool, least_spread
from benchfw.analysis.intervals import LEVEL, Floats, Interval, Values, t_quantile

FEWEST_RUNS = 3
"""Fewer repetitions test no bias."""

BATCHES = 8
"""The draws of a run in so many parts, whose means scatter more than they should where draws depend."""


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


class Scatter(NamedTuple):
    """How the means of batches of a run's draws scatter about the mean of all: m (mean - all)², summed."""

    squares: float
    freedom: int
    size: float


def batch_scatter(draws: Values, means: Values) -> Scatter:
    """Return the scatter of about BATCHES parts of a run, from its means after so many draws.

    What the means are relative to plays no part.
    """
    counts, running = (np.asarray(each, dtype=np.float64) for each in (draws, means))
    ends = np.unique(np.searchsorted(counts, np.linspace(0, counts[-1], BATCHES + 1)[1:]))
    sizes = np.diff(counts[ends], prepend=0.0)
    parts = np.diff(counts[ends] * (running[ends] - running[-1]), prepend=0.0) / sizes
    return Scatter(float(np.sum(sizes * parts**2)), len(ends) - 1, float(np.min(sizes)))


def dependence_probability(scatters: Sequence[Scatter], pool: Pool) -> float:
    """Return the p-value of 'the draws of a run do not depend on each other'.

    The means of batches of independent draws scatter as their variance says: F, as for single runs. A bias of
    a run is in all of its batches, and so does not count.
    """
    from scipy.special import fdtrc

    freedom = sum(each.freedom for each in scatters)
    if not freedom or not pool.variance > 0:
        return 1.0
    excess = max(0.0, float(pool.draws / max(float(pool.carriers), 1.0) - 3))
    matched = freedom / (1 + excess / (2 * min(each.size for each in scatters)))
    seen = sum(each.squares for each in scatters) / freedom / float(pool.variance)
    return float(fdtrc(matched, 2 / max(float(pool.noise), 1e-6) ** 2, seen))


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
    Student's, from 0 up where they are; without ends where rare draws may be missing.
    """
    data = np.asarray(squares, dtype=np.float64)
    mean = np.asarray(np.mean(data, axis=-1))
    if pool.trials < 2:
        return np.zeros_like(mean), np.full_like(mean, np.inf)
    error = np.std(data, axis=-1, ddof=1) / math.sqrt(pool.trials)
    half = (t_quantile(level, pool.trials - 1) + 2 * pool.drift) * error
    low, high = (np.sqrt(np.maximum(end, 0.0)) for end in (mean - half, np.maximum(mean, 0.0) + half))
    return np.where(pool.broad, low, 0.0), np.where(pool.broad, high, np.inf)


def length_interval(squares: Values, pool: Pool, level: float = LEVEL) -> Interval:
    """Return the length of one estimator's bias with its interval."""
    low, high = length_ends(squares, pool, level)
    mean = float(np.mean(np.asarray(squares, dtype=np.float64)))
    return Interval(math.sqrt(max(mean, 0.0)), float(low), float(high), pool.trials)


def length_probability(squares: Values, pool: Pool) -> Floats:
    """Return the p-value of 'the length of the bias is 0'; NaN where the draws cannot decide.

    Two-sided, so that it agrees with the interval; a mean below 0 does not indicate a bias.
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
