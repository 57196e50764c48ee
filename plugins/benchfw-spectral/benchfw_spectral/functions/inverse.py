"""The reciprocal: tr A⁻¹."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw_spectral.functions.function import Interval, Vector
from benchfw_spectral.functions.positive import Positive, alternating, log_radius


@dataclass(frozen=True)
class Inverse(Positive):
    """1/x: b_j = (2-[j=0]) (-1)^j ρ^-j / √(ab)."""

    name = "inverse"

    def __call__(self, x: Any) -> Any:
        """Return 1/x."""
        return 1 / x

    def derivative(self, x: Any) -> Any:
        """Return -1/x²."""
        return -1 / x**2

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|."""
        self.check(interval)
        low, high = interval
        logs = math.log(2) - np.arange(degree + 1) * log_radius(interval)
        logs[0] = 0.0
        return alternating(degree), np.asarray(logs - (math.log(low) + math.log(high)) / 2, dtype=np.float64)
