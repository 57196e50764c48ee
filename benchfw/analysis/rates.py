"""How fast an error falls, beside what a theorem says.

Like a power of the iterations (sublinear), or by a factor in each of them (linear).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import ROUNDING_FLOOR, Curve
from benchfw.analysis.intervals import Interval, Values, mean_interval
from benchfw.records import Cell, Role

Law: TypeAlias = Literal["sublinear", "linear"]
Floats: TypeAlias = NDArray[np.float64]

LAWS: tuple[Law, ...] = get_args(Law)
FEWEST_POINTS = 5
FEWEST_OF_A_HALF = 3
TAIL = 0.5
"""The share of the axis, from its end, that is fitted: a rate is a statement about the end."""

STRAIGHT = 0.1
"""By what share of the slope its two halves may differ, however sure that is."""

BENT = 0.25
"""By what share of the slope its two halves may not differ, even where that may be chance."""

STEEP = 10.0
"""An error must fall so many times over the last half of the iterations to follow the linear law.

A power like k^-3 falls 8 times there, and is as straight as that through noise.
"""

FALLS = 100.0
"""A metric that no theorem is about is taken for an error if some run brings it down so many times."""


class Slope(NamedTuple):
    """The slope of curves under the law that they follow, the mean over runs with Student's interval."""

    law: Law
    interval: Interval


@dataclass(frozen=True)
class Rate:
    """How fast a method brings a metric down, and its theorem's own curve; None where that follows no law."""

    cell: Cell
    metric: str
    measured: Slope | None
    theorem: Slope | None

    @property
    def intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the slopes by the names that exports have for them."""
        for slope, suffix in ((self.measured, ""), (self.theorem, "_of_theorem")):
            if slope is not None:
                yield f"{self.metric}_{slope.law}_rate{suffix}", slope.interval


class Curves(Protocol):
    """The measured curves of one trial, and the bounds of a theorem on them, by metric."""

    @property
    def bounded(self) -> Sequence[str]:
        """Return the metrics that have a bound."""
        ...

    def curve(self, metric: str, role: Role = "metric") -> Curve | None:
        """Return what was measured of a metric, or its bound; None where there is none."""
        ...


def find_rates(trials: Mapping[Cell, Sequence[Curves]], metrics: Sequence[str]) -> tuple[Rate, ...]:
    """Return the rate of each method: of the metric that its theorem is about, or else of the first error."""
    bounded = {
        cell: next((name for each in group for name in each.bounded if name in metrics), "")
        for cell, group in trials.items()
    }
    first = next(filter(None, bounded.values()), "") or _falling(trials, metrics)
    rates = (_rate(cell, bounded[cell] or first, group) for cell, group in trials.items() if first)
    return tuple(rate for rate in rates if rate is not None)


def _rate(cell: Cell, metric: str, trials: Sequence[Curves]) -> Rate | None:
    """Return the rate of a method; None where its curves are too short for a slope."""
    fits = _fit_laws(trials, metric, "metric")
    if not any(fit.runs for fit in fits):
        return None
    return Rate(cell, metric, _followed(fits), _followed(_fit_laws(trials, metric, "bound")))


def _fit_laws(trials: Sequence[Curves], metric: str, role: Role) -> list[Fit]:
    return [fit_law(_curves(trials, metric, role), law) for law in LAWS]


def _followed(fits: Iterable[Fit]) -> Slope | None:
    """Return the slope under the first law that the curves follow."""
    return next((Slope(fit.law, fit.slope) for fit in fits if fit.follows), None)


def _falling(trials: Mapping[Cell, Sequence[Curves]], metrics: Sequence[str]) -> str:
    """Return the first metric if it is positive and some run brings it down far, else nothing."""
    metric = metrics[0] if metrics else ""
    falls = False
    for curve in (curve for group in trials.values() for curve in _curves(group, metric)):
        values = curve.values
        if ((values < 0) & (values > -math.inf)).any():
            return ""
        falls = falls or float(values[0]) >= FALLS * float(values[-1]) > 0
    return metric if falls else ""


def _curves(trials: Sequence[Curves], metric: str, role: Role = "metric") -> Iterator[Curve]:
    """Yield the curves of the trials that have one, each made when it is its turn."""
    return filter(None, (each.curve(metric, role) for each in trials))


class RunFit(NamedTuple):
    """The slope of one run, those of both halves of what is fitted, and the fall of its log metric there."""

    slope: float
    first: float
    second: float
    fall: float


@dataclass(frozen=True)
class Fit:
    """The slopes of runs under a law."""

    law: Law
    runs: tuple[RunFit, ...]

    @property
    def slopes(self) -> tuple[float, ...]:
        """Return the slope of each run."""
        return tuple(run.slope for run in self.runs)

    @property
    def slope(self) -> Interval:
        """Return the mean slope, with Student's interval."""
        return mean_interval(self.slopes)

    @property
    def halves(self) -> tuple[float, float]:
        """Return the mean slopes of both halves of what is fitted."""
        _, first, second, _ = np.mean(self.runs, axis=0).tolist()
        return first, second

    def bends(self, share: float = BENT) -> bool:
        """Return whether the slopes of both halves differ by more than a share of the slope."""
        first, second = self.halves
        return abs(second - first) > share * abs(self.slope.estimate)

    @property
    def follows(self) -> bool:
        """Whether the runs fall, and by the law; not where the slope of several runs may be 0."""
        slope = self.slope
        if not self.runs or not slope.estimate < 0 or (slope.bounded and slope.high >= 0):
            return False
        if self.law == "linear" and np.mean([run.fall for run in self.runs]) < math.log(STEEP):
            return False
        apart = mean_interval([run.second - run.first for run in self.runs])
        chance = apart.bounded and apart.low <= 0 <= apart.high
        return not self.bends(BENT if chance else STRAIGHT)


def fit_law(curves: Iterable[Curve], law: Law) -> Fit:
    """Return the slopes of independent runs under a law: of log metric against log iterations, or iterations.

    Theorems say -1 for gradient descent on a convex function, -2 with Nesterov's momentum, -1/2 for
    stochastic gradients; under the linear law exp(slope) is the factor by which the error falls in each
    iteration. Curves with fewer than five points to fit have none. The points of one curve depend on each
    other, so that the textbook interval of a regression would be far too narrow: each run gives one slope,
    and runs are what is counted.
    """
    runs = []
    for curve in curves:
        positions, logs = _fitted_points(curve.iterations, curve.values, law)
        if len(positions) < FEWEST_POINTS:
            continue
        # the halves of the axis, but three points each at least: five have one in common
        middle = np.searchsorted(positions, (positions[0] + positions[-1]) / 2)
        early, late = max(int(middle), FEWEST_OF_A_HALF), min(int(middle), len(positions) - FEWEST_OF_A_HALF)
        slope = _gradient(positions, logs)
        halves = _gradient(positions[:early], logs[:early]), _gradient(positions[late:], logs[late:])
        runs.append(RunFit(slope, *halves, fall=slope * float(positions[0] - positions[-1])))
    return Fit(law, tuple(runs))


def _fitted_points(iterations: Values, errors: Values, law: Law) -> tuple[Floats, Floats]:
    """Return positions on the law's axis and log errors of the last part, above the level of rounding."""
    positions = np.asarray(iterations, dtype=np.float64)
    values = np.asarray(errors, dtype=np.float64)
    usable = np.isfinite(values) & (values > 0) & (positions > 0)
    if not np.any(usable):
        return np.zeros(0), np.zeros(0)
    usable &= values > ROUNDING_FLOOR * float(np.nanmax(values[usable]))
    positions, values = positions[usable], values[usable]
    along = np.log(positions) if law == "sublinear" else positions
    late = along >= along[-1] - TAIL * (along[-1] - along[0])
    return along[late], np.log(values[late])


def _gradient(positions: Floats, logs: Floats) -> float:
    centred = positions - np.mean(positions)
    return float(centred @ logs) / float(centred @ centred)
