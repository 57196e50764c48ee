"""x log x: minus the von Neumann entropy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.kernels import namespace
from benchfw_spectral.functions.function import Interval, Vector
from benchfw_spectral.functions.positive import Positive, alternating, log_middle, log_radius


@dataclass(frozen=True)
class XLogX(Positive):
    """x log x: the series of log times x, whose products T_1 T_j = (T_{j+1} + T_{|j-1|})/2 leave

    b_j = (-1)^j ρ^-j (a + b + 2j√(ab)) / (j(j²-1)) for j >= 2, and with c = log((b-a)ρ/4), h = (b-a)/2
    b_0 = c (a+b)/2 + h/ρ and b_1 = h (c + 1 + ρ^-2/2).
    """

    name = "xlogx"

    def __call__(self, x: Any) -> Any:
        """Return x log x."""
        return x * namespace(x).log(x)

    def derivative(self, x: Any) -> Any:
        """Return log x + 1."""
        return namespace(x).log(x) + 1

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|."""
        self.check(interval)
        low, high = interval
        middle, half, rate = log_middle(interval), (high - low) / 2, log_radius(interval)
        first = np.array(
            [
                middle * (low + high) / 2 + half * math.exp(-rate),
                half * (middle + 1 + math.exp(-2 * rate) / 2),
            ]
        )
        degrees = np.arange(2.0, degree + 1)
        numerators = low + high + 2 * degrees * math.sqrt(low) * math.sqrt(high)
        rest = np.log(numerators / (degrees * (degrees - 1) * (degrees + 1))) - degrees * rate
        with np.errstate(divide="ignore"):  # b_0 or b_1 may be 0
            logs = np.append(np.log(np.abs(first)), rest)
        signs = alternating(max(degree, 1))
        signs[:2] = np.sign(first)
        return signs[: degree + 1], logs[: degree + 1]
