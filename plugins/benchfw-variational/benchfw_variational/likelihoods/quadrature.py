"""Integrals under Gaussians of functions that have a detail of a scale of their own."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import log, pi
from typing import Any, NamedTuple

import numpy as np

from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import TINY

ORDER = 16  # of the Gauss-Legendre rule of a panel
EVEN = np.arange(-9.0, 9.5, 1.5)  # ends of panels in standard deviations; e^(-9²/2) = 3e-18
GRADED = np.concatenate([-(2.0 ** np.arange(13.0)[::-1]), [0.0], 2.0 ** np.arange(13.0)])
AT_ONCE = 128  # examples


class Rule(NamedTuple):
    """E g(z) = Σ_k weights e^exponents g(latent) for the examples of `rows`: (b, K) each."""

    rows: slice
    latent: Any
    exponents: Any
    weights: Any


def rules(mean: Any, variance: Any, peak: Any, centres: Any, widths: Any) -> Iterator[Rule]:
    """Yield rules for a few examples each: mean, variance and peak are (B,), centres and widths (B, J).

    Gauss-Legendre on panels that are even on the scale of N(mean, variance), over nine standard deviations on
    either side of `peak`, and also as fine as `widths` around `centres`, from where they double.
    """
    xp = namespace(mean)
    deviation = xp.sqrt(variance + TINY)
    even, graded = (xp.asarray(ends, dtype=mean.dtype) for ends in (EVEN, GRADED))
    nodes, weights = (xp.asarray(part, dtype=mean.dtype) for part in _gauss_legendre())
    for start in range(0, max(mean.shape[0], 1), AT_ONCE):
        rows = slice(start, min(start + AT_ONCE, mean.shape[0]))
        m, s = mean[rows, None], deviation[rows, None]
        ends = (peak[rows, None] - m) / s + even
        details = centres[rows, :, None] + widths[rows, :, None] * graded
        details = (xp.reshape(details, (m.shape[0], centres.shape[1] * graded.shape[0])) - m) / s
        details = xp.minimum(xp.maximum(details, ends[:, :1]), ends[:, -1:])
        ends = xp.sort(xp.concat([ends, details], axis=1), axis=1)
        half = (ends[:, 1:] - ends[:, :-1])[:, :, None] / 2
        shape = (m.shape[0], half.shape[1] * ORDER)
        x = xp.reshape(ends[:, :-1, None] + half * (1.0 + nodes), shape)
        yield Rule(rows, m + s * x, -(x * x + log(2 * pi)) / 2, xp.reshape(half * weights, shape))


@cache
def _gauss_legendre() -> tuple[Any, Any]:
    return np.polynomial.legendre.leggauss(ORDER)
