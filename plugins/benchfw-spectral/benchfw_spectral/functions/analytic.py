"""A user's own function, given as a callable and the size of the ellipse in which it is analytic."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError
from benchfw_spectral.functions.function import Falloff, Function, Interval, Vector

NOISE = 1e-13  # the share of the largest term below which a coefficient is rounding error


class Analytic(Function):
    """Any f that is analytic inside the ellipse of radius ρ around its interval.

    `radius` is ρ, the sum of the half axes of the ellipse whose foci are a and b, scaled so that these are
    -1 and 1; give a function of the interval where the interval moves (see `radius_through`), and any
    finite ρ for an entire function. A callable that takes complex NumPy arrays gets its coefficients from
    an FFT on an ellipse just inside, accurate at any degree. One that does not gets them from [a, b]
    alone, where they are lost in rounding once |b_j| < 1e-13 max |b|: these are taken as 0, with a warning.
    """

    def __init__(
        self,
        function: Callable[[Any], Any],
        radius: float | Callable[[Interval], float],
        derivative: Callable[[Any], Any] | None = None,
    ) -> None:
        self.name = f"the function {getattr(function, '__name__', type(function).__name__)}"
        self._function = function
        self._radius = radius
        self._derivative = derivative

    def __call__(self, x: Any) -> Any:
        """Return f(x)."""
        return self._function(x)

    def derivative(self, x: Any) -> Any:
        """Return f'(x), where the user gave it."""
        if self._derivative is None:
            raise BenchfwError(f"the derivative of {self.name} is not known; give it to Analytic")
        return self._derivative(x)

    def decay(self, interval: Interval, degree: float) -> float:
        """Return ρ, the same around every degree."""
        self.check(interval)
        radius = self._radius(interval) if callable(self._radius) else self._radius
        if not 1 < radius < math.inf:
            raise BenchfwError(
                f"the analyticity radius of {self.name} must be finite and above 1, got {radius:g}"
            )
        return radius

    def falloff(self, interval: Interval) -> Falloff:
        """Return the rate 1/ρ."""
        return Falloff(0, -math.log(self.decay(interval, 0)))

    def log_coefficients(self, interval: Interval, degree: int) -> tuple[Vector, Vector]:
        """Return signs and logarithms of |b_0| … |b_degree|."""
        self.check(interval)
        low, high = float(interval[0]), float(interval[1])
        # whole powers of two, so that a run of random degrees finds its series in the cache
        signs, logs = _series(self, (low, high), max(64, 1 << int(degree).bit_length()))
        known = int(np.flatnonzero(signs)[-1]) if signs.any() else 0
        if known + 1 < degree:  # every other coefficient of an even function is 0
            warnings.warn(
                f"the series of {self.name} on [{low:g}, {high:g}] is known to degree {known}: "
                f"later coefficients are below {NOISE:g} of the largest, and taken as 0",
                stacklevel=2,
            )
        return signs[: degree + 1].copy(), logs[: degree + 1].copy()


def radius_through(point: complex, interval: Interval) -> float:
    """Return the ρ of the ellipse around the interval that passes through a point of the complex plane."""
    low, high = interval
    scaled = (2 * point - low - high) / (high - low)
    return float(abs(scaled + np.sqrt(scaled - 1 + 0j) * np.sqrt(scaled + 1 + 0j)))


@lru_cache(maxsize=32)
def _series(function: Analytic, interval: Interval, degree: int) -> tuple[Vector, Vector]:
    """Return the signs and logarithms of |b_0| … |b_degree|, both of them 0 and -inf below the noise.

    f((z + 1/z)/2) = Σ_j b_j (z^j + z^-j)/2 on the circle |z| = r, so that an FFT gives b_j r^j / 2.
    """
    outer = math.log(function.decay(interval, degree))
    inner = outer - min(1 / degree, outer / 2)  # close to ρ: rounding errors there are e times ρ^-j at most
    terms = _laurent(function, interval, inner, 80 / (outer - inner) + 4 * degree)
    if terms is None:
        inner = 0.0
        terms = _laurent(function, interval, inner, 80 / outer + 4 * degree)
    if terms is None:
        raise BenchfwError(f"{function.name} does not return a finite number for every point of its interval")
    largest = np.abs(terms).max()
    low = np.arange(1, 5)
    mirrored = np.abs(terms[-low] - terms[low] * np.exp(-2 * inner * low)).max()
    if max(mirrored, abs(terms[len(terms) // 2])) > 1e-10 * largest:
        raise BenchfwError(
            f"{function.name} is not analytic inside the radius {math.exp(outer):g} around its interval; "
            "give a smaller one"
        )
    found = terms[: degree + 1].real
    found = np.where(np.abs(found) > NOISE * largest, found, 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(np.abs(found)) + math.log(2) - np.arange(degree + 1) * inner
    logs[0] -= math.log(2)
    return np.sign(found), logs


def _laurent(
    function: Callable[[Any], Any], interval: Interval, log_radius: float, least: float
) -> NDArray[np.complex128] | None:
    """Return the Laurent coefficients times r^j at j = 0, 1, …, -2, -1; None where f does not go there."""
    low, high = interval
    count = 1 << math.ceil(math.log2(least))
    angles = np.arange(count) * (2 * math.pi / count)
    points = np.cosh(log_radius + 1j * angles) if log_radius else np.cos(angles)
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(function((low + high) / 2 + (high - low) / 2 * points))
    except (TypeError, ValueError):
        return None
    if values.shape != points.shape or not np.isfinite(values).all():
        return None
    return np.fft.fft(values) / count
