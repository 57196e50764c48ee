"""The exact minimum of a separable piecewise quadratic: what gaps and distances are measured from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchfw import Backend, BenchfwError
from benchfw_firstorder.problems.content_cache import kept_by_content

Vector = NDArray[np.float64]

ROUNDS = 18  # the last has fifty thousand steps


@dataclass(frozen=True)
class Minimum:
    """Where a function is smallest, whether only there, and the extreme eigenvalues of its Hessian."""

    params: Vector
    unique: bool
    smoothness: float
    strong_convexity: float


@kept_by_content
def quadratic_minimum(
    backend: Backend,  # noqa: ARG001 - part of the cache's address
    hessian: Vector,
    linear: Vector,
    weight: float = 0.0,
    lower: float = -np.inf,
    upper: float = np.inf,
) -> Minimum:
    """Return the minimum of ½x'Hx - c'x + weight |x|₁ over lower <= x <= upper; H (d, d) and c (d,) in NumPy.

    Accelerated proximal gradient steps find which coordinates sit at a kink or a bound; given these, the
    others solve a linear system. Repeated until the optimality conditions hold to rounding.
    """
    spectrum = np.linalg.eigvalsh(hessian)
    largest = float(spectrum[-1])
    negligible = len(spectrum) * float(np.finfo(np.float64).eps) * largest
    smallest = float(spectrum[0]) if spectrum[0] > negligible else 0.0
    step = 1 / largest

    def forward_backward(x: Vector) -> Vector:
        moved = x - step * (hessian @ x - linear)
        shrunk = np.sign(moved) * np.maximum(np.abs(moved) - step * weight, 0.0)
        return np.asarray(np.clip(shrunk, lower, upper))

    def residual(x: Vector) -> float:
        return float(np.abs(x - forward_backward(x)).max()) * largest

    def free_at(x: Vector) -> NDArray[np.bool_]:
        return np.asarray((x > lower) & (x < upper) & ((weight == 0) | (x != 0)))

    def solved(x: Vector) -> Vector:
        """Return x with its free coordinates moved, by the shortest way, to where their slopes vanish."""
        free = free_at(x)
        slopes = hessian[free] @ x - linear[free] + weight * np.sign(x[free])
        x = x.copy()
        x[free] -= _solve(hessian[np.ix_(free, free)], slopes, negligible)
        return x

    tolerance = 1e-13 * max(float(np.abs(linear).max()), weight, negligible)
    x = best = np.clip(np.zeros_like(linear), lower, upper)
    for steps in (50 * 1.5**k for k in range(ROUNDS)):  # the momentum needs longer runs on harder data
        best = min((best, x, solved(x)), key=residual)
        if residual(best) <= tolerance:
            break
        x = _accelerated(forward_backward, x, int(steps))
    if residual(best) > 1e5 * tolerance:
        raise BenchfwError(
            f"no minimum found to full precision (optimality conditions off by {residual(best):.1e}): "
            "the data are too ill-conditioned to measure gaps on"
        )
    unique = smallest > 0 or _regular(hessian, free_at(best), negligible)
    return Minimum(best, unique, largest, smallest)


def _accelerated(forward_backward: Callable[[Vector], Vector], x: Vector, steps: int) -> Vector:
    y, t = x, 1.0
    for _ in range(steps):
        after = forward_backward(y)
        if (y - after) @ (after - x) > 0:  # the momentum points uphill: restart (O'Donoghue & Candès 2015)
            t = 1.0
        t_next = (1 + (1 + 4 * t * t) ** 0.5) / 2
        x, y, t = after, after + (t - 1) / t_next * (after - x), t_next
    return forward_backward(x)


def _solve(matrix: Vector, target: Vector, negligible: float) -> Vector:
    """Return the solution of least norm, refined once."""
    values, vectors = np.linalg.eigh(matrix)
    inverse = np.where(values > negligible, 1 / np.where(values > negligible, values, 1.0), 0.0)
    x = vectors @ (inverse * (vectors.T @ target))
    return np.asarray(x + vectors @ (inverse * (vectors.T @ (target - matrix @ x))))


def _regular(hessian: Vector, free: NDArray[np.bool_], negligible: float) -> bool:
    if not free.any():
        return True
    return bool(np.linalg.eigvalsh(hessian[np.ix_(free, free)])[0] > negligible)
