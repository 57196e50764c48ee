"""Bias, variance and mean squared error of an estimator, from a stream of its draws.

The harness feeds every draw of a trial through `DrawStatistics`, so this file needs NumPy only. Its functions
take arrays of other libraries that follow its protocols, as CuPy's do, and leave them where they are.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.errors import BenchfwError

FEWEST_DRAWS = 32
"""Below this many draws a lucky run of like values would look like a precise variance."""

FEWEST_EQUAL_DRAWS = 1000
"""So many equal draws, and an estimator is called constant: an event of 1 % would have been seen."""

_EPSILON = float(np.finfo(np.float64).eps)
_LAST_PLACES = 4 * _EPSILON
"""Draws whose root mean square deviation is at most this share of their mean do not vary beyond rounding."""

_ROUNDING = 8 * _EPSILON
"""The share of an exact value, which is rounded itself, below which an error of the mean is not a bias."""

_SAFE = 2.0**-200
"""Squares above this and below its inverse have cubes far from the ends of double precision."""

_LEAST = 1e-150
_NORMAL_95 = 1.959963984540054


class DrawStatistics:
    """Running statistics of draws g_1, g_2, …: scalars, or arrays of one shape taken as vectors.

    Mean and total variance (sum over coordinates) by Welford's update (Welford 1962; Chan, Golub & LeVeque
    1983). Its increments q_i = (i-1)/i |g_i - mean_{i-1}|², i = 2 … n, each have the total variance as their
    mean, for any law, and sum to (n-1) times the sample variance. For Gaussian scalars they are
    independent (Helmert 1876), and in general q_i tends to |g_i - E g|² with E g known, whose spread is the
    fourth-moment term of the variance's variance. So the standard error of the variance is the standard
    error of the mean of the q_i: one number a draw, consistent for vectors too, without the d x d moments
    that the textbook formula would need. Their third moment (Pébay 2008) says how skewed that mean is.

    Squares, and their squares and cubes, are those of draws in a unit: a power of two, 1 unless the squares
    would overflow or underflow, so that it costs no accuracy.
    """

    def __init__(self, exact: Any = None) -> None:
        self._exact = None if exact is None else _vector(exact).copy()  # its owner may write there again
        self._count = 0
        self._mean: NDArray[np.float64] = np.zeros(0)
        self._even_mean: NDArray[np.float64] = np.zeros(0)
        self._coordinate_squares: NDArray[np.float64] = np.zeros(0)
        self._squares = 0.0
        self._spread = 0.0
        self._third = 0.0
        self._unit = 1.0

    def add(self, draw: Any) -> None:
        """Take in one draw: O(size) work, no copy kept."""
        values = _vector(draw)
        self._count += 1
        count = self._count
        if count == 1:
            self._start(values)
            return
        change = values - self._mean
        self._mean += change / count
        terms = count - 1
        increments = self._squared(change) * (terms / count)
        increment = float(np.sum(increments))
        if not _SAFE < increment < 1 / _SAFE and self._fit_unit(change):
            increments = self._squared(change) * (terms / count)
            increment = float(np.sum(increments))
        self._coordinate_squares += increments
        away = increment - self._squares
        self._squares += away / terms
        square = away * away * (terms - 1) / terms
        self._third += away * (square * (terms - 2) - 3 * self._spread) / terms
        self._spread += square
        if count % 2 == 1:
            self._even_mean += (values - self._even_mean) / ((count + 1) // 2)

    @property
    def count(self) -> int:
        """Return the number of draws so far."""
        return self._count

    @property
    def mean(self) -> NDArray[np.float64]:
        """Return the mean of the draws, flattened: (size,)."""
        return self._mean.copy()

    @property
    def variance(self) -> float:
        """Return the total variance: the sum over coordinates of the unbiased sample variance.

        0 where the draws differ by no more than their rounding.
        """
        if self._count < 2:
            return math.nan
        return self._in_draws(self._squares) if self._varied else 0.0

    @property
    def out_of_range(self) -> bool:
        """Whether the draws vary, and the square of their variance or error is beyond double precision.

        A summary needs these squares for its intervals.
        """
        if self._count < 2 or not (self._varied or math.isnan(self._squares)):
            return False
        found = [self.variance] if self._exact is None else [self.variance, self.mse]
        return not all(_LEAST <= each <= 1 / _LEAST for each in found)

    @property
    def _varied(self) -> bool:
        """Whether the draws differ by more than their rounding."""
        mean = self._mean if self._unit == 1 else self._mean / self._unit
        return self._squares > _LAST_PLACES**2 * float(mean @ mean)

    @property
    def variance_std_error(self) -> float:
        """Return the standard error of `variance`; NaN before the third draw."""
        terms = self._count - 1
        return self._in_draws(math.sqrt(self._spread / (terms - 1) / terms)) if terms > 1 else math.nan

    @property
    def variance_skewness(self) -> float:
        """Return the skewness of the increments q_i whose mean is `variance`; NaN before the third draw."""
        if self._count < 3:
            return math.nan
        root = math.sqrt(self._spread)
        return self._third / self._spread / root * math.sqrt(self._count - 1) if root > 0 else 0.0

    @property
    def worst_variance(self) -> float:
        """Return the largest variance of a single coordinate.

        The largest of many estimates is above the largest truth, by less the more draws there are.
        """
        if self._count < 2:
            return math.nan
        largest = float(np.max(self._coordinate_squares)) / (self._count - 1)
        return self._in_draws(largest) if self.variance else 0.0

    @property
    def bias(self) -> float:
        """Return the error of the mean: signed for scalars, its length for vectors; NaN if unknowable.

        The length of a vector's mean error is above zero even without bias. So draws 1, 3, 5, … and
        2, 4, 6, … give two independent mean errors a and b, and the bias is
        a.b (1/|a| + 1/|b|) / 2: symmetric about 0 when E a = 0, and |E a| as both tend to it
        (cross-fitting, as in the cross-validated distance of Walther et al. 2016).
        """
        if self._exact is None or self._count < 2:
            return math.nan
        error = self._mean - self._exact
        if float(error @ error) <= _ROUNDING**2 * float(self._exact @ self._exact):
            return 0.0
        if error.size == 1:
            return float(error[0])
        evens = (self._count + 1) // 2
        even_error = self._even_mean - self._exact
        odd_error = (self._count * error - evens * even_error) / (self._count - evens)
        product = float(even_error @ odd_error)
        lengths = math.sqrt(float(even_error @ even_error)), math.sqrt(float(odd_error @ odd_error))
        if 0.0 in lengths:
            return 0.0
        return product * (1 / lengths[0] + 1 / lengths[1]) / 2

    @property
    def mse(self) -> float:
        """Return the mean of |g_i - exact|²; NaN where the exact value is unknown."""
        if self._exact is None or self._count < 2:
            return math.nan
        error = self._mean - self._exact
        return self._in_draws(self._squares * (self._count - 1) / self._count) + float(error @ error)

    def metrics(self) -> dict[str, float]:
        """Return what a trial records; bias and mse only where the exact value is known."""
        found = {
            "variance": self.variance,
            "variance_std_error": self.variance_std_error,
            "variance_skewness": self.variance_skewness,
        }
        if self._mean.size > 1:
            found["worst_variance"] = self.worst_variance
        if self._exact is None:
            return found
        return {"bias": self.bias, "mse": self.mse, **found}

    def relative_half_width(self) -> float:
        """Return the half width of the variance's 95 % interval over the variance.

        Infinite before FEWEST_DRAWS draws; 0 after FEWEST_EQUAL_DRAWS that were all the same: with fewer, a
        rare event may simply not have come yet.
        """
        if self._count < FEWEST_DRAWS:
            return math.inf
        if self.variance == 0:
            return 0.0 if self._count >= FEWEST_EQUAL_DRAWS else math.inf
        return _NORMAL_95 * self.variance_std_error / self._in_draws(self._squares)

    def _squared(self, change: NDArray[np.float64]) -> NDArray[np.float64]:
        if self._unit == 1:
            return change * change
        with np.errstate(over="ignore", under="ignore"):
            scaled: NDArray[np.float64] = change / self._unit
            return scaled * scaled

    def _in_draws(self, square: float) -> float:
        """Return a square in the unit of the draws."""
        return square if self._unit == 1 else square * self._unit * self._unit

    def _fit_unit(self, change: NDArray[np.float64]) -> bool:
        """Take a change as the unit if it is the largest so far; return whether it was."""
        largest = float(np.max(np.abs(change)))
        if not 0 < largest < math.inf:
            return False
        unit = math.ldexp(1.0, math.frexp(largest)[1] - 1)
        if unit < self._unit and self._squares > 0:
            return False
        if self._squares > 0:
            ratio = self._unit / unit
            self._squares *= ratio**2
            self._coordinate_squares *= ratio**2
            self._spread *= ratio**4
            self._third *= ratio**6
        self._unit = unit
        return True

    def _start(self, values: NDArray[np.float64]) -> None:
        if self._exact is not None and self._exact.shape != values.shape:
            sizes = f"{values.size} values and the exact answer {self._exact.size}"
            raise BenchfwError(f"a draw has {sizes}; the estimator and the problem must agree on the shape")
        self._mean = values.copy()
        self._even_mean = values.copy()
        self._coordinate_squares = np.zeros_like(values)


def _vector(values: Any) -> NDArray[np.float64]:
    """Return numbers as one vector of double precision, on the device that they are on."""
    array = values if hasattr(values, "__array_function__") else np.asarray(values)
    flat: NDArray[np.float64] = array.astype(np.float64, copy=False).ravel()
    return flat
