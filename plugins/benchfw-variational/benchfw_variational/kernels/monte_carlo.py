"""Gradients of an expectation under Gaussians, from the values of a function alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchfw.kernels import kernel, namespace

EXAMPLES = 8  # of the samples' blocks


def _counts(losses: Any, normals: Any, variance: Any) -> tuple[float, float]:
    return 6.0 * losses.size, float(losses.nbytes + normals.nbytes + variance.nbytes)


@kernel("score-function-gradients", counts=_counts)
def score_function_gradients(losses: Any, normals: Any, variance: Any) -> tuple[Any, Any]:
    """Return unbiased estimates of ∂/∂m and 2 ∂/∂v of E f(z), z ~ N(m, v): means of f ε/√v and f (ε² - 1)/v.

    losses (S, B) are f(m + √v ε) at the normals ε (S, B); variance and the estimates are (B,). Williams 1992.
    """
    xp = namespace(losses, normals, variance)
    return _divide(
        xp.sum(losses * normals, axis=0),
        xp.sum(losses * (normals * normals - 1.0), axis=0),
        losses.shape[0],
        variance,
    )


@score_function_gradients.on("numpy")
def _score_function_gradients_numpy(losses: Any, normals: Any, variance: Any) -> tuple[Any, Any]:
    squares = normals * normals
    squares -= 1.0
    # no products in memory: twice as fast
    first, second = (np.einsum("ij,ij->j", losses, other) for other in (normals, squares))
    return _divide(first, second, losses.shape[0], variance)


@score_function_gradients.on("cupy")
def _score_function_gradients_cupy(losses: Any, normals: Any, variance: Any) -> tuple[Any, Any]:
    first, second = (
        _fused_sum(terms)(losses, normals, axis=0)
        for terms in ("loss * normal", "loss * (normal * normal - 1)")
    )
    return _divide(first, second, losses.shape[0], variance)


def _divide(first: Any, second: Any, count: int, variance: Any) -> tuple[Any, Any]:
    """Return the sums of f ε and f (ε² - 1) as the two estimates."""
    return first / (count * variance**0.5), second / (count * variance)


@cache
def _fused_sum(terms: str) -> Any:
    import cupy

    return cupy.ReductionKernel(
        "T loss, T normal", "T total", terms, "a + b", "total = a", "0", "benchfw_score_function"
    )


def sample_score_function_gradients(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return losses and normals of 8 examples, and their variances."""
    del backend
    shape = (max(-(-size // EXAMPLES), 1), EXAMPLES)
    return rng.standard_normal(shape) ** 2, rng.standard_normal(shape), 0.5 + rng.random(EXAMPLES)
