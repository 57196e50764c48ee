"""Error against iterations, seconds and cost: median of the repetitions, their band, the theorem's bound."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from benchfw.analysis.convergence import AXES, Axis, Band, Curve, band, curves_by_metric
from benchfw.records import BOUND_PREFIX, Result, Status
from benchfw.report.drawing import Figure, Style, View, log_axis, plain, rounded
from benchfw.report.methods import Method, by_method
from benchfw.report.summary import Comparison

MOST_BANDS = 10
"""With more methods than this the bands start hidden: they would cover the lines."""

_DRAWN = frozenset({Status.DONE, Status.REACHED, Status.DIVERGED})
_HOW_TO_READ = (
    "Lower is better. Each line is the median of a method's repetitions at its measured points; the shaded "
    "band holds the central 80 % of them (all of them when they are ten or fewer). {bounds}"
    "Click a name to hide it, double-click to see it alone; drag to zoom, double-click to come back."
)
_BOUNDS = "A thin dashed line is what a theorem promises: the measured line should lie below it. "


def convergence_figures(
    comparison: Comparison, results: Sequence[Result], styles: Mapping[Method, Style]
) -> list[Figure]:
    """Return one figure a metric, each with a view against iterations, seconds and cost."""
    curves = {
        method: [_drawn(result) for result in group if result.outcome.status in _DRAWN]
        for method, group in by_method(results).items()
    }
    figures = [_figure(comparison, metric, curves, styles) for metric in comparison.metrics]
    return [figure for figure in figures if figure.views[0].data]


def _figure(
    comparison: Comparison,
    metric: str,
    curves: Mapping[Method, Sequence[Mapping[str, Curve]]],
    styles: Mapping[Method, Style],
) -> Figure:
    measured = {method: _of(metric, found) for method, found in curves.items()}
    bounds = {method: _of(BOUND_PREFIX + metric, found) for method, found in curves.items()}
    views = tuple(_view(comparison, metric, axis, measured, bounds, styles) for axis in AXES)
    names = ", ".join(comparison.name(method) for method in comparison.methods)
    return Figure(
        title=f"{comparison.problem}: {metric}",
        alt=f"Lines of {metric} on {comparison.problem} against iterations, seconds or cost for {names}.",
        how_to_read=_HOW_TO_READ.format(bounds=_BOUNDS if any(bounds.values()) else ""),
        views=views,
        controls=("log x", "log y", "bands"),
        height=460,
    )


def _view(
    comparison: Comparison,
    metric: str,
    axis: Axis,
    measured: Mapping[Method, list[Curve]],
    bounds: Mapping[Method, list[Curve]],
    styles: Mapping[Method, Style],
) -> View:
    shown = {method: band(found, axis) for method, found in measured.items() if found}
    shaded = len(shown) <= MOST_BANDS
    data: list[dict[str, Any]] = []
    for method, drawn in shown.items():
        name = plain(comparison.name(method))
        data.extend(_band_traces(drawn, name, styles[method], shaded))
    for method, found in bounds.items():
        if found:
            data.append(_bound_trace(band(found, axis), plain(comparison.name(method)), styles[method]))
    unit = {"iterations": "iterations", "seconds": "seconds", "cost": comparison.cost_unit}[axis]
    layout = {
        "xaxis": {"title": {"text": plain(unit)}, "type": "log"},
        "yaxis": {"title": {"text": plain(metric)}, **_value_axis(shown.values())},
    }
    return View(unit, data, layout)


def _band_traces(drawn: Band, name: str, style: Style, shaded: bool) -> Iterator[dict[str, Any]]:
    if drawn.count > 1:
        inside = np.isfinite(drawn.low) & np.isfinite(drawn.high)
        x = rounded(drawn.grid[inside])
        yield {
            "type": "scatter",
            "mode": "none",
            "x": [*x, *reversed(x)],
            "y": rounded([*drawn.low[inside], *drawn.high[inside][::-1]], 4),
            "fill": "toself",
            "fillcolor": f"{style.colour}2e",
            "hoverinfo": "skip",
            "legendgroup": name,
            "showlegend": False,
            "visible": shaded,
            "meta": "band",
        }
    yield {
        "type": "scatter",
        "mode": "lines" if len(drawn.grid) > 1 else "markers",
        "name": name,
        "x": rounded(drawn.grid),
        "y": rounded(drawn.median),
        "line": {"color": style.colour, "dash": style.dash, "width": 2},
        "marker": {"color": style.colour, "symbol": style.symbol},
        "legendgroup": name,
        "hovertemplate": f"{name}<br>%{{y:.3g}} at %{{x:.4g}}<extra></extra>",
    }


def _bound_trace(drawn: Band, name: str, style: Style) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{name}, bound",
        "x": rounded(drawn.grid),
        "y": rounded(drawn.median),
        "line": {"color": style.colour, "dash": "2px,3px", "width": 1},
        "legendgroup": name,
        "showlegend": False,
        "hovertemplate": f"{name}, bound<br>%{{y:.3g}} at %{{x:.4g}}<extra></extra>",
    }


def _value_axis(bands: Any) -> dict[str, Any]:
    """Return the axis of the values: logarithmic if they fall far, and not stretched by what diverges."""
    found: list[Band] = [drawn for drawn in bands if len(drawn.grid)]
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


def _of(metric: str, curves: Sequence[Mapping[str, Curve]]) -> list[Curve]:
    return [found[metric] for found in curves if metric in found]
