"""Time against size with the floor of the hardware below, and the share of the limit of all kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.figures.plot import Figure, Style, View, error_bars, line_trace, rounded, styles_of
from benchfw.report.tables import column_title, find_unit
from benchfw.report.text import escape_plotly
from benchfw.summary.kernels import break_evens
from benchfw.summary.model import Comparison, Summary

_SIZES = (
    "Lower is better. Each line is one backend, a bar the 95 % interval of its time a call. The thin line of "
    "its colour is the floor of the hardware: the declared operations and bytes at the highest rates seen in "
    "this run. A line that is flat far above its floor shows the cost of calling."
)
_FASTER = (
    " The second view shows how many times faster than {reference} each backend is, and pays where its "
    "line is above 1; a cross marks the size from which on it does."
)
_SHARES = (
    "Further right is better; at 100 % a kernel is as fast as the hardware. Each dot is a kernel on one "
    "backend at its largest size, its bar the 95 % interval. An exponential counts as a few operations, "
    "which a matrix product does faster: kernels of many of them stay below. More than 100 % is possible "
    "where caches serve a kernel better than they serve a copy."
)
_LEVEL = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": 1, "y1": 1}


def share_figures(summary: Summary) -> list[Figure]:
    """Return the share of the limit that each kernel reaches at its largest size; none for no kernel."""
    found: dict[str, dict[str, Interval]] = {}
    for comparison in summary.comparisons:
        for cell in sorted(comparison.cells, key=comparison.size) if comparison.kind == "kernel" else ():
            row = comparison.row(cell, "fraction_of_limit")
            if row is not None:
                found.setdefault(cell.backend, {})[cell.method] = row.interval.scaled(100)
    if not found:
        return []
    kernels = dict.fromkeys(kernel for shares in found.values() for kernel in shares)
    layout = {
        "xaxis": {"title": {"text": "% of the limit"}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True, "ticks": ""},
        "showlegend": True,
    }
    styles = backend_styles(found)
    data = [_dots(backend, shares, styles[backend]) for backend, shares in found.items()]
    alt = f"Dots of the share of the hardware's limit that {len(kernels)} kernels reach."
    return [
        Figure("Share of the limit", alt, _SHARES, (View("", data, layout),), height=140 + 24 * len(kernels))
    ]


def size_figures(comparison: Comparison) -> list[Figure]:
    """Return the time of a kernel against its size, a line a backend; none where none was measured."""
    seconds = _by_backend(comparison, "seconds_per_call")
    styles = backend_styles(dict.fromkeys(cell.backend for cell in comparison.cells))
    _, unit = comparison.unit("seconds_per_call")
    data = [_line(backend, found, unit, styles[backend]) for backend, found in seconds.items()]
    for backend, found in _by_backend(comparison, "floor_seconds").items():
        floors = [interval.estimate for interval in found.values()]
        hover = f"%{{y:.3g}} {unit} at size %{{x:,}}"
        data.append(
            line_trace(f"{backend}, floor", found, floors, styles[backend], hover, dash="dot", width=1)
        )
    if not data:
        return []
    layout = {
        "xaxis": {"title": {"text": "size"}, "type": "log"},
        "yaxis": {"title": {"text": column_title(comparison, "seconds_per_call")}, "type": "log"},
        "showlegend": True,
    }
    kernel = comparison.problem
    alt = f"Time of a call of {kernel} against size, with the hardware's floor, for {', '.join(seconds)}."
    faster = _faster_view(comparison, styles)
    views = (View("time", data, layout), faster) if faster.data else (View("", data, layout),)
    words = _SIZES + (_FASTER.format(reference=comparison.cells[0].backend) if faster.data else "")
    return [Figure(f"{kernel}: time a call", alt, words, views, controls=("log x", "log y"), height=340)]


def backend_styles(backends: Mapping[str, Any]) -> dict[str, Style]:
    """Return a style a backend: within one kernel, that is what differs."""
    cells = {backend: Cell("", "kernel", backend, "") for backend in backends}
    styles = styles_of(cells.values())
    return {backend: styles[cell] for backend, cell in cells.items()}


def _by_backend(comparison: Comparison, quantity: str) -> dict[str, dict[int, Interval]]:
    """Return a quantity at each size, by backend, in the unit that it is shown in."""
    scale, _ = find_unit(comparison, quantity)
    found: dict[str, dict[int, Interval]] = {}
    for cell in sorted(comparison.cells, key=comparison.size):
        row = comparison.row(cell, quantity)
        if row is not None:
            found.setdefault(cell.backend, {})[comparison.size(cell)] = row.interval.scaled(1 / scale)
    return found


def _faster_view(comparison: Comparison, styles: Mapping[str, Style]) -> View:
    """Return how many times faster than the first backend the others are against size."""
    data = []
    rows = [row for row in comparison.rows if row.quantity == "seconds_per_call" and row.ratio is not None]
    for backend, size in break_evens(comparison).items():
        ratios = {
            comparison.size(row.cell): row.ratio.inverted()
            for row in sorted(rows, key=lambda row: comparison.size(row.cell))
            if row.ratio is not None and row.cell.backend == backend
        }
        if not ratios:
            continue
        data.append(_line(backend, ratios, "times faster", styles[backend]))
        if 0 < size < math.inf:
            data.append(_break_even(backend, size, styles[backend]))
    reference = escape_plotly(f"times faster than {comparison.cells[0].backend}")
    layout = {
        "xaxis": {"title": {"text": "size"}, "type": "log"},
        "yaxis": {"title": {"text": reference}, "type": "log"},
        "shapes": [{**_LEVEL, "line": {"width": 1, "color": "#8f8f8f"}}],
        "showlegend": True,
    }
    return View("times faster", data, layout)


def _dots(backend: str, shares: Mapping[str, Interval], style: Style) -> dict[str, Any]:
    intervals: Sequence[Interval] = list(shares.values())
    name = escape_plotly(backend)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": rounded(each.estimate for each in intervals),
        "y": [escape_plotly(kernel) for kernel in shares],
        "marker": {"size": 9, "color": style.colour, "symbol": style.symbol},
        "error_x": error_bars(intervals, style),
        "hovertemplate": f"%{{y}} on {name}: %{{x:.3g}} %<extra></extra>",
    }


def _line(backend: str, found: Mapping[int, Interval], unit: str, style: Style) -> dict[str, Any]:
    """Return a backend's line: an interval at each size."""
    estimates = [each.estimate for each in found.values()]
    drawn = line_trace(backend, found, estimates, style, f"%{{y:.3g}} {unit} at size %{{x:,}}", dash="solid")
    return {**drawn, "mode": "lines+markers", "error_y": error_bars(list(found.values()), style)}


def _break_even(backend: str, size: float, style: Style) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{escape_plotly(backend)}, pays from here",
        "x": rounded([size]),
        "y": [1],
        "marker": {"color": style.colour, "symbol": "x", "size": 11},
        "hovertemplate": f"{escape_plotly(backend)} is faster from size %{{x:,.0f}} on<extra></extra>",
    }
