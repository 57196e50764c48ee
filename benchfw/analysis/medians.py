"""Tests of a median, which hold for every law: whether what a mean says is true of the typical run, too.

Pairs are the last axis; leading axes are other comparisons.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchfw.analysis.intervals import Floats, Values

CHECKED_PAIRS = 6
"""Fewer cannot tell a median from 0 at 5 %, whatever they are: five of one sign have a chance of 1/16."""

CHECK = 0.05
"""The level of the sign test that confirms a difference: that of one comparison, not of a report's family."""

ABNORMAL = 0.1
"""Pairs that would be this unlikely if they were normal must pass the sign test."""

KEPT = 0.97
"""About this share of the differences that Student's test finds under normal noise pass the check."""


def sign_probability(wins: ArrayLike, count: ArrayLike) -> Floats:
    """Return the two-sided p-value of the sign test (Dixon & Mood 1946): so many of the pairs on one side.

    A pair that may be on either side counts against them, as in the interval between order statistics.
    """
    from scipy.special import bdtr

    size, others = np.asarray(count), np.subtract(count, wins, dtype=np.int64)
    return np.asarray(np.minimum(1.0, 2 * bdtr(others, size, 0.5)))


def sign_depth(count: int, level: float) -> int:
    """Return the k for which the k-th smallest and the k-th largest of n values enclose their median.

    At least at this level, for every law (Thompson 1936): 0 where not even the range of n values does.
    """
    from scipy.special import bdtr

    tails = 2 * np.asarray(bdtr(np.arange(count // 2), count, 0.5))
    # a hair's breadth for rounding: the sign test rejects at exactly this level
    return int(np.sum(tails <= (1 - level) * (1 + 1e-9)))


def normality_probability(values: Values) -> Floats:
    """Return the p-value of 'the values are normal' (Shapiro & Francia 1972; Royston 1993), five or more.

    0 where they are all equal, or not all finite.
    """
    from scipy.special import ndtr, ndtri

    data = np.sort(np.asarray(values, dtype=np.float64), axis=-1)
    count = data.shape[-1]
    finite = np.all(np.isfinite(data), axis=-1)
    data = np.where(finite[..., None], data, 0.0)
    data = data - np.mean(data, axis=-1, keepdims=True)
    scores = ndtri((np.arange(1, count + 1) - 0.375) / (count + 0.25))
    total = np.sum(data**2, axis=-1)
    varied = finite & (total > 0)
    match = np.sum(data * scores, axis=-1) ** 2 / (np.where(varied, total, 1.0) * np.sum(scores**2))
    size = math.log(count)
    mean = -1.2725 + 1.0521 * (math.log(size) - size)
    deviation = 1.0308 - 0.26758 * (math.log(size) + 2 / size)
    score = (np.log(np.maximum(1 - match, 1e-300)) - mean) / deviation
    return np.where(varied, ndtr(-score), 0.0)


def is_typical(low: Values, high: Values) -> NDArray[np.bool_]:
    """Return whether a difference that Student's test finds is one of the typical run: of the median, too.

    It is where the sign test says so, or where the pairs look normal, so that mean and median are the same.
    The sign test of all pairs would cost a quarter of the power or more under normal noise. Fewer pairs than
    CHECKED_PAIRS are taken as normal. Of brackets the ends nearer to 'no difference' are judged.
    """
    under, over = np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64)
    count = under.shape[-1]
    if count < CHECKED_PAIRS:
        return np.ones(under.shape[:-1], dtype=np.bool_)
    with np.errstate(invalid="ignore"):
        near = np.where(np.mean(under, axis=-1, keepdims=True) > 0, under, -over)
    signs = sign_probability(np.sum(near > 0, axis=-1), count) <= CHECK
    return np.asarray(signs | (normality_probability(near) > ABNORMAL))


def median_ends(low: Values, high: Values) -> tuple[Floats, Floats]:
    """Return the ends of the median's interval at the level of the check, between order statistics."""
    under, over = (np.sort(np.asarray(each, dtype=np.float64), axis=-1) for each in (low, high))
    depth = sign_depth(under.shape[-1], 1 - CHECK)
    return under[..., depth - 1], over[..., -depth]
