"""The exponential: tr exp A, the Estrada index of a graph."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.kernels import namespace
from benchfw_spectral.functions.function import Falloff, Function, Interval, Vector


@dataclass(frozen=True)
class Exp(Function):
    """e^x: b_j = (2-[j=0]) e^((a+b)/2) I_j(h), h = (b-a)/2, I_j the modified Bessel functions."""

    name = "exp"

    def __call__(self, x: Any) -> Any:
        """Return e^x."""
        return namespace(x).exp(x)

    def derivative(self, x: Any) -> Any:
        """Return e^x."""
        return namespace(x).exp(x)

    def decay(self, interval: Interval, degree: float) -> float:
        """Return 2N/h at the degree N, the ratio of neighbours there; 1 + N/h where N < h.

        Every ρ > 1 holds for an entire function; on [-1, 1] this one is within 3 % of the best from N = 5 on.
        """
        self.check(interval)
        relative = max(degree, 1) * 2 / (interval[1] - interval[0])
        return max(2 * relative, 1 + relative)

    def falloff(self, interval: Interval) -> Falloff:
        """Return |b_j| ~ (h/2)^j / j!."""
        return Falloff(1, math.log((interval[1] - interval[0]) / 4))

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|."""
        from scipy.special import ive

        self.check(interval)
        low, high = interval
        half = (high - low) / 2
        # I_{j-1} - I_{j+1} = (2j/h) I_j; downwards its ratios are positive and stable. DLMF 10.29.1
        start = degree + 20 + math.ceil(9 * math.sqrt(half))
        ratio = half / (start + math.hypot(start, half))
        ratios = np.empty(degree)
        for j in range(start, 0, -1):
            ratio = 1 / (2 * j / half + ratio)
            if j <= degree:
                ratios[j - 1] = ratio
        ratios[:1] *= 2
        logs = np.append(high + math.log(ive(0, half)), np.log(ratios))
        # thousands of them: extended precision, where there is one, keeps the sum to a rounding
        return np.ones(degree + 1), np.cumsum(logs, dtype=np.longdouble).astype(np.float64)
