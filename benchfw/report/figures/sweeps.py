"""A quantity against the number that a sweep varied, a line a family of methods."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchfw.report.figures.plot import Figure, Style, View, log_axis, plain, rounded, styles_of
from benchfw.summary.model import Method
from benchfw.summary.summarize import Comparison, Row
from benchfw.summary.sweeps import Sweep

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
    drawn = styles_of(Method(family, "") for family in sweep.families)
    styles = {method.label: style for method, style in drawn.items()}
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
        "xaxis": {"title": {"text": plain(sweep.parameter)}, "type": "log" if log_axis(along) else "linear"},
        "yaxis": {
            "title": {"text": plain(label)},
            "type": "log" if log_axis(heights) else "linear",
            "exponentformat": "power",
        },
        "showlegend": True,
    }
    return View(label, data, layout)


def _varies(view: View) -> bool:
    """Whether there is more to see than one number."""
    return len({height for line in view.data for height in line["y"]}) > 1


def _points(
    comparison: Comparison, members: Mapping[float, Method], quantity: str
) -> list[tuple[float, Row]]:
    rows = ((value, comparison.row(method, quantity)) for value, method in members.items())
    return [(value, row) for value, row in rows if row and math.isfinite(row.interval.estimate)]


def _line(family: str, points: Sequence[tuple[float, Row]], style: Style) -> dict[str, Any]:
    estimates = [row.interval.estimate for _, row in points]
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(family),
        "x": rounded([value for value, _ in points]),
        "y": rounded(estimates),
        "line": {"color": style.colour, "dash": style.dash, "width": 2},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": 8},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": rounded([row.interval.high - row.interval.estimate for _, row in points]),
            "arrayminus": rounded([row.interval.estimate - row.interval.low for _, row in points]),
            "color": style.colour,
            "thickness": 1.2,
            "width": 4,
        },
        "hovertemplate": "%{fullData.name}<br>%{y:.3g} at %{x:g}<extra></extra>",
        "meta": {"backend": points[0][1].method.backend},
    }
