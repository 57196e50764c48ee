"""The law of least variance for one series, whose coefficients it knows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from benchfw import BenchfwError, Rng
from benchfw_spectral.distributions.inversion import draw
from benchfw_spectral.distributions.optimal import Optimal
from benchfw_spectral.functions import get_function
from benchfw_spectral.functions.function import Falloff, Function, Interval, Vector


@dataclass(frozen=True)
class Oracle(Optimal):
    """No law of this mean has a smaller variance; until it has seen the series, it is the optimal law."""

    def for_series(self, function: str | Function, interval: Interval) -> FittedOracle:
        """Return the law for this series."""
        low, high = interval
        return FittedOracle(self.mean, get_function(function), (float(low), float(high)))


@dataclass(frozen=True)
class FittedOracle:
    """t_j = min(1, c β_j), Σ_{j>=1} t_j = N, with β_j = |b_j| where these decrease.

    The minimum of Σ b_j²/t_j over decreasing t: where |b_j| rises, β_j² is the mean of b_j² over the
    blocks that pool-adjacent-violators makes.
    """

    mean: float
    function: Function
    interval: Interval

    unbiased: ClassVar[bool] = True

    def survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return t_j = P(n >= j)."""
        return np.exp(self.log_survival(degree, decay))

    def log_survival(self, degree: Any, decay: float | None = None) -> Any:
        """Return log t_j; -inf only where the series has ended."""
        degree = np.maximum(np.asarray(degree), 0)
        # blocks near the end of the fit are not final: fit to twice the degree, a power of two for the cache
        return _fit(self, 2 << int(degree.max(initial=0)).bit_length())[degree]

    def falloff(self, decay: float | None = None) -> Falloff:
        """Return how t_j falls: like |b_j|."""
        return self.function.falloff(self.interval)

    def sample(self, rng: Rng, decay: float | None = None, size: Any = None) -> Any:
        """Return degrees: int64, or an int where `size` is None."""
        return draw(self, rng, size)


@lru_cache(maxsize=64)
def _fit(law: FittedOracle, least: int) -> Vector:
    """Return log t_0 … log t_n, n >= least such that the tails beyond n do not count."""
    count = max(64, least, 2 << math.ceil(law.mean).bit_length())
    while True:
        _, logs = law.function.log_coefficients(law.interval, count)
        shape = _decreasing(logs[1:])
        sums = np.logaddexp.accumulate(shape[::-1])[::-1]  # log Σ_{i>j} β_i, at j
        sure = np.arange(math.ceil(law.mean))  # the candidates K: t_j = 1 up to K, c β_j <= 1 beyond
        with np.errstate(invalid="ignore"):
            scales = np.log(law.mean - sure) - sums[: len(sure)]
            fits = scales + shape[: len(sure)] <= 0
        if not fits.any():
            raise BenchfwError(
                f"the series of {law.function.name} ends before degree {law.mean:g}, the mean of the oracle "
                "law: take the deterministic law of its last degree"
            )
        first = int(np.argmax(fits))
        tails = np.append(0.0, np.minimum(0.0, scales[first] + shape))
        tails[: first + 1] = 0.0
        if tails[-1] < -40 - math.log(count):
            return tails
        count *= 2


def _decreasing(logs: Vector) -> Vector:
    """Return log β_j from log |b_j|: pool-adjacent-violators on b_j²."""
    sums: list[float] = []
    counts: list[int] = []
    for log in logs.tolist():
        total, count = 2 * log, 1
        while sums and sums[-1] - math.log(counts[-1]) < total - math.log(count):
            total = float(np.logaddexp(total, sums.pop()))
            count += counts.pop()
        sums.append(total)
        counts.append(count)
    return np.repeat((np.array(sums) - np.log(counts)) / 2, counts)
