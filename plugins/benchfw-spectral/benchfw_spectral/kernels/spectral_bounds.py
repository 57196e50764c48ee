"""An interval that holds the spectrum of a symmetric matrix, from a few products."""

from __future__ import annotations

from math import isqrt
from typing import Any

from benchfw.kernels import as_operator, kernel, namespace, well_conditioned
from benchfw_spectral.kernels.lanczos import lanczos, ritz


def _counts(probe: Any, matrix: Any, steps: int = 20) -> tuple[float, float]:
    operator = as_operator(matrix, size=probe.shape[0])
    flops = steps * (operator.work + 9 * operator.size) + 9 * steps**3
    return float(flops), float(steps * (operator.work / 2 + 4 * operator.size) * probe.dtype.itemsize)


# rounding grows from step to step, since the basis is not made orthogonal again
@kernel("spectral-bounds", counts=_counts, tolerance=1e6)
def spectral_bounds(probe: Any, matrix: Any, steps: int = 20) -> Any:
    """Return low and high, (2,), with the spectrum of A between them, from a normal probe, (size, 1).

    The outermost Ritz values of `steps` Lanczos steps, moved outwards by |beta_k|, which no residual exceeds,
    and by the rounding of the products; so low may be negative where A is positive. Zhou & Li 2011. Nothing
    bounds what the probe does not see: a normal one sees every eigenvector, one of signs can miss some.
    """
    xp = namespace(probe)
    alphas, betas = lanczos(probe, matrix, steps)
    values, _ = ritz(alphas, betas[:-1, :])
    low, high = xp.min(values), xp.max(values)
    # not the residuals |beta_k s_k| themselves: after 10 steps those missed an end of 1 random matrix in 20
    rounding = 10 * float(xp.finfo(values.dtype).eps) * probe.shape[0] ** 0.5
    margin = betas[-1, 0] + rounding * xp.maximum(xp.abs(low), xp.abs(high))
    return xp.stack([low - margin, high + margin])


def sample_spectral_bounds(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a probe, a matrix of condition about 5, and at most 10 steps."""
    del backend
    side = isqrt(size)
    return rng.standard_normal((side, 1)), well_conditioned(rng, side), max(1, min(10, side))
