"""Rates of made-up curves: how often one is given, for curves that follow a law and for others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

import numpy as np
from _tables import Line, Table, Task

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

NEARLY: dict[str, tuple[int, Law]] = {
    "log(k)/k": (2000, lambda k: np.log(k + 1) / k),
    "0.99^k + 0.01/k": (1000, lambda k: 0.99**k + 0.01 / k),
}
"""Curves whose slopes in the two halves of what is fitted differ by less than a tenth."""

OTHER: dict[str, tuple[int, Law]] = {
    "1/k + 0.01": (1000, lambda k: 1 / k + 0.01),
    "1/k + 0.001": (1000, lambda k: 1 / k + 0.001),
    "0.98^k + 0.001 z": (1000, lambda k: 0.98**k),
    "0.5^(1.02^k)": (300, lambda k: 0.5 ** (1.02**k)),
}


LAWS = {"follows a law": TRUE, "nearly": NEARLY, "does not": OTHER}


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


def given(kind: str, name: str, noise: float, runs: int, experiments: int) -> float:
    """Return the share of experiments in which the curves have a rate."""
    (most, law), height = LAWS[kind][name], LEVEL.get(name, 0.0)
    rng, steps, count = np.random.default_rng([23, runs]), looks(most), 0
    for _ in range(experiments):
        curves = []
        for _ in range(runs):
            level, spread = rng.standard_normal((2, len(steps)))
            values = (law(steps) + height * np.abs(level)) * np.exp(noise * spread)
            curves.append(OneCurve(Curve(steps, steps, steps, values)))
        count += any(rate.measured for rate in find_rates({CELL: curves}, ["gap"]))
    return count / experiments


def rate_tables(experiments: int) -> Iterator[Table]:
    """Yield the table: a line for each curve and noise, a column for each number of runs."""
    lines = tuple(
        Line(
            f"{kind}: {name}, {noise:.0%} noise",
            tuple((Task(given, (kind, name, noise, runs, experiments)),) for runs in RUNS),
            itemgetter(0),
            0.8 if curves is TRUE else 0.0,
            0.05 if curves is OTHER else 1.0,
        )
        for kind, curves in LAWS.items()
        for name in curves
        for noise in NOISE
    )
    yield Table(("what, law", *(f"{runs} runs" for runs in RUNS)), lines)
