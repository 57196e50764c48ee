"""Many curves of a metric as one line and a band: medians and quantiles at a bounded number of positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import Axis, Curve, Floats

Numbers: TypeAlias = NDArray[np.intp]

MOST_VALUES = 1_000_000  # of all curves together, that are in memory at a time
FEWEST_POSITIONS = 200  # among which the best point of a median is looked for


@dataclass(frozen=True, eq=False)
class Band:
    """Median and two quantiles of several curves on a common grid; four arrays of one length."""

    grid: Floats
    median: Floats
    low: Floats
    high: Floats
    count: int


def common_grid(curves: Sequence[Curve], axis: Axis, points: int = 100) -> Floats:
    """Return at most about `points` positions shared by the curves, from their start to their median end.

    Iterations are the measured ones, thinned evenly in the logarithm; seconds and cost are log-spaced.
    """
    positions = [curve.along(axis) for curve in curves if curve.count]
    if not positions:
        return np.zeros(0)
    # not the first and the last: calls from scratch take what they take
    start = min(float(along.min()) for along in positions)
    end = float(np.sort([along.max() for along in positions])[(len(positions) - 1) // 2])
    later = [along[along > start] for along in positions]
    firsts = [float(along.min()) for along in later if len(along)]
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
    count = sum(bool(curve.count) for curve in curves)
    below = math.floor((1 - coverage) / 2 * (count - 1) + 1e-9)
    median, low, high = _order_statistics(stack_curves(curves, axis), grid, (below, count - 1 - below))
    return Band(grid, median, low, high, count)


def median_line(curves: Sequence[Curve], axis: Axis, drawn: Band) -> tuple[Floats, Floats]:
    """Return positions and values of a band's median, with its best point where thinning left it out.

    A band has its first and its last point always. Of very many points, as many are looked at as take a
    bounded time, evenly chosen.
    """
    stacked = stack_curves(curves, axis)
    measured = np.unique(stacked.positions)
    measured = measured[(measured >= drawn.grid[0]) & (measured <= drawn.grid[-1])]
    if len(measured) <= len(drawn.grid) and np.isin(measured, drawn.grid).all():
        return drawn.grid, drawn.median
    most = max(FEWEST_POSITIONS, MOST_VALUES // stacked.count)
    if len(measured) > most:
        measured = measured[np.linspace(0, len(measured) - 1, most).astype(int)]
    (median,) = _order_statistics(stacked, measured)
    best = int(np.argmin(median))
    if not median[best] < drawn.median.min():
        return drawn.grid, drawn.median
    place = int(np.searchsorted(drawn.grid, measured[best]))
    return np.insert(drawn.grid, place, measured[best]), np.insert(drawn.median, place, median[best])


@dataclass(frozen=True, eq=False)
class Stack:
    """The points of `count` curves one after another: the number of the curve, the position, the value."""

    owners: Numbers
    positions: Floats
    values: Floats
    count: int


def stack_curves(curves: Sequence[Curve], axis: Axis) -> Stack:
    """Return the points of all curves that have any; NaN becomes +inf."""
    chosen = [curve for curve in curves if curve.count]
    owners = np.repeat(np.arange(len(chosen)), [curve.count for curve in chosen])
    if not chosen:
        return Stack(owners, np.zeros(0), np.zeros(0), 0)
    values = np.concatenate([curve.values for curve in chosen])
    positions = np.concatenate([curve.along(axis) for curve in chosen])
    return Stack(owners, positions, np.where(np.isnan(values), np.inf, values), len(chosen))


def _order_statistics(stacked: Stack, grid: Floats, ranks: Sequence[int] = ()) -> list[Floats]:
    """Return the median of all curves at each position of the grid, and the values of some ranks."""
    count = stacked.count
    middle = (count - 1) // 2, count // 2
    wanted = sorted({*middle, *ranks})
    step = max(1, MOST_VALUES // count)
    blocks = []
    for start in range(0, len(grid), step):
        values = np.partition(_values_at(stacked, grid[start : start + step]), wanted, axis=1)
        median = (values[:, middle[0]] + values[:, middle[1]]) / 2
        blocks.append([median, *(values[:, rank] for rank in ranks)])
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _values_at(stacked: Stack, grid: Floats) -> Floats:
    """Return what `value_at` does for all curves at once: (positions, curves)."""
    seen_from = np.searchsorted(grid, stacked.positions)  # the first position that has the point behind it
    seen = seen_from < len(grid)
    # of several points between two positions the last one stays
    last = np.full((len(grid), stacked.count), -1)
    last[seen_from[seen], stacked.owners[seen]] = np.flatnonzero(seen)
    np.maximum.accumulate(last, axis=0, out=last)
    return np.where(last >= 0, stacked.values[last], np.inf)
