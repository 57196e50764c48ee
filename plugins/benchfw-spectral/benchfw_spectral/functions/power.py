"""Powers, the square root among them: tr (XX')^½ is the nuclear norm of X."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw_spectral.functions.function import Falloff, Interval, Vector
from benchfw_spectral.functions.positive import Positive, alternating, log_radius


@dataclass(frozen=True)
class Power(Positive):
    """x^s for any real s: b_j = (2-[j=0]) ((b-a)ρ/4)^s ρ^-j Σ_k C(s,k) C(s,j+k) ρ^-2k.

    The terms of that sum cancel, and for ρ near 1 it is long; but x f' = s f says of its coefficients that
    (j+1+s) b_{j+1} + (ρ+1/ρ) j b_j + (j-1-s) b_{j-1} = 0 (with 2 b_0 for b_0), and they are the solution
    that falls: run downwards, the recurrence gives every ratio of neighbours to rounding.
    """

    exponent: float = 0.5

    @property
    def name(self) -> str:  # type: ignore[override]
        """The name as a reader writes it."""
        return "sqrt" if self.exponent == 0.5 else f"x^{self.exponent:g}"

    def __call__(self, x: Any) -> Any:
        """Return x^s."""
        return x**self.exponent

    def derivative(self, x: Any) -> Any:
        """Return s x^(s-1)."""
        return self.exponent * x ** (self.exponent - 1)

    def falloff(self, interval: Interval) -> Falloff:
        """Return the rate 1/ρ; the series of a polynomial ends."""
        polynomial = self.exponent >= 0 and self.exponent == int(self.exponent)
        return Falloff(math.inf, 0.0) if polynomial else super().falloff(interval)

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|, in O(degree + 1/log ρ)."""
        self.check(interval)
        rate = log_radius(interval)
        factors = self._factors(rate, degree)
        with np.errstate(divide="ignore"):  # a polynomial's factors end with 0
            logs = np.cumsum(np.log(np.abs(factors))) - np.arange(degree + 1) * rate
        return alternating(degree) * np.cumprod(np.sign(factors)), self._log_mean(interval) + logs

    def _factors(self, rate: float, degree: int) -> Vector:
        """Return 1, and -ρ b_j / b_{j-1} for j = 1 … degree, which are 1 - u_j with a small u_j."""
        order, square, rest = self.exponent + 1, math.exp(-2 * rate), -math.expm1(-2 * rate)
        # a step shrinks the error of the first guess by ρ^-2, once j is well past the exponent
        start = max(degree, math.ceil(2 * abs(order))) + math.ceil(20 / rate)
        small = 0.0
        factors = np.ones(degree + 1)
        for j in range(start, 0, -1):
            carried = square * (j + order) * small
            denominator = j - square * order + carried
            small = (rest * order + carried) / denominator
            if j <= degree:
                factors[j] = (j - order) / denominator
        factors[1:2] *= 2
        return factors

    def _log_mean(self, interval: Interval) -> float:
        """Return log b_0: the mean of x^s over m Chebyshev points, positive terms that alias by b_2m only."""
        low, high = interval
        count = math.ceil((20 + 3 * abs(self.exponent)) / log_radius(interval))
        angles = (np.arange(count) + 0.5) * (math.pi / (2 * count))
        logs = self.exponent * np.log(low * np.sin(angles) ** 2 + high * np.cos(angles) ** 2)
        return float(np.logaddexp.reduce(logs)) - math.log(count)
