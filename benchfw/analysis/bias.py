"""Whether an estimator is biased in the mean over its repetitions, and by how much.

Where the draws of a pool are not broad, rarer ones may be missing from the mean, and nothing is said. Arrays
have the repetitions along their last axis; leading axes are other estimators.
"""

from __future__ import annotations

import math

import numpy as np

from benchfw.analysis.draws import Pool, least_spread
from benchfw.analysis.intervals import LEVEL, Floats, Values, t_quantile

FEWEST_RUNS = 3
"""Fewer repetitions test no bias."""


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
