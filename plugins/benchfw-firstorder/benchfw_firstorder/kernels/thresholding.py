"""Soft thresholding, the proximal operator of the l1 norm."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchfw.kernels import kernel, namespace


def _counts(x: Any, threshold: Any) -> tuple[float, float]:
    del threshold
    return 3.0 * x.size, 2.0 * x.nbytes


@kernel("soft-threshold", counts=_counts)
def soft_threshold(x: Any, threshold: Any) -> Any:
    """Return sign(x) max(|x| - threshold, 0), elementwise, for threshold >= 0: a number, or an array like x.

    The proximal operator of threshold |x|_1; Donoho 1995.
    """
    # x minus its projection onto [-threshold, threshold]: two passes, where the formula takes five
    return x - namespace(x).clip(x, -threshold, threshold)


@soft_threshold.on("numpy")
def _soft_threshold_numpy(x: Any, threshold: Any) -> Any:
    inside = np.minimum(x, threshold)
    np.maximum(inside, -threshold, out=inside)
    return np.subtract(x, inside, out=inside)


@soft_threshold.on("cupy")
def _soft_threshold_cupy(x: Any, threshold: Any) -> Any:
    # both of one type: a double beside float32 would make the result double
    if isinstance(threshold, int | float | np.generic):
        return _fused()(x, x.dtype.type(threshold))
    return _fused()(x, threshold.astype(x.dtype, copy=False))


@cache
def _fused() -> Any:
    import cupy

    # one pass over memory instead of two; comparisons let NaN through, as the other bodies do
    return cupy.ElementwiseKernel(
        "T x, T threshold",
        "T result",
        "result = x > threshold ? x - threshold : (x < -threshold ? x + threshold : (x != x ? x : (T)0))",
        "benchfw_soft_threshold",
    )


def sample_soft_threshold(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a vector and a threshold."""
    del backend
    return rng.standard_normal(size), 0.5
