"""Propositions 1, 2 and 3 of Khan et al. 2016: how small the steps of iteration (9) must become.

All three are cases of their theorem 1, whose proof needs no unbiased gradient, only the bound of its noise.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Curve = NDArray[np.float64]
Iterations = NDArray[np.int64]


@runtime_checkable
class KnownConstants(Protocol):
    """A problem F = f + KL[q‖N(0, K)] whose constants, in λ = (m, V), are known."""

    likelihood_smoothness: float  # L: ∇f is Lipschitz with it
    top_eigenvalue: float  # of K
    start_gap: float  # C_0 = F(q_0) - F*

    def gradient_noise(self, batch: int | None, samples: int | None) -> float:
        """Return a bound of E|∇̂f - ∇f|²; None stands for all examples, and for exact expectations."""
        ...


def least_squared_step_bound(
    start_gap: float, smoothness: float, modulus: float, steps: Curve
) -> Curve | None:
    """Return C_0/Σ_{k<t}(αβ_k - Lβ_k²/2) for t = 1, 2, …, above min |G_k|², from the steps β_0, β_1, ….

    Proposition 2, and with β_k = α/L Proposition 1. None for steps of 2α/L and more: they say nothing there.
    """
    if not np.all(steps < 2 * modulus / smoothness):
        return None
    return start_gap / np.cumsum(modulus * steps - smoothness * steps**2 / 2)


def mean_squared_step_bound(
    start_gap: float, smoothness: float, modulus: float, step: float, noise: float, iterations: Iterations
) -> Curve | None:
    """Return 2LC_0/(α*²t) + c noise/α* for t = `iterations`, above the mean of |G_k|² over k < t and runs.

    Proposition 3, where `noise` is σ²/M: the step β = α*/L fixes c by α* = α - 1/(2c). None for β >= α/L.
    """
    effective = smoothness * step
    if not effective < modulus:
        return None
    c = 1 / (2 * (modulus - effective))
    times = iterations.astype(np.float64)
    return 2 * smoothness * start_gap / (effective**2 * times) + c * noise / effective
