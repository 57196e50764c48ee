"""The law of least variance among those of its mean, for a series that falls geometrically."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchfw import BenchfwError, Positive, Rng
from benchfw_spectral.distributions.inversion import degrees, uniforms
from benchfw_spectral.functions.function import Falloff


@dataclass(frozen=True)
class Optimal:
    """The optimal law of Han, Avron & Shin (2018), Theorem 3, for any real mean N > 0.

    t_j = 1 for j <= K and (N-K)(ρ-1)ρ^(K-j) beyond, K = max(0, ⌈N - ρ/(ρ-1)⌉): K with probability
    1 - (N-K)(ρ-1)/ρ, else K plus a geometric number. (Their (11) has ρ^(N-K-i-1) for ρ^(K-i-1).)
    """

    mean: Positive = 20.0
    """The mean degree, N."""

    unbiased: ClassVar[bool] = True

    def survival(self, degree: Any, decay: float) -> Any:
        """Return t_j = P(n >= j)."""
        return np.exp(self.log_survival(degree, decay))

    def log_survival(self, degree: Any, decay: float) -> Any:
        """Return log t_j."""
        sure, log_scale = self._shape(decay)
        beyond = np.asarray(degree) - sure
        # min: where q_K = 0, rounding must not lift t_{K+1} above 1
        return np.where(beyond <= 0, 0.0, np.minimum(0.0, log_scale - beyond * math.log(decay)))

    def falloff(self, decay: float) -> Falloff:
        """Return how t_j falls: like ρ^-j."""
        return Falloff(0, -math.log(decay))

    def sample(self, rng: Rng, decay: float, size: Any = None) -> Any:
        """Return degrees: int64, or an int where `size` is None."""
        sure, log_scale = self._shape(decay)
        steps = np.floor((log_scale - np.log(uniforms(rng, size))) / math.log(decay))
        return degrees(sure + np.maximum(steps, 0))

    def _shape(self, decay: float) -> tuple[int, float]:
        """Return K, the degree that every draw reaches, and log((N-K)(ρ-1))."""
        if not 1 < decay < math.inf:
            raise BenchfwError(f"the decay of a series must be finite and above 1, got {decay}")
        sure = max(0, math.ceil(self.mean - decay / (decay - 1)))
        return sure, math.log((self.mean - sure) * (decay - 1))
