"""A view drawn by matplotlib into axes, in the colours, dashes and marks of the page."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchfw.report.figures.plot import View

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

LABELLED_DECADES = 1.5
"""A logarithmic axis that spans fewer has labels between the powers of ten."""

_DASHES: dict[str, Any] = {
    "solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 1, 3)), "2px,3px": (0, (1, 2)),
}  # fmt: skip
_MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "cross": "P", "triangle-up": "^", "star": "*", "x": "X",
    "triangle-left": "<", "triangle-right": ">", "triangle-down": "v",
}  # fmt: skip


def draw_view(axes: Axes, view: View, *, legend: bool = True) -> None:
    """Draw a view into axes of matplotlib, with a legend beside them unless that is not wanted."""
    across, up = view.layout.get("xaxis", {}), view.layout.get("yaxis", {})
    names = [_text(name) for name in up.get("categoryarray", ())]
    for trace in view.data:
        if is_drawable(trace) and trace.get("visible", True) is not False:
            _add(axes, trace, names)
    _set_scales(axes, across, up, names)
    for shape in view.layout.get("shapes", ()):
        _draw_rule(axes, shape)
    if across.get("zeroline"):
        axes.axvline(0, color="#5b6570", linewidth=0.8)
    entries = len(axes.get_legend_handles_labels()[1])
    if legend and entries and not names:
        columns = math.ceil(entries / 16)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, ncols=columns)


def _add(axes: Axes, trace: Mapping[str, Any], names: Sequence[str]) -> None:
    """Draw one trace: a band, a line, marks, with bars where it has them."""
    line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
    across = _numbers(trace["x"])
    up = [float(names.index(_text(name))) for name in trace["y"]] if names else _numbers(trace["y"])
    if mode == "none":
        axes.fill(across, up, color=trace["fillcolor"], alpha=trace.get("opacity"), linewidth=0)
        return
    shown = trace.get("showlegend", True) and not names
    symbol = str(marker.get("symbol", "circle"))
    hollow = symbol.endswith("-open")
    axes.errorbar(
        across,
        up,
        xerr=_bars(trace.get("error_x")),
        yerr=_bars(trace.get("error_y")),
        color=line.get("color") or marker.get("color"),
        linestyle=_DASHES.get(line.get("dash", "solid"), "--") if "lines" in mode else "none",
        drawstyle="steps-post" if line.get("shape") == "hv" else None,
        linewidth=0.9 if line.get("width") == 1 else None,
        marker=_MARKERS.get(symbol.removesuffix("-open"), "o") if "markers" in mode else None,
        markersize=8 if hollow else 4.5,
        markerfacecolor="none" if hollow else None,
        markevery=max(1, len(across) // 8) if "maxdisplayed" in marker else None,
        elinewidth=0.9,
        capsize=2,
        label=_text(trace.get("name", "")) if shown else None,
    )


def _set_scales(axes: Axes, across: Mapping[str, Any], up: Mapping[str, Any], names: Sequence[str]) -> None:
    """Set scales, labels, ranges and ticks; `names` are those of rows, the first one on top."""
    for spec, set_scale, set_label in (
        (across, axes.set_xscale, axes.set_xlabel),
        (up, axes.set_yscale, axes.set_ylabel),
    ):
        set_scale("log" if spec.get("type") == "log" else "linear")
        set_label(_text(spec.get("title", {}).get("text", "")))
    if names:
        axes.set_ylim(len(names) - 0.5, -0.5)
    elif "range" in up:
        axes.set_ylim(*(10.0**end if up.get("type") == "log" else end for end in up["range"]))
    for axis, spec in ((axes.xaxis, across), (axes.yaxis, up)):
        _set_ticks(axis, spec)
    if names:
        axes.set_yticks(range(len(names)), names)


def _draw_rule(axes: Axes, shape: Mapping[str, Any]) -> None:
    """Draw a line across the whole axes, at one height or at one place."""
    line = shape["line"]
    style = {
        "color": line["color"],
        "linewidth": 0.8,
        "linestyle": _DASHES[line.get("dash", "solid")],
        "alpha": shape.get("opacity"),
        "zorder": 0,
    }
    if shape.get("xref") == "paper":
        axes.axhline(shape["y0"], **style)
    else:
        axes.axvline(shape["x0"], **style)


def _set_ticks(axis: Axis, spec: Mapping[str, Any]) -> None:
    """Give an axis the ticks that it asks for, or few of its own."""
    if "tickvals" not in spec:
        _choose_ticks(axis)
        return
    axis.set_ticks([], minor=True)
    axis.set_ticks(spec["tickvals"], [_text(name) for name in spec["ticktext"]])
    if spec.get("ticks") == "":
        axis.set_tick_params(length=0)
    if spec.get("showgrid") is False:
        axis.grid(visible=False)


def _choose_ticks(axis: Axis) -> None:
    """Give an axis few enough ticks that their labels do not overlap in a narrow column."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    low, high = sorted(map(abs, axis.get_view_interval()))
    decades = math.log10(high / low) if low > 0 else math.inf
    if axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(4))
    elif decades < LABELLED_DECADES:
        axis.set_minor_locator(NullLocator())
        axis.set_major_locator(MaxNLocator(3) if decades < 0.7 else LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.3g}"))


def is_drawable(trace: Mapping[str, Any]) -> bool:
    """Whether a trace can be drawn here: lines and marks, not the bars and surfaces of a plugin."""
    return trace.get("type") == "scatter" and "mode" in trace and len(trace.get("x", ())) > 0


def _bars(error: Mapping[str, Any] | None) -> list[list[float]] | None:
    if not error or not error.get("visible", True):
        return None
    sides = _numbers(error["arrayminus"]), _numbers(error["array"])
    return [[size if size >= 0 else 0.0 for size in side] for side in sides]  # also for NaN: no bar


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]


def _text(label: str) -> str:
    """Return a label as matplotlib shows it as it is: no HTML, and no mathematics between dollars."""
    return html.unescape(label.replace("<br>", "\n")).replace("$", r"\$")
