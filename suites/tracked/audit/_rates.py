"""Rates of made-up curves: how often one is given, for curves that follow a law and for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchfw.analysis.convergence import Curve
from benchfw.analysis.rates import find_rates
from benchfw.records import Cell, Role

RUNS = (3, 5, 10)
NOISE = (0.01, 0.1)
MOST = 20_000
LEVEL = {"0.98^k + 0.001 z": 0.001}
"""By how much of |z| a curve is higher at each look; z is normal."""

CELL = Cell("p", "optimizer", "m", "numpy")

Law = Callable[[np.ndarray], np.ndarray]

TRUE: dict[str, tuple[int, Law]] = {
    "k^-0.5": (MOST, lambda k: k**-0.5),
    "k^-1": (1000, lambda k: 1 / k),
    "k^-2": (1000, lambda k: k**-2.0),
    "0.9^k": (1000, lambda k: 0.9**k),
    "0.98^k": (1000, lambda k: 0.98**k),
    "0.99^k": (1000, lambda k: 0.99**k),
    "0.999^k": (MOST, lambda k: 0.999**k),
}
"""The number of iterations, in which each falls more than a hundredfold, and the curve."""

OTHER: dict[str, tuple[int, Law]] = {
    "log(k)/k": (1000, lambda k: np.log(k + 1) / k),
    "1/k + 0.01": (1000, lambda k: 1 / k + 0.01),
    "1/k + 0.001": (1000, lambda k: 1 / k + 0.001),
    "0.98^k + 0.001 z": (1000, lambda k: 0.98**k),
    "0.99^k + 0.01/k": (1000, lambda k: 0.99**k + 0.01 / k),
    "0.5^(1.02^k)": (300, lambda k: 0.5 ** (1.02**k)),
}


@dataclass(frozen=True)
class OneCurve:
    """A run of which one curve is known."""

    only: Curve
    bounded: Sequence[str] = ()

    def curve(self, _metric: str, role: Role = "metric") -> Curve | None:
        return self.only if role == "metric" else None


def looks(most: int) -> np.ndarray:
    """Return iterations 5 % apart."""
    found = [1]
    while found[-1] < most:
        found.append(max(found[-1] + 1, int(1.05 * found[-1])))
    return np.array(found[:-1], dtype=np.float64)


def given(curve: tuple[int, Law, float], noise: float, runs: int, experiments: int) -> float:
    """Return the share of experiments in which the curves have a rate."""
    most, law, height = curve
    rng, steps, count = np.random.default_rng([23, runs]), looks(most), 0
    for _ in range(experiments):
        curves = []
        for _ in range(runs):
            level, spread = rng.standard_normal((2, len(steps)))
            values = (law(steps) + height * np.abs(level)) * np.exp(noise * spread)
            curves.append(OneCurve(Curve(steps, steps, steps, values)))
        count += any(rate.measured for rate in find_rates({CELL: curves}, ["gap"]))
    return count / experiments


def rate_lines(experiments: int) -> Iterator[tuple[str, Callable[[], list[float]], float, float]]:
    """Yield a line for each curve and noise: name, what finds a share for each number of runs, its limits."""
    for curves, said, least, most in ((TRUE, "follows a law", 0.8, 1.0), (OTHER, "does not", 0.0, 1.0)):
        for name, (steps, law) in curves.items():
            for noise in NOISE:
                find = partial(_shares, (steps, law, LEVEL.get(name, 0.0)), noise, experiments)
                # a tenth of noise hides a logarithm from few runs, and a slow mixture
                limit = 0.2 if said == "does not" and noise < 0.1 else most
                yield f"{said}: {name}, {noise:.0%} noise", find, least, limit


def _shares(curve: tuple[int, Law, float], noise: float, experiments: int) -> list[float]:
    return [given(curve, noise, runs, experiments) for runs in RUNS]
