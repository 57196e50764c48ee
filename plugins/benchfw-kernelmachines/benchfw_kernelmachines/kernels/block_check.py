"""The check of CDSG: how far along a gradient each old block of features may go."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchfw.kernels import kernel, namespace

OUTPUTS = 10  # of the samples


def _counts(beta: Any, gradient: Any, step: float, noise: float) -> tuple[float, float]:
    del step, noise
    return 4.0 * beta.size, float(beta.nbytes + gradient.nbytes + 8 * beta.shape[0])


@kernel("largest-steps", counts=_counts)
def largest_steps(beta: Any, gradient: Any, step: float, noise: float) -> Any:
    """Return for every old block the largest s > 0 with 2|β - s g|² + 2 s² v <= |β|² + γ²|g|², 0 without one.

    β are the rows of beta (m, C), g is the gradient (C,), γ the step and v the noise; the steps are (m,) and
    float64 for inputs of any precision. Li & Póczos 2016, eq. 9.
    """
    xp = namespace(beta, gradient)
    beta, gradient = xp.astype(beta, xp.float64), xp.astype(gradient, xp.float64)
    square = float(xp.sum(gradient * gradient))
    return _solve(xp, beta @ gradient, xp.sum(beta * beta, axis=1), square, float(step), float(noise))


largest_steps.expected_failures = {"dtype-kept": "steps are float64 for inputs of any precision"}


@largest_steps.on("numpy")
def _largest_steps_numpy(beta: Any, gradient: Any, step: float, noise: float) -> Any:
    beta, gradient = beta.astype(np.float64, copy=False), gradient.astype(np.float64, copy=False)
    squares = np.einsum("ij,ij->i", beta, beta)
    return _solve(np, beta @ gradient, squares, float(gradient @ gradient), float(step), float(noise))


def _solve(xp: Any, products: Any, squares: Any, square: float, step: float, noise: float) -> Any:
    """Return the larger root of the quadratic where it is real and positive, from ⟨β,g⟩, |β|² and |g|²."""
    curvature = square + noise
    if curvature == 0:
        return xp.zeros_like(squares)
    discriminants = products * products - 0.5 * curvature * (squares - step * step * square)
    real = discriminants >= 0
    roots = products + xp.sqrt(xp.where(real, discriminants, xp.zeros_like(squares)))
    return xp.where(real & (roots > 0), roots / curvature, xp.zeros_like(squares))


@largest_steps.on("cupy")
def _largest_steps_cupy(beta: Any, gradient: Any, step: float, noise: float) -> Any:
    import cupy

    blocks, outputs = beta.shape
    steps = cupy.empty(blocks, dtype=np.float64)
    return _fused()(
        cupy.ascontiguousarray(beta),
        cupy.ascontiguousarray(gradient),
        outputs,
        float(step),
        float(noise),
        steps,
    )


@cache
def _fused() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "raw T beta, raw T gradient, int64 outputs, float64 step, float64 noise",
        "float64 result",
        """
        double product = 0, square = 0, slope = 0;
        for (long long output = 0; output < outputs; ++output) {
            const double b = beta[i * outputs + output], g = gradient[output];
            product += b * g;
            square += b * b;
            slope += g * g;
        }
        const double curvature = slope + noise;
        const double discriminant = product * product - 0.5 * curvature * (square - step * step * slope);
        const double root = product + sqrt(discriminant);
        result = curvature > 0 && discriminant >= 0 && root > 0 ? root / curvature : 0.0;
        """,
        "benchfw_largest_steps",
    )


def sample_largest_steps(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return blocks of 10 outputs, about `size` numbers in all, that all have a step."""
    del backend
    gradient = rng.standard_normal(OUTPUTS)
    # β near the gradient: the discriminant stays away from zero
    beta = gradient + 0.1 * rng.standard_normal((-(-size // OUTPUTS), OUTPUTS))
    return beta, gradient, 0.5, 0.1
