"""Cubic interpolation from an equispaced grid, as the sparse rows of structured covariances need it."""

from __future__ import annotations

from typing import Any

from benchfw.errors import BenchfwError
from benchfw.kernels import kernel, namespace


def _counts(points: Any, low: float, spacing: float, size: int) -> tuple[float, float]:
    del low, spacing, size
    return 25.0 * points.size, float(5 * points.nbytes + 32 * points.size)


@kernel("cubic-weights", counts=_counts)
def cubic_weights(points: Any, low: float, spacing: float, size: int) -> tuple[Any, Any]:
    """Return the four neighbours of each point (n,), indices (n, 4) as int64, and their weights (n, 4).

    The grid is low + spacing k, k = 0 … size-1; a value at a point is the weighted sum of those at its
    neighbours, exact for quadratics. Cubic convolution with a = -1/2, Keys 1981. Called once a data set, so
    that one body is enough.
    """
    if not spacing > 0:
        raise BenchfwError(f"the spacing of a grid must be positive, not {spacing}")
    xp = namespace(points)
    position = (points - float(low)) / float(spacing)
    if not bool(xp.all((position >= 1) & (position < size - 2))):
        raise BenchfwError(
            f"points from {float(xp.min(points)):g} to {float(xp.max(points)):g} lack neighbours in the grid "
            f"of {size} from {low:g} by {spacing:g}; give it two more cells on each side"
        )
    before = xp.floor(position)
    t = position - before
    indices = xp.astype(before, xp.int64)[:, None] + xp.arange(-1, 3, dtype=xp.int64)
    weights = [
        ((2 - t) * t - 1) * t / 2,
        ((3 * t - 5) * t * t + 2) / 2,
        ((4 - 3 * t) * t + 1) * t / 2,
        (t - 1) * t * t / 2,
    ]
    return indices, xp.stack(weights, axis=1)


def sample_cubic_weights(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return points inside a grid of 100."""
    del backend
    return 90.0 * rng.random(size), -1.25, 0.9375, 100
