"""What figures draw of many trials: medians, bands and crosses of a bounded size, and targets met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchfw.analysis.bands import Band, band, median_line
from benchfw.analysis.convergence import AXES, Axis, Curve, Floats
from benchfw.analysis.profiles import spaced_targets, target_hits
from benchfw.analysis.stacks import Stack
from benchfw.records import Cell, Role, Status
from benchfw.summary.histories import FINISHED, History, budgeted_curves, in_batches, stack_curves

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
    measured, bounds = (_stack_drawn(drawn, metric, role) for role in ("metric", "bound"))
    broken = (each for each in histories if each.outcome.status not in FINISHED)
    ends = (find_stop(each, curve) for each in broken if (curve := each.curve(metric)))
    stops = [stop for stop in ends if stop]
    # where the cost is not known, there is no line against it
    axes = [axis for axis in AXES if axis != "cost" or all(each.outcome.counting.measures for each in drawn)]
    bands = {axis: band(measured, axis) for axis in axes if measured.count}
    return Line(
        cell,
        bands,
        {axis: median_line(measured, axis, around) for axis, around in bands.items()},
        {axis: band(bounds, axis) for axis in axes if bounds.count},
        tuple(stops[:MOST_STOPS]),
        max(0, len(stops) - MOST_STOPS),
    )


def _stack_drawn(histories: Iterable[History], metric: str, role: Role) -> Stack:
    """Return the curves that there are; that of a trial that diverged ends at infinity, not at a number."""
    found = []
    for some in in_batches(each for each in histories if metric in each.layout[role]):
        stack = stack_curves(some, metric, role)
        diverged = [each.outcome.status is Status.DIVERGED for each in some]
        stack.points[3, (stack.starts + stack.counts - 1)[diverged]] = math.inf
        found.append(stack)
    return Stack.join(found)


def find_stop(history: History, curve: Curve) -> Stop | None:
    """Return where a trial diverged, failed, crashed or ran out of time or memory; None if it did not."""
    outcome = history.outcome
    if not (outcome.status.faulty or outcome.status is Status.DIVERGED):
        return None
    values = curve.values.copy()
    if outcome.status is Status.DIVERGED:
        values[-1] = math.inf
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
    gain = any(metric in each.gains for histories in groups.values() for each in histories)
    measured = [
        [each for each in group if metric in each.layout["metric"] and not each.untrue]
        for group in groups.values()
    ]
    stacks = [Stack.join([budgeted_curves(some, metric) for some in in_batches(group)]) for group in measured]
    targets = spaced_targets(stacks, TARGETS, even=gain)
    repetitions = np.unique([each.repetition for group in measured for each in group])
    hits = {axis: np.full((len(targets), len(repetitions), len(groups)), math.inf) for axis in HIT_AXES}
    for number, (group, curves, stack) in enumerate(zip(groups.values(), measured, stacks, strict=True)):
        places = np.searchsorted(repetitions, [each.repetition for each in curves])
        known = all(each.outcome.counting.measures for each in group)
        for axis in HIT_AXES:
            if known or axis != "cost":
                hits[axis][:, places, number] = target_hits(stack, targets, axis)
    return {axis: found.reshape(-1, len(groups)) for axis, found in hits.items()}
