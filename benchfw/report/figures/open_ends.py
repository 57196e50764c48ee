"""Intervals that are longer than an axis, or have no end: their bars end in an arrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from benchfw.analysis.intervals import Interval
from benchfw.report.figures.plot import Style, rounded

MOST_ROOM = 10.0
"""Times the lowest and the highest estimate: a logarithmic axis goes no further for an interval."""

ARROWS = "An arrow is where an interval goes on. "

_EDGE = 1.15  # factor between the last end that is shown and the edge


class Edges(NamedTuple):
    """Where the bars of intervals end at the latest; one without an upper end, so many times its estimate."""

    low: float
    high: float
    longest: float = math.inf

    def clip(self, interval: Interval) -> Interval:
        """Return the part of an interval that is drawn; one that says nothing has none."""
        if interval.low <= 0 and math.isinf(interval.high):
            return interval
        high = min(interval.high, self.high)
        if math.isinf(interval.high):
            high = min(high, self.longest * interval.estimate)
        return Interval(interval.estimate, max(interval.low, self.low), high, interval.count)


def find_edges(intervals: Sequence[Interval], *, log: bool = True, stub: float = 1.0) -> Edges:
    """Return the edges that show all estimates, and of intervals as much as leaves these apart.

    On a logarithmic axis, the bar to an upper end that is not known takes at most a share `stub` of it, and
    zeros, which have no place there, do not count.
    """
    intervals = [each for each in intervals if each.estimate > 0] if log else intervals
    if not intervals:
        return Edges(0.0 if log else -math.inf, math.inf)
    estimates = [each.estimate for each in intervals]
    ends = [end for each in intervals for end in (each.low, each.high) if math.isfinite(end)]
    if not log:
        low, high = min([*estimates, *ends]), max([*estimates, *ends])
        return Edges(-math.inf, high + 0.08 * (high - low))
    low, high = min(estimates) / MOST_ROOM, max(estimates) * MOST_ROOM
    shown = [*estimates, *(end for end in ends if low <= end <= high)]
    low, high = min(shown) / _EDGE, max(shown) * _EDGE
    return Edges(low, high, (high / low) ** stub)


def arrow_traces(
    name: str,
    intervals: Sequence[Interval],
    positions: Sequence[float],
    edges: Edges,
    style: Style,
    *,
    across: bool = True,
) -> list[dict[str, Any]]:
    """Return the arrows of a method's intervals, along x or, if not `across`, along y."""
    clipped = [*map(edges.clip, intervals)]
    rows = [*zip(clipped, intervals, positions, strict=True)]
    below = [(drawn.low, at) for drawn, whole, at in rows if drawn.low > whole.low]
    above = [(drawn.high, at) for drawn, whole, at in rows if drawn.high < whole.high]
    symbols = ("left", "right") if across else ("down", "up")
    return [
        _arrows(name, symbol, points, style, across=across)
        for symbol, points in zip(symbols, (below, above), strict=True)
        if points
    ]


def _arrows(
    name: str, symbol: str, points: Sequence[tuple[float, float]], style: Style, *, across: bool
) -> dict[str, Any]:
    along, beside = (rounded(each) for each in zip(*points, strict=True))
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "legendgroup": name,
        "showlegend": False,
        "x": along if across else beside,
        "y": beside if across else along,
        "marker": {"size": 9, "color": style.colour, "symbol": f"triangle-{symbol}"},
        "hoverinfo": "skip",
        "meta": {"part": "arrow"},
    }
