"""The logarithm: tr log A = log det A."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.kernels import namespace
from benchfw_spectral.functions.function import Interval, Vector
from benchfw_spectral.functions.positive import Positive, alternating, log_middle, log_radius


@dataclass(frozen=True)
class Log(Positive):
    """log x: b_0 = log((b-a)ρ/4), b_j = -2(-1)^j ρ^-j / j."""

    name = "log"

    def __call__(self, x: Any) -> Any:
        """Return log x."""
        return namespace(x).log(x)

    def derivative(self, x: Any) -> Any:
        """Return 1/x."""
        return 1 / x

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|."""
        self.check(interval)
        constant = log_middle(interval)
        degrees = np.arange(1, degree + 1)
        logs = math.log(2) - np.log(degrees) - degrees * log_radius(interval)
        signs = -alternating(degree)
        signs[0] = np.sign(constant)
        return signs, np.append(math.log(abs(constant)) if constant else -math.inf, logs)
