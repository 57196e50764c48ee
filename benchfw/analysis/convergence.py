"""Curves of a metric against iterations, seconds or cost: bands over repetitions, and first hits of a target.

Lower is better, so NaN counts as +inf.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.records import Record, Role

Axis: TypeAlias = Literal["iterations", "seconds", "cost"]
Floats: TypeAlias = NDArray[np.float64]

AXES: tuple[Axis, ...] = ("iterations", "seconds", "cost")
ROUNDING_FLOOR = 1e-10
"""An automatic target is never below this share of the value at the start: there rounding decides."""


@dataclass(frozen=True, eq=False)
class Curve:
    """One metric of one trial at its measured points, in order; four arrays of one length."""

    iterations: Floats
    seconds: Floats
    cost: Floats
    values: Floats

    def along(self, axis: Axis) -> Floats:
        """Return the positions of the points on an axis."""
        positions: Floats = getattr(self, axis)
        return positions

    @property
    def final(self) -> float:
        """Return the last value; NaN for a curve with no point."""
        return float(self.values[-1]) if len(self.values) else math.nan


@dataclass(frozen=True, eq=False)
class Band:
    """Median and two quantiles of several curves on a common grid; four arrays of one length."""

    grid: Floats
    median: Floats
    low: Floats
    high: Floats
    count: int


@dataclass(frozen=True)
class Hit:
    """When a curve first met its target; all three are +inf if it never did."""

    iterations: float
    seconds: float
    cost: float


NEVER = Hit(math.inf, math.inf, math.inf)


def curves_by_metric(records: Iterable[Record], role: Role = "metric") -> dict[str, Curve]:
    """Return a trial's records of one role as one curve a metric, in order of first appearance."""
    rows: dict[str, list[tuple[float, float, float, float]]] = {}
    for record in records:
        if record.role == role:
            row = (record.iteration, record.seconds, record.cost, record.value)
            rows.setdefault(record.metric, []).append(row)
    return {
        metric: Curve(*np.array(sorted(points), dtype=np.float64).T.copy()) for metric, points in rows.items()
    }


def value_at(curve: Curve, axis: Axis, grid: Floats) -> Floats:
    """Return the curve's value at each grid point: that of the last measured point at or before it.

    No interpolation, since nobody saw the values between; +inf before the first point.
    """
    last = np.searchsorted(curve.along(axis), grid, side="right") - 1
    values = np.where(np.isnan(curve.values), np.inf, curve.values)
    return np.where(last >= 0, values[np.maximum(last, 0)], np.inf)


def common_grid(curves: Sequence[Curve], axis: Axis, points: int = 100) -> Floats:
    """Return at most about `points` positions shared by the curves, from their start to their median end.

    Iterations are the measured ones, thinned evenly in the logarithm; seconds and cost are log-spaced.
    """
    positions = [curve.along(axis) for curve in curves if len(curve.values)]
    if not positions:
        return np.zeros(0)
    start = min(float(along[0]) for along in positions)
    end = float(np.sort([along[-1] for along in positions])[(len(positions) - 1) // 2])
    later = [along[along > start] for along in positions]
    firsts = [float(along[0]) for along in later if len(along)]
    if not firsts or end <= start:
        return np.array([start])
    if axis == "iterations":
        measured = np.unique(np.concatenate(later))
        measured = measured[measured <= end]
        if len(measured) > points:
            wanted = np.geomspace(measured[0], end, points)
            measured = np.unique(measured[np.searchsorted(measured, wanted * (1 - 1e-12))])
        return np.concatenate([[start], measured])
    first = min(float(np.median(firsts)), end)
    spaced = np.geomspace(first, end, points) if first > 0 else np.linspace(first, end, points)
    spaced[-1] = end  # the last value must not be lost to rounding
    return np.unique(np.concatenate([[start], spaced]))


def band(curves: Sequence[Curve], axis: Axis, coverage: float = 0.8, points: int = 100) -> Band:
    """Return the median of the curves and the central `coverage` of them, on their common grid.

    The quantiles are order statistics, taken outward: with up to ten curves the central 80 % is their range.
    """
    grid = common_grid(curves, axis, points)
    if len(grid) == 0:
        return Band(grid, grid, grid, grid, 0)
    values = np.sort([value_at(curve, axis, grid) for curve in curves if len(curve.values)], axis=0)
    count = len(values)
    tail = (1 - coverage) / 2
    below = math.floor(tail * (count - 1) + 1e-9)
    middle = values[(count - 1) // 2], values[count // 2]
    return Band(grid, (middle[0] + middle[1]) / 2, values[below], values[count - 1 - below], count)


def time_to_target(curve: Curve, target: float) -> Hit:
    """Return the first measured point whose value is at or below the target (Dolan & Moré 2002's solve time).

    Points are about 5 % apart, and so is the resolution of the answer; it is never early.
    """
    met = np.flatnonzero(curve.values <= target)
    if len(met) == 0:
        return NEVER
    first = int(met[0])
    return Hit(float(curve.iterations[first]), float(curve.seconds[first]), float(curve.cost[first]))


def time_to_all(curves: Sequence[Curve], targets: Sequence[float]) -> Hit:
    """Return when the last of several targets, one a curve, was first met."""
    hits = [time_to_target(curve, target) for curve, target in zip(curves, targets, strict=True)]
    return max(hits, key=lambda hit: hit.iterations, default=NEVER)


def automatic_target(reference: Sequence[Curve]) -> float:
    """Return a target for all methods: the worst final value of the reference method's repetitions.

    The worst, not the median: a median would leave half of the reference's own runs short of it. Rounded
    up to two figures, so that the number printed is the number used; not below ROUNDING_FLOOR of the start.
    """
    reference = [curve for curve in reference if math.isfinite(curve.final)]
    finals = [curve.final for curve in reference]
    if not finals:
        return math.nan
    worst = max(finals)
    if min(finals) >= 0:
        starts = [float(curve.values[0]) for curve in reference if math.isfinite(curve.values[0])]
        worst = max(worst, ROUNDING_FLOOR * max(starts, default=0.0))
        if worst >= min(starts, default=math.inf):  # some run would be there before its first step
            worst = min(starts) / 2
    return _rounded_up(worst)


def _rounded_up(value: float, figures: int = 2) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    digits = figures - 1 - math.floor(math.log10(abs(value)))
    scaled = math.ceil(value * 10.0**digits * (1 - 1e-12) if digits < 300 else value)
    rounded = float(f"{scaled}e{-digits}") if digits < 300 else value
    return max(rounded, value)
