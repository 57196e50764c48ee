"""Seconds against size with the floor of the hardware below, and the share of the limit of all kernels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.analysis.timings import Timing, break_evens, reference_of, speedup
from benchfw.report.figures.plot import Figure, Style, View, plain, rounded

_SIZES = (
    "Lower is better. Each line is one backend, a bar the 95 % interval of its median time a call. The "
    "dashed line of its colour is the floor of the hardware: the declared operations and bytes at the "
    "highest rates seen in this run. A line that is flat far above its floor shows the cost of calling."
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


def share_figure(groups: Mapping[str, Sequence[Timing]], styles: Mapping[str, Style]) -> Figure | None:
    """Return the share of the limit that each kernel reaches at its largest size, or None for no kernel."""
    found: dict[str, dict[str, Interval]] = {}
    for kernel, timings in groups.items():
        for each in timings:
            if each.measured and each.fraction is not None:
                found.setdefault(each.backend, {})[kernel] = each.fraction.scaled(100)
    if not found:
        return None
    layout = {
        "xaxis": {"title": {"text": "% of the limit"}, "rangemode": "tozero"},
        "yaxis": {"type": "category", "autorange": "reversed", "automargin": True, "ticks": ""},
        "showlegend": True,
    }
    data = [_dots(backend, shares, styles[backend]) for backend, shares in found.items()]
    alt = f"Dots of the share of the hardware's limit that {len(groups)} kernels reach."
    view = View("", data, layout)
    return Figure("Share of the limit", alt, _SHARES, (view,), height=140 + 24 * len(groups))


def size_figure(kernel: str, timings: Sequence[Timing], styles: Mapping[str, Style]) -> Figure | None:
    """Return the seconds of a kernel against its size, a line a backend, or None where none was measured."""
    data = []
    for backend, style in styles.items():
        mine = [each for each in timings if each.backend == backend and each.measured]
        if mine:
            data.append(_line(backend, {each.size: each.time for each in mine}, "s", style))
            data += [_floor(backend, mine, style)] if mine[0].floor is not None else []
    if not data:
        return None
    layout = {
        "xaxis": {"title": {"text": "size"}, "type": "log"},
        "yaxis": {"title": {"text": "seconds a call"}, "type": "log"},
        "showlegend": True,
    }
    alt = f"Seconds of a call of {kernel} against size, with the hardware's floor, for {', '.join(styles)}."
    faster = _faster_view(timings, styles)
    views = (View("seconds", data, layout), faster) if faster.data else (View("", data, layout),)
    words = _SIZES + (_FASTER.format(reference=reference_of(timings)) if faster.data else "")
    return Figure(kernel, alt, words, views, controls=("log x", "log y"), height=340)


def _faster_view(timings: Sequence[Timing], styles: Mapping[str, Style]) -> View:
    """Return how many times faster than the reference the other backends are against size."""
    data = []
    for (_, backend), size in break_evens(timings).items():
        ratios = [(each.size, speedup(each, timings)) for each in timings if each.backend == backend]
        found = {size: ratio for size, ratio in ratios if ratio is not None}
        if not found:
            continue
        data.append(_line(backend, found, "times faster", styles[backend]))
        if 0 < size < math.inf:
            data.append(_break_even(backend, size, styles[backend]))
    layout = {
        "xaxis": {"title": {"text": "size"}, "type": "log"},
        "yaxis": {"title": {"text": plain(f"times faster than {reference_of(timings)}")}, "type": "log"},
        "shapes": [
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 1,
                "y1": 1,
                "line": {"width": 1, "color": "#8f8f8f"},
            }
        ],
        "showlegend": True,
    }
    return View("times faster", data, layout)


def _dots(backend: str, shares: Mapping[str, Interval], style: Style) -> dict[str, Any]:
    intervals = list(shares.values())
    return {
        "type": "scatter",
        "mode": "markers",
        "name": plain(backend),
        "x": rounded([each.estimate for each in intervals]),
        "y": [plain(kernel) for kernel in shares],
        "marker": {"size": 9, "color": style.colour, "symbol": style.symbol},
        "error_x": _bars(intervals, style),
        "hovertemplate": f"%{{y}} on {plain(backend)}: %{{x:.3g}} %<extra></extra>",
    }


def _line(backend: str, found: Mapping[int, Interval], unit: str, style: Style) -> dict[str, Any]:
    """Return a backend's line: an interval at each size."""
    intervals = list(found.values())
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "name": plain(backend),
        "x": list(found),
        "y": rounded([each.estimate for each in intervals]),
        "line": {"color": style.colour, "width": 2},
        "marker": {"color": style.colour, "symbol": style.symbol, "size": 8},
        "error_y": _bars(intervals, style),
        "hovertemplate": f"{plain(backend)}<br>%{{y:.3g}} {unit} at size %{{x:,}}<extra></extra>",
    }


def _break_even(backend: str, size: float, style: Style) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "name": f"{plain(backend)}, pays from here",
        "x": rounded([size]),
        "y": [1],
        "marker": {"color": style.colour, "symbol": "x", "size": 11},
        "hovertemplate": f"{plain(backend)} is faster from size %{{x:,.0f}} on<extra></extra>",
    }


def _floor(backend: str, timings: Sequence[Timing], style: Style) -> dict[str, Any]:
    floors = [(each.size, each.floor[0]) for each in timings if each.floor is not None]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"{plain(backend)}, floor",
        "x": [size for size, _ in floors],
        "y": rounded([seconds for _, seconds in floors]),
        "line": {"color": style.colour, "dash": "4px,4px", "width": 1},
        "hovertemplate": f"{plain(backend)}, floor<br>%{{y:.3g}} s at size %{{x:,}}<extra></extra>",
    }


def _bars(intervals: Sequence[Interval], style: Style) -> dict[str, Any]:
    return {
        "type": "data",
        "symmetric": False,
        "array": rounded([each.high - each.estimate for each in intervals]),
        "arrayminus": rounded([each.estimate - each.low for each in intervals]),
        "color": style.colour,
        "thickness": 1.2,
        "width": 4,
    }
