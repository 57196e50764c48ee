"""Many curves of a metric as one line and a band: medians and quantiles at a bounded number of positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchfw.analysis.convergence import Axis, Floats
from benchfw.analysis.stacks import Stack

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


def common_grid(curves: Stack, axis: Axis, points: int = 100) -> Floats:
    """Return at most about `points` positions shared by the curves, from their start to their median end.

    Iterations are the measured ones, thinned evenly in the logarithm; seconds and cost are log-spaced.
    """
    along = curves.along(axis)
    if not len(along):
        return np.zeros(0)
    # not the first and the last: calls from scratch take what they take
    start = along.min()
    end = np.sort(np.maximum.reduceat(along, curves.starts))[(curves.count - 1) // 2]
    later = along > start
    if not np.any(later) or end <= start:
        return np.array([start])
    if axis == "iterations":
        measured = np.unique(along[later & (along <= end)])
        if len(measured) > points:
            wanted = np.geomspace(measured[0], end, points)
            measured = np.unique(measured[np.searchsorted(measured, wanted * (1 - 1e-12))])
        return np.concatenate([[start], measured])
    firsts = np.minimum.reduceat(np.where(later, along, np.inf), curves.starts)
    first = min(np.median(firsts[firsts < np.inf]), end)
    spaced = np.geomspace(first, end, points) if first > 0 else np.linspace(first, end, points)
    spaced[-1] = end  # the last value must not be lost to rounding
    return np.unique(np.concatenate([[start], spaced]))


def band(curves: Stack, axis: Axis, coverage: float = 0.8, points: int = 100) -> Band:
    """Return the median of the curves and the central `coverage` of them, on their common grid.

    The quantiles are order statistics, taken outward: with up to ten curves the central 80 % is their range.
    """
    grid = common_grid(curves, axis, points)
    if len(grid) == 0:
        return Band(grid, grid, grid, grid, 0)
    below = math.floor((1 - coverage) / 2 * (curves.count - 1) + 1e-9)
    median, low, high = _order_statistics(curves, axis, grid, (below, curves.count - 1 - below))
    return Band(grid, median, low, high, curves.count)


def median_line(curves: Stack, axis: Axis, drawn: Band) -> tuple[Floats, Floats]:
    """Return positions and values of a band's median, with its best point where thinning left it out.

    A band has its first and its last point always. Of very many points, as many are looked at as take a
    bounded time, evenly chosen.
    """
    measured = np.unique(curves.along(axis))
    measured = measured[(measured >= drawn.grid[0]) & (measured <= drawn.grid[-1])]
    if len(measured) <= len(drawn.grid) and np.isin(measured, drawn.grid).all():
        return drawn.grid, drawn.median
    most = max(FEWEST_POSITIONS, MOST_VALUES // curves.count)
    if len(measured) > most:
        measured = measured[np.linspace(0, len(measured) - 1, most).astype(int)]
    (median,) = _order_statistics(curves, axis, measured)
    best = int(np.argmin(median))
    if not median[best] < drawn.median.min():
        return drawn.grid, drawn.median
    place = int(np.searchsorted(drawn.grid, measured[best]))
    return np.insert(drawn.grid, place, measured[best]), np.insert(drawn.median, place, median[best])


def _order_statistics(curves: Stack, axis: Axis, grid: Floats, ranks: Sequence[int] = ()) -> list[Floats]:
    """Return the median of all curves at each position of the grid, and the values of some ranks."""
    count = curves.count
    middle = (count - 1) // 2, count // 2
    wanted = sorted({*middle, *ranks})
    step = max(1, MOST_VALUES // count)
    blocks = []
    for start in range(0, len(grid), step):
        values = np.partition(_values_at(curves, axis, grid[start : start + step]), wanted, axis=1)
        median = (values[:, middle[0]] + values[:, middle[1]]) / 2
        blocks.append([median, *(values[:, rank] for rank in ranks)])
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


def _values_at(curves: Stack, axis: Axis, grid: Floats) -> Floats:
    """Return what `value_at` does for all curves at once: (positions, curves)."""
    seen_from = np.searchsorted(grid, curves.along(axis))  # the first position that has the point behind it
    seen = seen_from < len(grid)
    # of several points between two positions the last one stays
    last = np.full((len(grid), curves.count), -1)
    last[seen_from[seen], curves.owners[seen]] = np.flatnonzero(seen)
    np.maximum.accumulate(last, axis=0, out=last)
    return np.where(last >= 0, curves.values[last], np.inf)
