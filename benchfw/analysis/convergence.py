"""Curves of a metric against iterations, seconds or cost, and first hits of a target.

Lower is better, so NaN counts as +inf: curves of gains have their values negated.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.records import OVERSPENT, Record

Axis: TypeAlias = Literal["iterations", "seconds", "cost"]
Floats: TypeAlias = NDArray[np.float64]
Values: TypeAlias = Sequence[float] | Floats

AXES: tuple[Axis, ...] = ("iterations", "seconds", "cost")
RESOLUTION = 0.005  # of an arrival between two looks
ROUNDING_FLOOR = 1e-10
"""Points below this share of a curve's largest value are left out of a rate: rounding may bend them."""

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Differences below this share of the numbers that they are computed from are rounding."""

FAR = 0.9
"""The share of the way from the start to the lowest end that a method goes which helps to set the target."""

COARSE = 0.05
"""The share of that way by which rounding may raise the target."""

APART = 0.1
"""The share of the distance between the target and the lowest end by which it may."""

MOST_FIGURES = 6


class _Row:
    """A row of a curve's points."""

    def __init__(self, number: int) -> None:
        self._number = number

    def __get__(self, curve: Curve, owner: type | None = None) -> Floats:
        row: Floats = curve._points[self._number]  # noqa: SLF001 - a part of the curve
        return row


class Curve:
    """One metric of one trial at its measured points, in order; arrays of one length.

    `cpu_seconds` are there where all points have them.
    """

    __slots__ = ("__weakref__", "_points")  # one block of memory: there may be 100,000 curves

    def __init__(
        self,
        iterations: Values,
        seconds: Values,
        cost: Values,
        values: Values,
        cpu_seconds: Values | None = None,
    ) -> None:
        rows = (iterations, seconds, cost, values, *([] if cpu_seconds is None else [cpu_seconds]))
        self._points: Floats = np.array(rows, dtype=np.float64)

    @classmethod
    def of_block(cls, block: bytes, start: int, rows: int, points: int) -> Curve:
        """Return the curve whose numbers are in a block of memory, from a byte on."""
        curve = cls.__new__(cls)
        points_of = np.frombuffer(block, np.float64, rows * points, start).reshape(rows, points)
        curve._points = points_of  # noqa: SLF001 - its own
        return curve

    @property
    def block(self) -> bytes:
        """Return the numbers, row by row."""
        return self._points.tobytes()

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of rows, which is 5 with CPU seconds and 4 without, and that of points."""
        rows, points = self._points.shape
        return rows, points

    iterations = _Row(0)
    """After how many iterations each point was measured."""

    seconds = _Row(1)
    """The seconds that had passed."""

    cost = _Row(2)
    """What had been spent."""

    values = _Row(3)
    """The metric."""

    @property
    def cpu_seconds(self) -> Floats | None:
        """Return the CPU seconds, where they are known."""
        return self._points[4] if len(self._points) > 4 else None

    @property
    def count(self) -> int:
        """Return the number of points."""
        return int(self._points.shape[1])

    def along(self, axis: Axis) -> Floats:
        """Return the positions of the points on an axis."""
        positions: Floats = getattr(self, axis)
        return positions

    @property
    def final(self) -> float:
        """Return the last value; NaN for a curve with no point."""
        return float(self.values[-1]) if self.count else math.nan


@dataclass(frozen=True)
class Hit:
    """When a curve first met its target; all three are +inf if it never did."""

    iterations: float
    seconds: float
    cost: float


NEVER = Hit(math.inf, math.inf, math.inf)


def curves_by_metric(
    records: Iterable[Record], gains: Collection[str] = (), *, bounds: bool = False
) -> dict[str, Curve]:
    """Return what a trial measured, or the theorem's curves, as one curve a metric, in order of appearance.

    Those of `gains` are negated: of all curves lower is better.
    """
    points: dict[str, list[Record]] = {}
    for record in records:
        if (record.role == "bound") is bounds:
            lower = record._replace(value=-record.value) if record.metric in gains else record
            points.setdefault(record.metric, []).append(lower)
    return {metric: _curve(each) for metric, each in points.items()}


def _curve(points: list[Record]) -> Curve:
    ordered = sorted(points, key=itemgetter(1, 2, 3, 4))  # by iteration, and calls from scratch by time
    _, iterations, seconds, cost, values, _, used = zip(*ordered, strict=True)
    known = None not in used and not any(map(math.isnan, used))
    return Curve(iterations, seconds, cost, values, used if known else None)


def value_at(curve: Curve, axis: Axis, grid: Floats) -> Floats:
    """Return the curve's value at each grid point: that of the last measured point at or before it.

    No interpolation, since nobody saw the values between; +inf before the first point. Of calls from scratch,
    some of which take less time than one before, that is the call of the greatest effort.
    """
    positions = curve.along(axis)
    order = np.argsort(positions, kind="stable")
    before = np.searchsorted(positions[order], grid, side="right") - 1
    last = np.maximum.accumulate(order)[np.maximum(before, 0)] if curve.count else before
    values = np.where(np.isnan(curve.values), np.inf, curve.values)
    return np.where(before >= 0, values[np.maximum(last, 0)], np.inf)


def value_range(curve: Curve, start: float, end: float) -> tuple[float, float]:
    """Return the least and the greatest value that a curve has from one second to another."""
    inside = curve.values[(curve.seconds > start) & (curve.seconds <= end)]
    values = np.append(inside, value_at(curve, "seconds", np.array([start])))
    values = np.where(np.isnan(values), math.inf, values)
    return float(np.min(values)), float(np.max(values))


def has_begun(curve: Curve, second: float) -> bool:
    """Return whether a curve has a point other than its start by some second."""
    return bool(np.any(curve.seconds[curve.iterations > 0] <= second))


def curve_within(curve: Curve, seconds: float | None, cost: float | None) -> Curve:
    """Return the looks within a budget, which a last step may have overspent by far; at least the first."""
    if seconds is None and cost is None:
        return curve
    within = np.ones(len(curve.values), dtype=np.bool_)
    for positions, most in ((curve.seconds, seconds), (curve.cost, cost)):
        if most is not None:
            within &= positions <= (1 + OVERSPENT) * most
    within[:1] = True
    if np.all(within):
        return curve
    used = None if curve.cpu_seconds is None else curve.cpu_seconds[within]
    columns = (curve.iterations, curve.seconds, curve.cost, curve.values)
    iterations, spent, costs, values = (column[within] for column in columns)
    return Curve(iterations, spent, costs, values, used)


def time_to_all(curves: Sequence[Curve], targets: Sequence[float]) -> Hit:
    """Return the first look at which several targets, one a curve, were met together.

    That is Dolan & Moré's (2002) solve time. Looks are about 5 % apart, and so is the resolution of the
    answer; it is never early.
    """
    if not curves:
        return NEVER
    first = curves[0]
    met = first.values <= targets[0]
    for curve, target in zip(curves[1:], targets[1:], strict=True):
        met &= np.isin(first.iterations, curve.iterations[curve.values <= target])
    looks = np.flatnonzero(met)
    if len(looks) == 0:
        return NEVER
    at = int(looks[0])
    return Hit(float(first.iterations[at]), float(first.seconds[at]), float(first.cost[at]))


def automatic_target(methods: Sequence[Floats], floor: float | None = 0.0) -> float:
    """Return a target for all methods: the worst end of the last one among those that got far.

    `methods` are the first and the last value of each run: (runs, 2).
    The end of a method is the worst final value of its repetitions; it got far if that is FAR of the way from
    the start to the lowest of these ends. Which method is the reference plays no part. Rounded up to two
    figures, so that the number printed is the number used, or to more where that would be COARSE of the way
    from the start, or APART of that to the lowest end; not below the floor, where rounding decides. What has
    no floor, since 0 means nothing in it, has None.
    """
    ends, starts = _ends_and_starts(methods)
    if not ends:
        return math.nan
    best, start = min(ends), float(np.min(starts, initial=math.inf))
    edge = start - FAR * (start - best) if best < start < math.inf else best
    target = max(end for end in ends if end <= max(edge, best))
    if floor is not None and all(np.all(runs[np.isfinite(runs[:, 1]), 1] >= 0) for runs in methods):
        target = max(target, floor)
        if target >= start:  # some run would be there before its first step
            target = start / 2
    coarse = COARSE * (start - target) if target < start < math.inf else math.inf
    if best < target:
        coarse = min(coarse, APART * (target - best))
    rounded = (_rounded_up(target, figures) for figures in range(2, MOST_FIGURES + 1))
    return next((each for each in rounded if each - target <= coarse), target)


def none_improves(methods: Sequence[Floats]) -> bool:
    """Return whether no method ends below the lowest start in all of its runs.

    Then the automatic target is half of that start, or the lowest end of a metric with a sign.
    """
    ends, starts = _ends_and_starts(methods)
    return bool(ends) and min(ends) >= float(np.min(starts, initial=math.inf))


def _ends_and_starts(methods: Sequence[Floats]) -> tuple[list[float], Floats]:
    """Return the worst final value of each method, and the first values of all runs."""
    finite = [runs[np.isfinite(runs[:, 1])] for runs in methods]
    ends = [float(np.max(runs[:, 1])) for runs in finite if len(runs)]
    starts = np.concatenate([np.zeros(0), *(runs[:, 0] for runs in finite)])
    return ends, starts[np.isfinite(starts)]


def _rounded_up(value: float, figures: int = 2) -> float:
    if value == 0 or not math.isfinite(value):
        return value
    digits = figures - 1 - math.floor(math.log10(abs(value)))
    less = value - 1e-12 * abs(value)  # 0.1 has more digits than it shows
    scaled = math.ceil(less * 10.0**digits if digits < 300 else value)
    rounded = float(f"{scaled}e{-digits}") if digits < 300 else value
    return max(rounded, value)
