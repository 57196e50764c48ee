"""What the functions with their singularity at 0 share."""

from __future__ import annotations

import math

import numpy as np

from benchfw import BenchfwError
from benchfw_spectral.functions.function import Falloff, Function, Interval, Vector


class Positive(Function):
    """A function that is analytic but at 0 (and beyond it): |b_j| falls like ρ^-j on any 0 < a < b.

    The ellipse with foci a and b that passes through 0 has ρ = (√κ+1)/(√κ-1), κ = b/a.
    """

    def check(self, interval: Interval) -> None:
        """Raise BenchfwError unless 0 < a < b."""
        super().check(interval)
        if not interval[0] > 0:
            raise BenchfwError(
                f"{self.name} is not analytic at 0, and its interval starts at {interval[0]:g}: "
                "add a multiple of the identity to the matrix, or raise the lower end"
            )

    def decay(self, interval: Interval, degree: float) -> float:
        """Return ρ, the same around every degree."""
        self.check(interval)
        return 1 + _excess(interval)

    def falloff(self, interval: Interval) -> Falloff:
        """Return the rate 1/ρ."""
        return Falloff(0, -log_radius(interval))


def log_radius(interval: Interval) -> float:
    """Return log ρ to full relative accuracy, even for ρ near 1."""
    return math.log1p(_excess(interval))


def log_middle(interval: Interval) -> float:
    """Return log((b-a)ρ/4) = 2 log((√a+√b)/2), the mean of log x over the Chebyshev weight."""
    low, high = interval
    return 2 * math.log((math.sqrt(low) + math.sqrt(high)) / 2)


def alternating(degree: int) -> Vector:
    """Return (-1)^j for j = 0 … degree."""
    return np.where(np.arange(degree + 1) % 2, -1.0, 1.0)


def _excess(interval: Interval) -> float:
    """Return ρ - 1."""
    low, high = interval
    return 2 * math.sqrt(low) * (math.sqrt(low) + math.sqrt(high)) / (high - low)
