"""The figures as files for a paper, drawn by matplotlib from the same traces, in the same colours."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.errors import BenchfwError
from benchfw.report.figures.plot import Figure, View

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 5.5  # inches: the text of a one-column page

_DASHES: dict[str, Any] = {
    "solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 1, 3)), "2px,3px": (0, (1, 2)),
}  # fmt: skip
_MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "cross": "P", "triangle-up": "^", "star": "*", "x": "X",
}  # fmt: skip
_STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.labelsize": 9, "legend.fontsize": 7.5, "axes.grid": True, "grid.color": "#d9dee3",
    "grid.linewidth": 0.5, "axes.axisbelow": True, "axes.spines.top": False, "axes.spines.right": False,
    "lines.linewidth": 1.3, "pdf.fonttype": 42, "svg.fonttype": "none", "savefig.bbox": "tight",
    "svg.hashsalt": "benchfw",
}  # fmt: skip


def write_figures(figures: Sequence[Figure], folder: Path, form: str) -> list[Path]:
    """Write every view of every figure as `form` (svg, pdf or png); return the paths."""
    try:
        import matplotlib as mpl
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise BenchfwError(
            f"--format {form} needs matplotlib, which is not installed: pip install 'benchfw[paper]'"
        ) from None
    written: list[Path] = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, figure in enumerate(figures, 1):
            for view in figure.views:
                if not any(_drawable(trace) for trace in view.data):
                    continue
                with mpl.rc_context(_STYLE):
                    rows = len(view.layout.get("yaxis", {}).get("categoryarray", ()))
                    canvas = Canvas(figsize=(WIDTH, 0.9 + 0.24 * rows if rows else 3.4))
                    draw_view(canvas.add_subplot(), view)
                    path = folder / f"{number:02}-{_slug(f'{figure.title} {view.label}')}.{form}"
                    # no date inside: the same run gives the same file
                    stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
                    canvas.savefig(path, dpi=200, metadata=stamp)
                written.append(path)
    except OSError as error:
        raise BenchfwError(f"cannot write the figures to {folder}: {error.strerror or error}") from error
    return written


def draw_view(axes: Axes, view: View) -> None:
    """Draw a view into axes of matplotlib."""
    across, up = view.layout.get("xaxis", {}), view.layout.get("yaxis", {})
    names = [_text(name) for name in up.get("categoryarray", ())]
    for trace in view.data:
        if _drawable(trace) and trace.get("visible", True) is not False:
            _add(axes, trace, names)
    for axis, set_scale, set_label in (
        (across, axes.set_xscale, axes.set_xlabel),
        (up, axes.set_yscale, axes.set_ylabel),
    ):
        set_scale("log" if axis.get("type") == "log" else "linear")
        set_label(_text(axis.get("title", {}).get("text", "")))
    if "tickvals" in across:
        axes.set_xticks([], minor=True)
        axes.set_xticks(across["tickvals"], [_text(name) for name in across["ticktext"]])
    if names:
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
    elif "range" in up:
        axes.set_ylim(*(10.0**end if up.get("type") == "log" else end for end in up["range"]))
    if across.get("zeroline"):
        axes.axvline(0, color="#5b6570", linewidth=0.8)
    entries = len(axes.get_legend_handles_labels()[1])
    if entries and not names:
        columns = math.ceil(entries / 16)
        axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0, frameon=False, ncols=columns)


def _add(axes: Axes, trace: Mapping[str, Any], names: Sequence[str]) -> None:
    """Draw one trace: a band, a line, marks, with bars where it has them."""
    line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
    across = _numbers(trace["x"])
    up = [float(names.index(_text(name))) for name in trace["y"]] if names else _numbers(trace["y"])
    if mode == "none":
        axes.fill(across, up, color=trace["fillcolor"], linewidth=0)
        return
    shown = trace.get("showlegend", True) and not names
    hollow = str(marker.get("symbol", "")).endswith("-open")
    axes.errorbar(
        across,
        up,
        xerr=_bars(trace.get("error_x")),
        yerr=_bars(trace.get("error_y")),
        color=line.get("color") or marker.get("color"),
        linestyle=_DASHES.get(line.get("dash", "solid"), "--") if "lines" in mode else "none",
        drawstyle="steps-post" if line.get("shape") == "hv" else None,
        linewidth=0.9 if line.get("width") == 1 else None,
        marker=_MARKERS.get(marker.get("symbol", "circle"), "o") if "markers" in mode else None,
        markersize=8 if hollow else 4.5,
        markerfacecolor="none" if hollow else None,
        markevery=max(1, len(across) // 8) if "maxdisplayed" in marker else None,
        elinewidth=0.9,
        capsize=2,
        label=_text(trace.get("name", "")) if shown else None,
    )


def _drawable(trace: Mapping[str, Any]) -> bool:
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


def _slug(text: str) -> str:
    return re.sub(r"[^\w.-]+", "-", text).strip("-")[:80]
