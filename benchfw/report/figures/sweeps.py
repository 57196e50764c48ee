"""A quantity against the number that a sweep varied, a line a family of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchfw.records import Cell
from benchfw.report.figures.plot import Figure, Style, View, error_bars, line_trace, log_axis, styles_of
from benchfw.report.text import escape_plotly
from benchfw.summary.model import Comparison, Row, Sweep

_MEASURED = ("variance", "variance_x_seconds", "seconds_per_draw", "cost_per_draw")
_BESIDE = frozenset({"bias", "mse", "worst_variance", "relative_efficiency", "setup_cost", "setup_seconds"})
_HOW_TO_READ = (
    "Lower is better for the variance and its product with time. Each line is one family of methods that "
    "differ in {parameter} only; a bar is the 95 % interval over repetitions. The other views show what a "
    "draw takes, and what the methods themselves say of the problem."
)


def sweep_figures(comparison: Comparison) -> list[Figure]:
    """Return one figure with a view a quantity, or none where the suite varied no number."""
    sweep = comparison.sweep
    if sweep is None or comparison.kind != "estimator":
        return []
    drawn = styles_of(Cell("", "estimator", family, "") for family in sweep.families)
    styles = {cell.method: style for cell, style in drawn.items()}
    found = dict.fromkeys(row.quantity for row in comparison.rows)
    facts = [name for name in found if name not in _MEASURED and name not in _BESIDE]
    views = [_view(comparison, sweep, name, styles) for name in (*_MEASURED, *facts) if name in found]
    views = [view for view in views if _varies(view)]
    if not views:
        return []
    names = ", ".join(sweep.families)
    title = f"{comparison.problem}: against {sweep.parameter}"
    alt = f"Lines of variance and other quantities against {sweep.parameter} for {names}."
    words = _HOW_TO_READ.format(parameter=sweep.parameter)
    return [Figure(title, alt, words, tuple(views), controls=("log x", "log y"), height=460)]


def _view(comparison: Comparison, sweep: Sweep, quantity: str, styles: Mapping[str, Style]) -> View:
    lines = {family: _points(comparison, members, quantity) for family, members in sweep.families.items()}
    lines = {family: points for family, points in lines.items() if points}
    heights = [row.interval.estimate for points in lines.values() for _, row in points]
    along = [value for points in lines.values() for value, _ in points]
    data = [_line(family, points, styles[family]) for family, points in lines.items()]
    label = quantity.replace("_", " ")
    layout = {
        "xaxis": {
            "title": {"text": escape_plotly(sweep.parameter)},
            "type": "log" if log_axis(along) else "linear",
        },
        "yaxis": {
            "title": {"text": escape_plotly(label)},
            "type": "log" if log_axis(heights) else "linear",
            "exponentformat": "power",
        },
        "showlegend": True,
    }
    return View(label, data, layout)


def _varies(view: View) -> bool:
    """Whether there is more to see than one number."""
    return len({height for line in view.data for height in line["y"]}) > 1


def _points(comparison: Comparison, members: Mapping[float, Cell], quantity: str) -> list[tuple[float, Row]]:
    rows = ((value, comparison.row(cell, quantity)) for value, cell in members.items())
    return [(value, row) for value, row in rows if row and math.isfinite(row.interval.estimate)]


def _line(family: str, points: Sequence[tuple[float, Row]], style: Style) -> dict[str, Any]:
    values, rows = zip(*points, strict=True)
    heights = [row.interval.estimate for row in rows]
    return line_trace(family, values, heights, style, "%{y:.3g} at %{x:g}") | {
        "mode": "lines+markers",
        "marker": {"color": style.colour, "symbol": style.symbol, "size": 8},
        "error_y": error_bars([row.interval for row in rows], style),
        "meta": {"backend": rows[0].cell.backend},
    }
