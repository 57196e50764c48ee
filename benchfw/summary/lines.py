"""What figures draw of many trials: medians, bands and crosses of a bounded size, and targets met."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchfw.analysis.bands import Band, band, median_line
from benchfw.analysis.convergence import AXES, Axis, Curve, Floats
from benchfw.analysis.profiles import spaced_targets, target_hits
from benchfw.records import Cell, Status
from benchfw.summary.histories import History

MOST_STOPS = 50
"""Crosses of one method; a reader cannot tell more of them apart."""

TARGETS = 50
"""Of each problem, in the figure of targets met."""

HIT_AXES: tuple[Axis, ...] = ("seconds", "cost")

_DRAWN = frozenset({Status.DONE, Status.REACHED, Status.DIVERGED})


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


@dataclass(frozen=True, eq=False)
class Line:
    """What the trials of one method say about one metric, by axis, ready to be drawn.

    `medians` are positions and values of the line, `bands` what lies around it, `bounds` the theorem's.
    `stops` are of the first trials that broke or diverged, `unshown` counts the others.
    """

    cell: Cell
    bands: Mapping[Axis, Band]
    medians: Mapping[Axis, tuple[Floats, Floats]]
    bounds: Mapping[Axis, Band]
    stops: tuple[Stop, ...]
    unshown: int = 0


def find_lines(groups: Mapping[Cell, Sequence[History]], metric: str) -> tuple[Line, ...]:
    """Return the lines of all methods for a metric, with values as they were measured."""
    found = (_find_line(metric, *each) for each in groups.items())
    gain = any(metric in each.gains for group in groups.values() for each in group)
    return tuple(map(_negate_line, found) if gain else found)


def _negate_line(line: Line) -> Line:
    """Return the line of a gain, whose curves are negated."""
    return replace(
        line,
        bands={axis: _negate_band(each) for axis, each in line.bands.items()},
        medians={axis: (grid, 0.0 - values) for axis, (grid, values) in line.medians.items()},
        bounds={axis: _negate_band(each) for axis, each in line.bounds.items()},
        stops=tuple(replace(each, value=0.0 - each.value) for each in line.stops),
    )


def _negate_band(found: Band) -> Band:
    return replace(found, median=0.0 - found.median, low=0.0 - found.high, high=0.0 - found.low)


def _find_line(metric: str, cell: Cell, histories: Sequence[History]) -> Line:
    drawn = [each for each in histories if each.outcome.status in _DRAWN]
    measured = [_as_drawn(each, curve) for each in drawn if (curve := each.curve(metric))]
    bounds = [_as_drawn(each, curve) for each in drawn if (curve := each.curve(metric, "bound"))]
    ends = (find_stop(each, curve) for each in histories if (curve := each.curve(metric)))
    stops = [stop for stop in ends if stop]
    # where the cost is not known, there is no line against it
    axes = [axis for axis in AXES if axis != "cost" or all(each.outcome.counting.measures for each in drawn)]
    bands = {axis: band(measured, axis) for axis in axes if measured}
    return Line(
        cell,
        bands,
        {axis: median_line(measured, axis, around) for axis, around in bands.items()},
        {axis: band(bounds, axis) for axis in axes if bounds},
        tuple(stops[:MOST_STOPS]),
        max(0, len(stops) - MOST_STOPS),
    )


def _as_drawn(history: History, curve: Curve) -> Curve:
    """Return a curve; that of a trial that diverged ends at infinity, not at its last number."""
    if history.outcome.status is not Status.DIVERGED:
        return curve
    return Curve(curve.iterations, curve.seconds, curve.cost, [*curve.values[:-1], math.inf])


def find_stop(history: History, curve: Curve) -> Stop | None:
    """Return where a trial diverged, failed, crashed or ran out of time or memory; None if it did not."""
    outcome = history.outcome
    if not (outcome.status.faulty or outcome.status is Status.DIVERGED):
        return None
    values = _as_drawn(history, curve).values
    finite = np.flatnonzero(np.isfinite(values))
    if not len(finite):
        return None
    iterations, seconds, cost = (float(curve.along(axis)[-1]) for axis in AXES)
    words = f"{outcome.status.value} (repetition {history.repetition}): {outcome.reason}"
    return Stop(iterations, seconds, cost, float(values[finite[-1]]), words)


def find_hits(groups: Mapping[Cell, Sequence[History]], metric: str) -> dict[Axis, Floats]:
    """Return when each method met each target in each repetition, by axis: (pairs of these, methods).

    What a last step overspent does not count, as in the verdicts.
    """
    found = {
        cell: {each.repetition: curve for each in histories if (curve := each.budgeted(metric))}
        for cell, histories in groups.items()
    }
    gain = any(metric in each.gains for histories in groups.values() for each in histories)
    every = [curve for curves in found.values() for curve in curves.values()]
    targets = spaced_targets(every, TARGETS, even=gain)
    repetitions = sorted(set().union(*found.values()))
    nothing = Curve(*np.zeros((4, 0)))
    columns = [[curves.get(each, nothing) for each in repetitions] for curves in found.values()]
    hits = {
        axis: np.stack([target_hits(column, targets, axis).ravel() for column in columns], axis=1)
        for axis in HIT_AXES
    }
    known = [all(each.outcome.counting.measures for each in group) for group in groups.values()]
    return {**hits, "cost": np.where(known, hits["cost"], math.inf)}
