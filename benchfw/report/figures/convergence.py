"""Error against iterations, seconds and cost: median of the repetitions, their band, the theorem's bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.bands import Band
from benchfw.analysis.convergence import AXES, Axis, Floats
from benchfw.records import GAP, Cell
from benchfw.report.figures.plot import Figure, Style, View, band_trace, line_trace, rounded
from benchfw.report.figures.value_axis import find_floor, raise_to, value_axis
from benchfw.report.text import escape_plotly, join_names
from benchfw.summary.lines import MOST_STOPS, Line, Stop
from benchfw.summary.model import Comparison, Summary

MOST_BANDS = 10
"""With more methods than this the bands start hidden: they would cover the lines."""

MOST_WORDS = 160  # characters of a reason beside a cross
MOST_POINTS, FEWEST_POINTS = 150_000, 25  # of all lines of a page together, and of each all the same
MARGIN = 0.7  # of the first position: a logarithmic axis has no 0, and lines from there begin here

_PARTS = {"band": "band", "bound": "theorem", "stop": "stops"}
_HOVER = "%{y:.3g} at %{x:.4g}"
_HOW_TO_READ = (
    "{better} is better. {lines}A line begins with the value of the start, level up to the first step. "
    "{calls}{bounds}{stops}{unknown}{floor}"
    "Point at a name to see it alone, click it to hide it; drag to zoom, double-click to come back."
)
_ONE_RUN = "Each line is one run. "
_BANDS = (
    "Each line is the median of a method's repetitions at its measured points; the shaded band holds the "
    "central 80 % of them (all of them when they are ten or fewer). "
)
_BOUNDS = "A thin dotted line is what a theorem promises: the measured line should lie {} it. "
_CALLS = (
    "Of {}, each point is a call from scratch: iterations are the effort asked for, time and cost those of "
    "that call alone. "
)
_UNKNOWN = "The cost of {} is not known: no line against it. "
_FLOOR = "Values below {:.0e} are drawn there: of a difference of objectives that small, rounding decides. "
_STOPS = "A cross is where a trial diverged or did not finish; point at it for the reason. "
_FIRST_STOPS = f"At most {MOST_STOPS} crosses a method are drawn, of its first such trials. "


def points_a_line(summary: Summary) -> int:
    """Return how many points a line may have, so that a page with very many of them stays small."""
    lines = sum(len(each) * len(AXES) for found in summary.comparisons for each in found.lines.values())
    return max(FEWEST_POINTS, MOST_POINTS // max(1, lines))


def convergence_figures(comparison: Comparison, styles: Mapping[Cell, Style], points: int) -> list[Figure]:
    """Return one figure a metric, each with a view against iterations, seconds and cost.

    A line, or an edge of a band, has at most about so many points.
    """
    figures = [_figure(comparison, *each, styles, points) for each in comparison.lines.items()]
    return [figure for figure in figures if figure.views[0].data]


def _figure(
    comparison: Comparison, metric: str, lines: Sequence[Line], styles: Mapping[Cell, Style], points: int
) -> Figure:
    names = ", ".join(comparison.name(cell) for cell in comparison.cells)
    bands = any(around.count > 1 for each in lines for around in each.bands.values())
    gain = metric in comparison.gains
    floor = find_floor(lines) if metric == GAP and not gain else 0.0
    return Figure(
        title=f"{comparison.problem}: {metric}",
        alt=f"Lines of {metric} on {comparison.problem} against iterations, time or cost for {names}.",
        how_to_read=_HOW_TO_READ.format(
            better="Higher" if gain else "Lower",
            lines=_BANDS if bands else _ONE_RUN,
            calls=_describe_calls(comparison),
            bounds=_BOUNDS.format("above" if gain else "below") if any(each.bounds for each in lines) else "",
            stops=_describe_stops(lines),
            unknown=_describe_unknown(comparison, lines),
            floor=_FLOOR.format(floor) if floor else "",
        ),
        views=tuple(
            _view(comparison, metric, axis, [raise_to(each, axis, floor) for each in lines], styles, points)
            for axis in _axes(lines)
        ),
        controls=("log x", "log y", "bands") if bands else ("log x", "log y"),
        height=460,
    )


def _axes(lines: Sequence[Line]) -> Sequence[Axis]:
    """Return the axes, the fairest first: cost, or seconds where the cost of some method is not known."""
    known = all("cost" in each.bands for each in lines if each.bands)
    return ("cost", "seconds", "iterations") if known else ("seconds", "cost", "iterations")


def _view(
    comparison: Comparison,
    metric: str,
    axis: Axis,
    lines: Sequence[Line],
    styles: Mapping[Cell, Style],
    points: int,
) -> View:
    title, size = _along(comparison, axis)
    shown = {
        each.cell: _scale(_thin_band(each.bands[axis], points), size) for each in lines if axis in each.bands
    }
    edge = _left_edge(shown.values())
    gain = metric in comparison.gains
    scale = {"type": "linear"} if gain else value_axis(shown.values())
    height = {"title": {"text": escape_plotly(metric)}, **scale}
    data: list[dict[str, Any]] = []
    for each in lines:
        style, name = styles[each.cell], comparison.name(each.cell)
        parts: dict[str, dict[str, Any]] = {}
        if each.cell in shown:
            drawn = shown[each.cell]
            if drawn.count > 1:
                parts["band"] = _band_trace(drawn, edge, style, visible=len(shown) <= MOST_BANDS)
            grid, values = _thin_line(*each.medians[axis], points, gain=gain)
            line = from_edge(grid / size, values, edge)
            parts["line"] = line_trace(name, *line, style, _HOVER)
            if len(drawn.grid) == 1:
                parts["line"]["mode"] = "markers"
        if axis in each.bounds:
            theorem = _scale(_thin_band(each.bounds[axis], points), size)
            line = from_edge(theorem.grid, theorem.median, edge)
            parts["bound"] = line_trace(name, *line, style, _HOVER, dash="2px,3px", width=1)
            parts["bound"]["mode"] = "lines"
        if each.stops and (axis != "cost" or each.cell in shown):
            parts["stop"] = _stop_trace(each.stops, (axis, size), edge, style, height)
        shown_name = escape_plotly(name)
        for part, trace in parts.items():
            trace["name"] = shown_name if part == "line" else f"{shown_name}, {_PARTS[part]}"
            # what belongs to a line hides and shows with it; a theorem's curve has a name of its own
            shown_part = part in ("line", "bound")
            trace |= {"type": "scatter", "legendgroup": shown_name, "showlegend": shown_part}
            trace["meta"] = {"part": part, "backend": each.cell.backend}
            data.append(trace)
    layout = {"xaxis": {"title": {"text": escape_plotly(title)}, "type": "log"}, "yaxis": height}
    return View(axis_name(comparison, axis), data, layout, axis)


def axis_name(comparison: Comparison, axis: Axis) -> str:
    """Return what curves are drawn against, in a word."""
    return {"iterations": "iterations", "seconds": "time", "cost": comparison.cost_unit}[axis]


def _along(comparison: Comparison, axis: Axis) -> tuple[str, float]:
    """Return the title of an axis, and what positions on it are divided by."""
    name = axis_name(comparison, axis)
    if axis != "seconds":
        return name, 1.0
    size, unit = comparison.unit("seconds_to_target")
    return f"{name}, {unit}", size


def _scale(drawn: Band, size: float) -> Band:
    return replace(drawn, grid=drawn.grid / size)


def _describe_calls(comparison: Comparison) -> str:
    """Return what the points of methods are that are called again and again."""
    names = [comparison.name(cell) for cell in comparison.cells if comparison.from_scratch(cell)]
    return _CALLS.format(join_names(names)) if names else ""


def _describe_unknown(comparison: Comparison, lines: Iterable[Line]) -> str:
    """Return which methods have no line against cost."""
    names = [comparison.name(each.cell) for each in lines if each.bands and "cost" not in each.bands]
    return _UNKNOWN.format(join_names(names)) if names else ""


def _describe_stops(lines: Iterable[Line]) -> str:
    """Return what a cross means, and that there are more where a method has too many."""
    found = list(lines)
    if not any(each.stops for each in found):
        return ""
    return _STOPS + (_FIRST_STOPS if any(each.unshown for each in found) else "")


def _thin_line(grid: Floats, values: Floats, points: int, *, gain: bool) -> tuple[Floats, Floats]:
    """Return at most so many points of a line, its ends among them, and its best one."""
    if len(grid) <= points:
        return grid, values
    kept, best = _spread(len(grid), points), np.argmax(values) if gain else np.argmin(values)
    place = np.searchsorted(kept, best)
    if kept[place] != best:
        kept = np.insert(kept, place, best)
    return grid[kept], values[kept]


def _thin_band(drawn: Band, points: int) -> Band:
    if len(drawn.grid) <= points:
        return drawn
    kept = _spread(len(drawn.grid), points)
    return Band(drawn.grid[kept], drawn.median[kept], drawn.low[kept], drawn.high[kept], drawn.count)


@lru_cache  # the lines of a run have a few lengths
def _spread(count: int, points: int) -> NDArray[np.intp]:
    """Return so many of the numbers below `count`, evenly spread, the first and the last among them."""
    return np.round(np.linspace(0, count - 1, points)).astype(np.intp)


def _left_edge(bands: Iterable[Band]) -> float:
    """Return where lines begin that start at 0, which a logarithmic axis does not have."""
    positions = np.concatenate([drawn.grid for drawn in bands] or [np.zeros(0)])
    return MARGIN * float(np.min(positions, where=positions > 0, initial=math.inf))


def from_edge(grid: Floats, values: Floats, edge: float) -> tuple[Floats, Floats]:
    """Return a line with its start drawn from the left edge on, and from 0 where an axis has it.

    The answer is the start until the first step is done: a line that begins at 0 is level up to there. Of
    several lines on one grid, `values` has a row each.
    """
    if len(grid) == 0 or not math.isfinite(edge):
        return grid, values
    start = values[..., :1]
    if grid[0] > 0:
        return np.concatenate([[edge], grid]), np.concatenate([start, values], axis=-1)
    level = [edge, *grid[1:2]]
    return (
        np.concatenate([grid[:1], level, grid[1:]]),
        np.concatenate([start] * (1 + len(level)) + [values[..., 1:]], axis=-1),
    )


def _band_trace(drawn: Band, edge: float, style: Style, *, visible: bool) -> dict[str, Any]:
    inside = np.isfinite(drawn.low) & np.isfinite(drawn.high)
    grid, (low, high) = from_edge(drawn.grid[inside], np.stack([drawn.low, drawn.high])[:, inside], edge)
    return {**band_trace(grid, low, high, style), "visible": visible}


def _stop_trace(
    points: Sequence[Stop], along: tuple[Axis, float], edge: float, style: Style, height: Mapping[str, Any]
) -> dict[str, Any]:
    axis, size = along
    left = edge if math.isfinite(edge) else 0.0
    # one that left the drawing at its top is shown there
    top = 10.0 ** height["range"][1] if "range" in height else math.inf
    return {
        "mode": "markers",
        "x": rounded(max(point.along(axis) / size, left) for point in points),
        "y": rounded(min(point.value, top) for point in points),
        "text": [escape_plotly(f"{point.words}; {point.value:.3g}", MOST_WORDS) for point in points],
        "marker": {"color": style.colour, "symbol": "x", "size": 9},
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
    }
