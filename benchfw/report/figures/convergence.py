"""Error against iterations, seconds and cost: median of the repetitions, their band, the theorem's bound."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.analysis.convergence import AXES, Axis, Band, Curve, Floats, band, curves_by_metric
from benchfw.records import BOUND_PREFIX, Result, Status
from benchfw.report.figures.plot import Figure, Style, View, log_axis, plain, rounded
from benchfw.report.figures.sampling import Stop, find_stop, median_line
from benchfw.summary.model import Method, by_method
from benchfw.summary.summarize import Comparison

MOST_BANDS = 10
"""With more methods than this the bands start hidden: they would cover the lines."""

MOST_WORDS = 160  # characters of a reason beside a cross

_HOVER = "%{fullData.name}<br>%{y:.3g} at %{x:.4g}<extra></extra>"
_DRAWN = frozenset({Status.DONE, Status.REACHED, Status.DIVERGED})
_HOW_TO_READ = (
    "Lower is better. {lines}{bounds}{stops}"
    "Click a name to hide it, double-click to see it alone; drag to zoom, double-click to come back."
)
_ONE_RUN = "Each line is one run. "
_BANDS = (
    "Each line is the median of a method's repetitions at its measured points; the shaded band holds the "
    "central 80 % of them (all of them when they are ten or fewer). "
)
_BOUNDS = "A thin dashed line is what a theorem promises: the measured line should lie below it. "
_STOPS = "A cross is where a trial broke off or diverged; point at it for the reason. "


def convergence_figures(
    comparison: Comparison, results: Sequence[Result], styles: Mapping[Method, Style]
) -> list[Figure]:
    """Return one figure a metric, each with a view against iterations, seconds and cost."""
    traced = {
        method: [(result, _drawn(result)) for result in group] for method, group in by_method(results).items()
    }
    figures = [
        _figure(comparison, metric, [_history(metric, *each) for each in traced.items()], styles)
        for metric in comparison.metrics
    ]
    return [figure for figure in figures if figure.views[0].data]


@dataclass(frozen=True)
class _History:
    """What the trials of one method say about one metric."""

    method: Method
    measured: list[Curve]
    bounds: list[Curve]
    stops: list[Stop]


def _history(metric: str, method: Method, traced: Sequence[tuple[Result, Mapping[str, Curve]]]) -> _History:
    drawn = [curves for result, curves in traced if result.outcome.status in _DRAWN]
    measured = [curves[metric] for curves in drawn if metric in curves]
    bound = BOUND_PREFIX + metric
    bounds = [curves[bound] for curves in drawn if bound in curves]
    ends = [find_stop(result, curves[metric]) for result, curves in traced if metric in curves]
    return _History(method, measured, bounds, [stop for stop in ends if stop])


def _figure(
    comparison: Comparison, metric: str, histories: Sequence[_History], styles: Mapping[Method, Style]
) -> Figure:
    names = ", ".join(comparison.name(method) for method in comparison.methods)
    bands = any(len(each.measured) > 1 for each in histories)
    return Figure(
        title=f"{comparison.problem}: {metric}",
        alt=f"Lines of {metric} on {comparison.problem} against iterations, seconds or cost for {names}.",
        how_to_read=_HOW_TO_READ.format(
            lines=_BANDS if bands else _ONE_RUN,
            bounds=_BOUNDS if any(each.bounds for each in histories) else "",
            stops=_STOPS if any(each.stops for each in histories) else "",
        ),
        views=tuple(_view(comparison, metric, axis, histories, styles) for axis in AXES),
        controls=("log x", "log y", "bands") if bands else ("log x", "log y"),
        height=460,
    )


def _view(
    comparison: Comparison,
    metric: str,
    axis: Axis,
    histories: Sequence[_History],
    styles: Mapping[Method, Style],
) -> View:
    shown = {each.method: band(each.measured, axis) for each in histories if each.measured}
    height = {"title": {"text": plain(metric)}, **_value_axis(shown.values())}
    data: list[dict[str, Any]] = []
    for history in histories:
        style = styles[history.method]
        parts: dict[str, dict[str, Any]] = {}
        if history.measured:
            drawn = shown[history.method]
            if drawn.count > 1:
                parts["band"] = _band_trace(drawn, style, visible=len(shown) <= MOST_BANDS)
            parts["line"] = _line_trace(median_line(history.measured, axis, drawn), style)
        if history.bounds:
            parts["bound"] = _bound_trace(band(history.bounds, axis), style)
        if history.stops:
            parts["stop"] = _stop_trace(history.stops, axis, style, height)
        name = plain(comparison.name(history.method))
        for part, trace in parts.items():
            trace["name"] = name if part == "line" else f"{name}, {part}"
            # what belongs to a line hides and shows with it
            trace |= {"type": "scatter", "legendgroup": name, "showlegend": part == "line"}
            trace["meta"] = {"part": part, "backend": history.method.backend}
            data.append(trace)
    unit = {"iterations": "iterations", "seconds": "seconds", "cost": comparison.cost_unit}[axis]
    return View(unit, data, {"xaxis": {"title": {"text": plain(unit)}, "type": "log"}, "yaxis": height})


def _band_trace(drawn: Band, style: Style, *, visible: bool) -> dict[str, Any]:
    inside = np.isfinite(drawn.low) & np.isfinite(drawn.high)
    x = rounded(drawn.grid[inside])
    return {
        "mode": "none",
        "x": [*x, *reversed(x)],
        "y": rounded([*drawn.low[inside], *drawn.high[inside][::-1]], 4),
        "fill": "toself",
        "fillcolor": f"{style.colour}2e",
        "hoverinfo": "skip",
        "visible": visible,
    }


def _line_trace(points: tuple[Floats, Floats], style: Style) -> dict[str, Any]:
    mode = "lines+markers" if style.marked else "lines"
    return {
        "mode": mode if len(points[0]) > 1 else "markers",
        "x": rounded(points[0]),
        "y": rounded(points[1]),
        "line": {"color": style.colour, "dash": style.dash, "width": 2},
        "marker": {"color": style.colour, "symbol": style.symbol, "maxdisplayed": 8},
        "hovertemplate": _HOVER,
    }


def _bound_trace(drawn: Band, style: Style) -> dict[str, Any]:
    return {
        "mode": "lines",
        "x": rounded(drawn.grid),
        "y": rounded(drawn.median),
        "line": {"color": style.colour, "dash": "2px,3px", "width": 1},
        "hovertemplate": _HOVER,
    }


def _stop_trace(
    points: Sequence[Stop], axis: Axis, style: Style, height: Mapping[str, Any]
) -> dict[str, Any]:
    # one that left the drawing at its top is shown there
    top = 10.0 ** height["range"][1] if "range" in height else math.inf
    return {
        "mode": "markers",
        "x": rounded(point.along(axis) for point in points),
        "y": rounded(min(point.value, top) for point in points),
        "text": [plain(f"{point.words}; {point.value:.3g}", MOST_WORDS) for point in points],
        "marker": {"color": style.colour, "symbol": "x", "size": 9},
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
    }


def _value_axis(bands: Iterable[Band]) -> dict[str, Any]:
    """Return the axis of the values: logarithmic if they fall far, and not stretched by what diverges."""
    found = [drawn for drawn in bands if len(drawn.grid)]
    medians = np.concatenate([drawn.median for drawn in found]) if found else np.zeros(0)
    finite = medians[np.isfinite(medians) & (medians > 0)]
    if not log_axis(medians):
        return {"type": "linear"}
    starts = [float(drawn.median[0]) for drawn in found if 0 < drawn.median[0] < math.inf]
    top = min(float(finite.max()), 10 * max(starts, default=float(finite.max())))
    ends = [math.log10(float(finite.min())), math.log10(top)]
    margin = 0.05 * (ends[1] - ends[0])
    return {"type": "log", "range": rounded([ends[0] - margin, ends[1] + margin]), "exponentformat": "power"}


def _drawn(result: Result) -> dict[str, Curve]:
    """Return a trial's curves; one that diverged ends at infinity in every metric, not at its last number."""
    curves = curves_by_metric(result.outcome.records)
    if result.outcome.status is Status.DIVERGED:
        for curve in curves.values():
            curve.values[-1] = math.inf
    return curves
