"""Logarithms of tails, accurate at both ends: t_j close to 1, and t_j too small for float64."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchfw_spectral.functions.function import Vector

Pointwise = Callable[[Vector], Vector]


def log_tails(
    degree: Any,
    mean: float,
    tail: Pointwise,
    head: Pointwise,
    log_mass: Pointwise,
    ratio: Pointwise,
    limit: float,
) -> Any:
    """Return log t_j of a law with masses q_j, tail(j) = t_j and head(j) = 1 - t_j, each accurate when small.

    Where the tail underflows it is q_j (1 + q_{j+1}/q_j + …), a sum of positive terms by
    ratio(i) = q_{i+1}/q_i, which tends to `limit` < 1.
    """
    j = np.asarray(degree, dtype=np.float64).ravel()
    logs = np.zeros_like(j)  # t_0 = 1
    low = (j > 0) & (j <= mean)
    logs[low] = np.log1p(-head(j[low]))
    high = np.flatnonzero(j > mean)
    tails = tail(j[high])
    seen, lost = high[tails > 1e-290], high[tails <= 1e-290]
    logs[seen] = np.log(tails[tails > 1e-290])
    logs[lost] = log_mass(j[lost]) + np.log(_relative_tail(j[lost], ratio, limit))
    return logs.reshape(np.shape(degree))[()]


def _relative_tail(i: Vector, ratio: Pointwise, limit: float) -> Vector:
    """Return t_i / q_i for i beyond the mean."""
    total = term = np.ones_like(i)
    # what is left out is at most term / (1 - ratio), and ratios go to their limit from either side
    while np.any(term > np.finfo(float).eps * (1 - np.maximum(ratio(i), limit)) * total):
        term = term * ratio(i)
        total = total + term
        i = i + 1
    return total
