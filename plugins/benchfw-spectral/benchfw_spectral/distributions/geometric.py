"""The geometric law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from benchfw import Positive, Rng
from benchfw_spectral.distributions.inversion import degrees, uniforms
from benchfw_spectral.functions.function import Falloff


@dataclass(frozen=True)
class Geometric:
    """t_j = (N/(N+1))^j for the mean N: the negative binomial law of shape 1."""

    mean: Positive = 20.0
    """The mean degree, N."""

    unbiased: ClassVar[bool] = True

    def survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return t_j = P(n >= j)."""
        return np.exp(self.log_survival(degree, decay))

    def log_survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return log t_j."""
        return -math.log1p(1 / self.mean) * np.maximum(degree, 0)

    def falloff(self, decay: float | None = None) -> Falloff:
        """Return how t_j falls: like (N/(N+1))^j."""
        return Falloff(0, -math.log1p(1 / self.mean))

    def sample(self, rng: Rng, decay: float | None = None, size: Any = None) -> Any:
        """Return degrees: int64, or an int where `size` is None."""
        return degrees(np.floor(-np.log(uniforms(rng, size)) / math.log1p(1 / self.mean)))
