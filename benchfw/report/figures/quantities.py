"""Quantities with intervals: a dot a method, or a line a family against the number that a sweep varied."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from benchfw.records import Cell
from benchfw.report.figures.open_ends import ARROWS, Edges, arrow_traces, find_edges
from benchfw.report.figures.plot import (
    Figure,
    Style,
    View,
    dot_trace,
    error_bars,
    line_trace,
    log_axis,
)
from benchfw.report.tables import column_title, find_unit
from benchfw.report.text import escape_plotly, interval_text
from benchfw.summary.model import Comparison, Row, Sweep

Styles: TypeAlias = Mapping[Cell, Style]

_DOTS = "Each dot is one method, its bar the 95 % interval over repetitions. "
_ARRIVALS = (
    "Each dot is one method: the geometric mean over repetitions, its bar from the lowest to the highest "
    "run, widened for the time between looks and for a busy machine; where some run never arrives or starts "
    "at the target, the median and its interval. "
)
_APART = "Bars that overlap do not mean 'no difference': repetitions are paired, so see the ratios. "
_LEFT = "Further left is better. "
_AGAINST = "Against cost, lower is a smaller variance and further left a cheaper draw. "
_LARGEST = "Of a gradient, the variance is the sum over its coordinates; 'worst coordinate' is the largest. "
_BOUND = (
    "A bar towards smaller values only is a lower bound, since a few draws carry most of the variance; no "
    "bar means too few draws. A method without a dot never varied beyond rounding."
)
_PRODUCT = (
    "With a fixed time to spend, the error of the mean of an unbiased method's draws is in proportion to the "
    "root of this product: it is the fair price of a draw. "
)
_BIAS = (
    "A bar that crosses the line at zero shows no bias beyond noise; without a bar, too few draws carry the "
    "variance to test it. For gradients the bias is the length of the mean error, without what noise "
    "adds to it. Of many bars some miss the "
    "line by chance: the verdict corrects for their number."
)
_TARGET = "Further left is faster. A method without a dot did not reach the target in half of its runs."
_BESIDE = frozenset(
    {
        *("bias", "mse", "worst_variance", "relative_efficiency", "setup_cost", "setup_seconds"),
        *("cpu_seconds_per_draw", "setup_cpu_seconds"),
        *("variance_x_seconds", "mse_x_seconds", "variance_x_cpu_seconds", "mse_x_cpu_seconds"),
    }
)
_SWEEP = (
    "Lower is better. Each line is one family of methods that differ in {parameter} only; a bar is {bar}. "
)
_POINT = "A hollow mark is a method with one value of it. "
_SWEPT_BARS = {
    "optimizer": "the interval of the median over repetitions or, to the target, the lowest and highest run",
    "estimator": "the 95 % interval over repetitions",
}
_SWEPT_DRAWS = "An arrow upwards, or no bar: a few draws carry most of the variance."


def target_figures(comparison: Comparison, styles: Styles) -> list[Figure]:
    """Return time and cost to the common target; methods that never reach it have no dot."""
    units = {name: column_title(comparison, name) for name in ("seconds_to_target", "cost_to_target")}
    return _dots(comparison, styles, "to the target", units, _ARRIVALS + _APART + _TARGET)


def estimator_figures(comparison: Comparison, styles: Styles) -> list[Figure]:
    """Return variance (by method and against cost), error x seconds, and bias with its zero line."""
    views = {"variance": "by method", "worst_variance": "worst coordinate"}
    against = _variance_against_cost(comparison, styles)
    largest = _LARGEST if _find_rows(comparison, comparison.cells, "worst_variance") else ""
    how = f"By method, further left is better. {_AGAINST}" if against.data else _LEFT
    variance = _dots(comparison, styles, "variance", views, _DOTS + how + largest + _APART + _BOUND)
    if variance and against.data:
        variance = [replace(variance[0], views=(*variance[0].views, against))]
    error = comparison.product.split("_")[0]
    seconds = "CPU seconds" if comparison.by_cpu else "seconds"
    products = {comparison.product: f"{error} x {seconds} a draw"}
    product = _dots(comparison, styles, f"{error} x {seconds}", products, _DOTS + _PRODUCT + _LEFT + _BOUND)
    bias = _dots(comparison, styles, "bias", {"bias": "bias"}, _DOTS + _BIAS, signed=True)
    return [*variance, *product, *bias]


def kernel_figures(comparison: Comparison, styles: Styles) -> list[Figure]:
    """Return the time of a call, by kernel and backend."""
    words = f"{_DOTS}Further left is faster."
    return _dots(
        comparison,
        styles,
        "time a call",
        {"seconds_per_call": column_title(comparison, "seconds_per_call")},
        words,
    )


def _dots(
    comparison: Comparison,
    styles: Styles,
    title: str,
    quantities: Mapping[str, str],
    how_to_read: str,
    *,
    signed: bool = False,
) -> list[Figure]:
    """Return one figure with a view a quantity, or none when there is nothing to show."""
    views = []
    for quantity, label in quantities.items():
        rows = _find_rows(comparison, comparison.cells, quantity)
        if not signed:
            rows = [row for row in rows if row.interval.estimate > 0]
        if rows:
            data = [_dot(comparison, row, styles[row.cell]) for row in rows]
            name = title if label == "by method" else label
            views.append(View(label, data, _dot_layout(comparison, name, rows, signed)))
    if not views:
        return []
    names = ", ".join(comparison.name(cell) for cell in comparison.measured)
    place = f"{comparison.problem}: " if comparison.problem else ""
    alt = f"{place}dots with intervals of {title} for {names}."
    lines = max(_tick(comparison.name(cell)).count("<br>") + 1 for cell in comparison.measured)
    height = 110 + max(30, 18 * lines) * len(comparison.measured)
    return [Figure(place + title, alt, how_to_read, tuple(views), height=height)]


def _dot(comparison: Comparison, row: Row, style: Style) -> dict[str, Any]:
    name = comparison.name(row.cell)
    return dot_trace(
        name, row.interval.estimate, _tick(name), style, f"{name}: {interval_text(row.interval)}"
    ) | {
        "error_x": error_bars([row.interval], style),
        "showlegend": False,
        "meta": {"backend": row.cell.backend},
    }


def _dot_layout(comparison: Comparison, label: str, rows: Sequence[Row], signed: bool) -> dict[str, Any]:
    ticks = [_tick(comparison.name(cell)) for cell in comparison.measured]
    logarithmic = not signed and log_axis(row.interval.estimate for row in rows)
    return {
        "xaxis": {
            "title": {"text": escape_plotly(label)},
            "type": "log" if logarithmic else "linear",
            "rangemode": "normal" if logarithmic else "tozero",
            "zeroline": signed,
        },
        "yaxis": {
            "type": "category",
            "categoryorder": "array",
            "categoryarray": ticks,
            "range": [len(ticks) - 0.5, -0.5],
            "automargin": True,
            "ticks": "",
        },
    }


def _variance_against_cost(comparison: Comparison, styles: Styles) -> View:
    """Return variance against cost a draw, both logarithmic."""
    data = []
    for cell in comparison.cells:
        variance, cost = comparison.row(cell, "variance"), comparison.row(cell, "cost_per_draw")
        if not variance or not cost or variance.interval.estimate <= 0 or cost.interval.estimate <= 0:
            continue
        name, style = comparison.name(cell), styles[cell]
        shown = f"{name}: {interval_text(variance.interval)} for {interval_text(cost.interval)} a draw"
        dot = dot_trace(name, cost.interval.estimate, variance.interval.estimate, style, shown)
        bars = {"error_y": error_bars([variance.interval], style)}
        data.append(dot | bars | {"meta": {"backend": cell.backend}})
    layout = {
        "xaxis": {"title": {"text": escape_plotly(f"{comparison.cost_unit} a draw")}, "type": "log"},
        "yaxis": {"title": {"text": "variance"}, "type": "log"},
        "showlegend": True,
        "height": 440,
    }
    return View("against cost", data, layout)


def _tick(name: str) -> str:
    """Return a name in lines short enough to stand left of the axis on a phone."""
    return "<br>".join(map(escape_plotly, textwrap.wrap(name, 20))) or " "


def sweep_figures(comparison: Comparison, styles: Styles) -> list[Figure]:
    """Return one figure with a view a quantity, or none where the suite varied no number."""
    sweep = comparison.sweep
    if sweep is None or not sweep.curves:
        return []
    found = dict.fromkeys(row.quantity for row in comparison.rows)
    names = [name for name in _swept(comparison, found) if name in found]
    views = [_sweep_view(comparison, sweep, name, styles) for name in names]
    views = [view for view in views if _varies(view)]
    if not views:
        return []
    families = ", ".join(_family_name(comparison, sweep, family) for family in sweep.families)
    title = f"{comparison.problem}: against {sweep.parameter}"
    alt = f"Lines of {', '.join(view.label for view in views)} against {sweep.parameter} for {families}."
    words = _SWEEP.format(parameter=sweep.parameter, bar=_SWEPT_BARS[comparison.kind])
    words += _POINT if len(sweep.curves) < len(sweep.families) else ""
    if any(each["meta"]["part"] == "arrow" for view in views for each in view.data):
        words += ARROWS
    if comparison.kind == "estimator":
        words += _SWEPT_DRAWS
    return [Figure(title, alt, words.rstrip(), tuple(views), controls=("log x", "log y"), height=460)]


def _swept(comparison: Comparison, found: Mapping[str, None]) -> list[str]:
    """Return the quantities to draw against the number that was varied, the one that decides first."""
    if comparison.kind == "optimizer":
        ends = [name for name in comparison.metrics if name in found]
        return ["cost_to_target", "seconds_to_target", *ends]
    measured = ("variance", comparison.product, "seconds_per_draw", "cost_per_draw")
    return [*measured, *(name for name in found if name not in measured and name not in _BESIDE)]


def _sweep_view(comparison: Comparison, sweep: Sweep, quantity: str, styles: Styles) -> View:
    lines = {
        family: _sweep_points(comparison, members, quantity) for family, members in sweep.families.items()
    }
    lines = {family: points for family, points in lines.items() if points}
    heights = [row.interval.estimate for points in lines.values() for _, row in points]
    along = [value for points in lines.values() for value, _ in points]
    log = log_axis(heights)
    edges = find_edges([row.interval for points in lines.values() for _, row in points], log=log, stub=0.06)
    data = [
        trace
        for family, points in lines.items()
        for trace in _sweep_line(
            _family_name(comparison, sweep, family),
            points,
            edges,
            styles[points[0][1].cell],
            is_curve=family in sweep.curves,
        )
    ]
    label = column_title(comparison, quantity).replace("_", " ")
    layout = {
        "xaxis": {
            "title": {"text": escape_plotly(sweep.parameter)},
            "type": "log" if log_axis(along) else "linear",
        },
        "yaxis": {
            "title": {"text": escape_plotly(label)},
            "type": "log" if log else "linear",
            "exponentformat": "power",
        },
        "showlegend": True,
    }
    return View(label, data, layout)


def _family_name(comparison: Comparison, sweep: Sweep, family: str) -> str:
    """Return what a family is called; one of a single value is a method."""
    if family in sweep.curves:
        return family
    return comparison.name(next(iter(sweep.families[family].values())))


def _varies(view: View) -> bool:
    """Whether there is more to see than one number."""
    lines = (each for each in view.data if each["meta"]["part"] == "line")
    return len({height for line in lines for height in line["y"]}) > 1


def _sweep_points(
    comparison: Comparison, members: Mapping[float, Cell], quantity: str
) -> list[tuple[float, Row]]:
    values = {cell: value for value, cell in members.items()}
    return [(values[row.cell], row) for row in _find_rows(comparison, members.values(), quantity)]


def _find_rows(comparison: Comparison, cells: Iterable[Cell], quantity: str) -> list[Row]:
    """Return the finite values of a quantity, in the unit that it is shown in."""
    size, _ = find_unit(comparison, quantity)
    rows = (comparison.row(cell, quantity) for cell in cells)
    return [
        replace(row, interval=row.interval.scaled(1 / size))
        for row in rows
        if row and math.isfinite(row.interval.estimate)
    ]


def _sweep_line(
    name: str, points: Sequence[tuple[float, Row]], edges: Edges, style: Style, *, is_curve: bool
) -> list[dict[str, Any]]:
    values, rows = zip(*points, strict=True)
    intervals = [row.interval for row in rows]
    heights = [row.interval.estimate for row in rows]
    line = line_trace(name, values, heights, style, "%{y:.3g} at %{x:g}", dash="solid")
    mark: dict[str, Any] = {"symbol": style.symbol, "size": 8}
    if not is_curve:  # several may lie at one place
        mark = {"symbol": f"{style.symbol}-open", "size": 13, "line": {"width": 2, "color": style.colour}}
    line |= {
        "mode": "lines+markers" if is_curve else "markers",
        "legendgroup": line["name"],
        "marker": {"color": style.colour, **mark},
        "error_y": error_bars([*map(edges.clip, intervals)], style),
        "meta": {"part": "line", "backend": rows[0].cell.backend},
    }
    return [line, *arrow_traces(line["name"], intervals, values, edges, style, across=False)]
