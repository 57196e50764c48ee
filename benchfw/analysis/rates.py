"""How fast an error falls, beside what a theorem says.

Like a power of the iterations (sublinear), or by a factor in each of them (linear).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import ROUNDING_FLOOR, Curve
from benchfw.analysis.intervals import Interval, Values, mean_interval
from benchfw.records import Cell, Role

Law: TypeAlias = Literal["sublinear", "linear"]
Floats: TypeAlias = NDArray[np.float64]

FEWEST_POINTS = 5
FEWEST_OF_A_HALF = 3
FEWEST_TO_AGREE = 3
_TINY = 1e-300  # a misfit of exactly zero has no logarithm
TAIL = 0.5
"""The share of the axis, from its end, that is fitted: a rate is a statement about the end."""

STRAIGHT = 0.05
"""By what share of the slope its two halves may differ, however sure that is."""

BENT = 0.25
"""By what share of the slope its two halves may not differ, even where noise might explain it."""

FALLS = 100.0
"""A metric that no theorem is about is taken for an error if some run brings it down so many times."""


@dataclass(frozen=True)
class Rate:
    """The slope of log metric against log iterations (sublinear) or iterations (linear), over repetitions.

    Nothing is `measured` where the curves do not follow the law: `halves`, the slopes of the two halves of
    what is fitted, shows how they bend. `theorem` is the slope of a theorem's own curve, if that has one.
    """

    cell: Cell
    metric: str
    law: Law
    measured: Interval | None
    theorem: Interval | None
    halves: tuple[float, float]

    @property
    def intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the slopes by the names that exports have for them."""
        name = f"{self.metric}_{self.law}_rate"
        if self.measured is not None:
            yield name, self.measured
        if self.theorem is not None:
            yield f"{name}_of_theorem", self.theorem


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
    """Return the rate of each method: of the metric that its theorem is about, or else of the first error.

    One law is fitted to all methods, since slopes under two laws cannot be compared: that of the theorems, or
    else the one under which the curves of each method are straighter. Where they disagree there is none.
    """
    bounded = {
        cell: next((name for each in group for name in each.bounded if name in metrics), "")
        for cell, group in trials.items()
    }
    first = next(filter(None, bounded.values()), "") or _falling(trials, metrics)
    metrics_of = {cell: bounded[cell] or first for cell in trials}
    law = _common_law(trials, metrics_of, "bound") or _common_law(trials, metrics_of, "metric")
    if law is None:
        return ()
    found = (_rate(cell, metrics_of[cell], group, law) for cell, group in trials.items())
    return tuple(rate for rate in found if rate is not None)


def _common_law(
    trials: Mapping[Cell, Sequence[Curves]], metrics: Mapping[Cell, str], role: Role
) -> Law | None:
    """Return the law of all methods whose curves, or bounds, show one; None where they show two."""
    laws = {likelier_law(_curves(group, metrics[cell], role)) for cell, group in trials.items()} - {None}
    return laws.pop() if len(laws) == 1 else None


def _rate(cell: Cell, metric: str, trials: Sequence[Curves], law: Law) -> Rate | None:
    found = fit_law(_curves(trials, metric), law)
    if not found.bends:
        return None
    theorem = fit_law(_curves(trials, metric, "bound"), law)
    return Rate(
        cell,
        metric,
        law,
        found.slope if found.follows else None,
        theorem.slope if theorem.follows else None,
        found.halves,
    )


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


def slope(iterations: Values, errors: Values, law: Law, tail: float = TAIL) -> float:
    """Return the least-squares slope of log error against log iterations (sublinear) or iterations (linear).

    Theorems say -1 for gradient descent on a convex function, -2 with Nesterov's momentum, -1/2 for
    stochastic gradients; under the linear law exp(slope) is the factor by which the error falls in each
    iteration. Only the last `tail` of the axis counts, and no error at the level of rounding; NaN where fewer
    than five points are left. A theorem's own curve goes through the same fit.
    """
    positions, logs = _fitted_points(iterations, errors, law, tail)
    if len(positions) < FEWEST_POINTS:
        return math.nan
    return _gradient(positions, logs)


class Bend(NamedTuple):
    """The slopes of two halves, and the variance of their difference by the points' distances from them."""

    first: float
    second: float
    variance: float


@dataclass(frozen=True)
class Fit:
    """The slope of runs under a law, and how each run bends over what is fitted."""

    slopes: tuple[float, ...]
    bends: tuple[Bend, ...]

    @property
    def slope(self) -> Interval:
        """Return the mean slope, with Student's interval."""
        return mean_interval(self.slopes)

    @property
    def halves(self) -> tuple[float, float]:
        """Return the mean slopes of both halves of what is fitted."""
        first, second, _ = (float(each) for each in np.mean(self.bends, axis=0))
        return first, second

    @property
    def follows(self) -> bool:
        """Whether the runs fall, and by the law; not where the slope of several runs may be 0."""
        slope = self.slope
        if not self.bends or not slope.estimate < 0 or (slope.bounded and slope.high >= 0):
            return False
        return self.straight

    @property
    def straight(self) -> bool:
        """Whether one half of what is fitted is as steep as the other.

        Not where the halves differ by a twentieth of the slope and more than by chance, or by a quarter in
        any case. So what stops at a level of noise, or has a logarithm in it, is not taken for a power.
        Chance is Student's interval over runs, or twice the standard error that the points' distances from
        the two lines suggest, whichever is wider.
        """
        bend = mean_interval([each.second - each.first for each in self.bends])
        chance = 2 * math.sqrt(sum(each.variance for each in self.bends)) / len(self.bends)
        if len(self.bends) >= FEWEST_TO_AGREE:
            chance = max(chance, bend.high - bend.estimate)
        most = BENT if abs(bend.estimate) <= chance else STRAIGHT
        return abs(bend.estimate) <= most * abs(self.slope.estimate)


def fit_law(curves: Iterable[Curve], law: Law) -> Fit:
    """Return the mean slope of independent runs under a law, with Student's interval, and how they bend.

    The points of one curve depend on each other, so that the textbook interval of a regression would be far
    too narrow: each run gives one slope, and runs are what is counted.
    """
    slopes, bends = [], []
    for curve in curves:
        positions, logs = _fitted_points(curve.iterations, curve.values, law, TAIL)
        if len(positions) < FEWEST_POINTS:
            continue
        slopes.append(_gradient(positions, logs))
        # the halves of the axis, but three points each at least: five have one in common
        middle = np.searchsorted(positions, (positions[0] + positions[-1]) / 2)
        early, late = max(int(middle), FEWEST_OF_A_HALF), min(int(middle), len(positions) - FEWEST_OF_A_HALF)
        halves = [(positions[part], logs[part]) for part in (slice(early), slice(late, None))]
        noise = [
            _misfit(along, heights) / (len(along) - 2) / float(np.var(along) * len(along))
            for along, heights in halves
        ]
        bends.append(Bend(_gradient(*halves[0]), _gradient(*halves[1]), sum(noise)))
    return Fit(tuple(slopes), tuple(bends))


def likelier_law(curves: Iterable[Curve], tail: float = TAIL) -> Law | None:
    """Return the law under which all curves are straighter; None where they disagree or are short.

    Over the later half of the logarithmic axis: over that of the iterations themselves, which is a factor of
    two, any power looks linear. One or two curves must be twice as straight.
    """
    margins = []
    for curve in curves:
        positions, logs = _fitted_points(curve.iterations, curve.values, "sublinear", tail)
        if len(positions) >= FEWEST_POINTS:
            power, exponential = _misfit(positions, logs), _misfit(np.exp(positions), logs)
            margins.append(math.log(max(power, _TINY)) - math.log(max(exponential, _TINY)))
    least = 0.0 if len(margins) >= FEWEST_TO_AGREE else math.log(2)
    if margins and max(margins) < -least:
        return "sublinear"
    return "linear" if margins and min(margins) > least else None


def _fitted_points(iterations: Values, errors: Values, law: Law, tail: float) -> tuple[Floats, Floats]:
    """Return positions on the law's axis and log errors of the points that are fitted."""
    positions = np.asarray(iterations, dtype=np.float64)
    values = np.asarray(errors, dtype=np.float64)
    usable = np.isfinite(values) & (values > 0) & (positions > 0)
    if not np.any(usable):
        return np.zeros(0), np.zeros(0)
    usable &= values > ROUNDING_FLOOR * float(np.nanmax(values[usable]))
    positions, values = positions[usable], values[usable]
    along = np.log(positions) if law == "sublinear" else positions
    late = along >= along[-1] - tail * (along[-1] - along[0])
    return along[late], np.log(values[late])


def _gradient(positions: Floats, logs: Floats) -> float:
    centred = positions - np.mean(positions)
    return float(centred @ logs) / float(centred @ centred)


def _misfit(positions: Floats, logs: Floats) -> float:
    heights = logs - np.mean(logs)
    return float(np.sum((heights - _gradient(positions, logs) * (positions - np.mean(positions))) ** 2))
