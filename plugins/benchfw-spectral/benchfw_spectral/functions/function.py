"""What a function of a matrix must know of itself: values, derivative, and its Chebyshev series."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError

Interval = tuple[float, float]
Vector = NDArray[np.float64]


class Falloff(NamedTuple):
    """How a sequence falls in the end: like exp(j log_rate) / j!^factorials, up to powers of j.

    A sequence that ends has infinitely many factorials.
    """

    factorials: float
    log_rate: float


class Function(ABC):
    """An analytic f on an interval [a, b], with f(x) = Σ_j b_j T_j((2x - b - a)/(b - a))."""

    name: str

    @abstractmethod
    def __call__(self, x: Any) -> Any:
        """Return f(x), elementwise, for an array of any backend."""

    @abstractmethod
    def derivative(self, x: Any) -> Any:
        """Return f'(x), elementwise."""

    def check(self, interval: Interval) -> None:
        """Raise BenchfwError, in one sentence, where f is not analytic on the interval."""
        low, high = interval
        if not -math.inf < low < high < math.inf:
            raise BenchfwError(
                f"{self.name} needs an interval [a, b] with finite a < b, got [{low:g}, {high:g}]"
            )

    @abstractmethod
    def decay(self, interval: Interval, degree: float) -> float:
        """Return ρ > 1 such that |b_j| falls like ρ^-j around this degree."""

    @abstractmethod
    def falloff(self, interval: Interval) -> Falloff:
        """Return how |b_j| falls as j goes to infinity."""

    @abstractmethod
    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return the signs and the logarithms of |b_0| … |b_degree|, accurate at any degree."""

    def coefficients(self, interval: Interval, degree: int) -> Vector:
        """Return b_0 … b_degree: series coefficients, not those of an interpolant, which alias."""
        signs, logs = self.log_coefficients(interval, degree)
        return signs * np.exp(logs)
