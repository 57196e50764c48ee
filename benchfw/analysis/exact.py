"""Exact tests of counts, for runs of which some never arrive: signs of pairs, and shares of arrivals."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from benchfw.analysis.intervals import Floats


def sign_probability(wins: ArrayLike, losses: ArrayLike) -> Floats:
    """Return the two-sided p-value of the sign test (Dixon & Mood 1946); ties count for neither side."""
    from scipy.special import bdtr

    more, fewer = np.maximum(wins, losses), np.minimum(wins, losses)
    return np.asarray(np.minimum(1.0, 2 * bdtr(fewer, fewer + more, 0.5)))


def sign_depth(count: int, level: float) -> int:
    """Return the k for which the k-th smallest and the k-th largest of n values enclose their median.

    At least at this level, for every law (Thompson 1936): 0 where not even the range of n values does.
    """
    from scipy.special import bdtr

    tails = 2 * np.asarray(bdtr(np.arange(count // 2), count, 0.5))
    # a hair's breadth for rounding: the sign test rejects at exactly this level
    return int(np.sum(tails <= (1 - level) * (1 + 1e-9)))


def share_probability(mine: ArrayLike, runs: ArrayLike, theirs: ArrayLike, their_runs: ArrayLike) -> Floats:
    """Return the two-sided p-value of 'both arrive equally often' by Fisher's (1935) exact test.

    Twice the smaller tail. It takes the runs of the two as independent, which pairing by data can only make
    conservative.
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
