"""Which points of a curve are drawn: few enough for a page, and none that a reader would miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchfw.analysis.convergence import AXES, Axis, Band, Curve, Floats, value_at
from benchfw.records import Result, Status


@dataclass(frozen=True)
class Stop:
    """Where a trial that did not end well was last seen: its last point, and its last finite value."""

    iterations: float
    seconds: float
    cost: float
    value: float
    words: str

    def along(self, axis: Axis) -> float:
        """Return the position on an axis."""
        position: float = getattr(self, axis)
        return position


def median_line(curves: Sequence[Curve], axis: Axis, drawn: Band) -> tuple[Floats, Floats]:
    """Return positions and values of a band's median, with its best point where thinning left it out.

    A band has its first and its last point always.
    """
    measured = np.unique(np.concatenate([curve.along(axis) for curve in curves]))
    measured = measured[(measured >= drawn.grid[0]) & (measured <= drawn.grid[-1])]
    if len(measured) <= len(drawn.grid) and np.isin(measured, drawn.grid).all():
        return drawn.grid, drawn.median
    values = np.sort([value_at(curve, axis, measured) for curve in curves if len(curve.values)], axis=0)
    median = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
    best = int(np.argmin(median))
    if not median[best] < drawn.median.min():
        return drawn.grid, drawn.median
    place = int(np.searchsorted(drawn.grid, measured[best]))
    return np.insert(drawn.grid, place, measured[best]), np.insert(drawn.median, place, median[best])


def find_stop(result: Result, curve: Curve) -> Stop | None:
    """Return where a trial diverged, failed, crashed or ran out of time or memory; None if it did not."""
    status = result.outcome.status
    finite = np.flatnonzero(np.isfinite(curve.values))
    if not (status.faulty or status is Status.DIVERGED) or not len(finite):
        return None
    iterations, seconds, cost = (float(curve.along(axis)[-1]) for axis in AXES)
    words = f"{status.value} (repetition {result.trial.repetition}): {result.outcome.reason}"
    return Stop(iterations, seconds, cost, float(curve.values[finite[-1]]), words)
