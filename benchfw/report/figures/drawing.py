"""Static drawings, all by matplotlib: views in the colours, dashes and marks of the page, and their files."""

from __future__ import annotations

import html
import io
import math
import re
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from benchfw.errors import BenchfwError, Unavailable
from benchfw.packages import install_command
from benchfw.report.figures.plot import View
from benchfw.report.text import raise_powers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Canvas

INK = "#1b1f23"
SCREEN = {
    "#0072c6": "#2b8ac6", "#df001a": "#e2453c", "#007b4d": "#1f9468", "#a34795": "#b766aa",
    "#657620": "#7f9136", "#27307a": "#6673c9", "#820010": "#b3524f", "#62676d": "#868c93",
}  # fmt: skip
"""The palette where the background is not known: seen on white and on black."""

SCREEN_FONT_SIZE = 13.0
PANEL_WIDTH = 2.6  # inches that a panel needs
SHAPE, SHARE = 0.62, 0.7  # of axes: height over width, least width over that of their column
ROW, LINE, LETTER = 1.7, 1.2, 0.6  # times the font: a row of dots, a line of text, the width of a letter
MOST_COLUMNS = 4  # of a legend
LABELLED_DECADES = 2.0  # a logarithmic axis that spans fewer has labels between the powers of ten
THEOREM = "theorem"  # what the curves of all theorems are called together

_DASHES: dict[str, Any] = {
    "solid": "-", "dash": "--", "dot": ":", "dashdot": "-.", "longdash": (0, (8, 3)),
    "longdashdot": (0, (8, 3, 1, 3)), "2px,3px": (0, (1.5, 2)),
}  # fmt: skip
_MARKERS = {
    "circle": "o", "square": "s", "diamond": "D", "cross": "P", "triangle-up": "^", "star": "*", "x": "X",
    "triangle-left": "<", "triangle-right": ">", "triangle-down": "v",
}  # fmt: skip
_COLOURED = ("axes.edgecolor", "axes.labelcolor", "grid.color", "text.color", "xtick.color", "ytick.color")
_SIZES = {
    "axes.labelsize": 1, "axes.titlesize": 1, "font.size": 1, "legend.fontsize": 0.9, "lines.linewidth": 0.15,
    "lines.markersize": 0.5, "xtick.labelsize": 0.9, "ytick.labelsize": 0.9,
}  # fmt: skip
_STYLE = {
    "axes.axisbelow": True, "axes.facecolor": "none", "axes.grid": True, "axes.spines.left": False,
    "axes.spines.right": False, "axes.spines.top": False, "font.family": "DejaVu Sans", "grid.alpha": 0.15,
    "grid.linewidth": 0.6, "legend.columnspacing": 1.2, "legend.frameon": False, "legend.handlelength": 1.5,
    "pdf.fonttype": 42, "svg.fonttype": "none",
    "xtick.major.size": 0, "ytick.major.size": 0,
}  # fmt: skip
_STAMPS = {"svg": dict.fromkeys(("Creator", "Date", "Format", "Type")), "pdf": {"CreationDate": None}}


@contextmanager
def drawing_style(font_size: float, salt: str = "benchfw") -> Iterator[None]:
    """Draw and save inside, in our style; `salt` tells the names inside an SVG from those of others."""
    try:
        import matplotlib as mpl
    except ImportError:
        command = install_command("benchfw[paper]")
        raise Unavailable(f"figures need matplotlib, which is not installed; {command}") from None
    sizes = {name: share * font_size for name, share in _SIZES.items()}
    style: dict[Any, Any] = {**_STYLE, **sizes, **dict.fromkeys(_COLOURED, INK), "svg.hashsalt": salt}
    with mpl.rc_context(style), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # text stays text, and a viewer has more fonts
        warnings.filterwarnings("error", "constrained_layout not applied")
        yield


def draw_views(titled: Sequence[tuple[str, View]], width: float, font_size: float) -> Canvas:
    """Return a canvas, its width in inches, with axes for each view below its title, and a legend of all."""
    from matplotlib.figure import Figure as Canvas

    columns = min(len(titled), max(1, int(width / PANEL_WIDTH)))
    letters = int(72 * width / columns / (LETTER * font_size))
    sizes = [_find_height(view, width / columns, font_size) for _, view in titled]
    heights = [max(sizes[start : start + columns]) for start in range(0, len(titled), columns)]
    canvas = Canvas(layout="constrained")
    boxes = canvas.subplots(len(heights), columns, height_ratios=heights, squeeze=False).ravel()
    for axes, (title, view) in zip(boxes, titled, strict=False):
        draw_view(axes, view, legend=False)
        axes.set_title(plain_label(textwrap.fill(title, letters)), loc="left")
        axes.set_xlabel(textwrap.fill(axes.get_xlabel(), int(SHARE * letters)))
        if columns > 1 and axes.get_xscale() == "linear":
            axes.locator_params("x", nbins=2)
    for axes in boxes[len(titled) :]:
        axes.remove()
    canvas.set_size_inches(width, sum(heights))
    canvas.set_figheight(sum(heights) + _add_legend(canvas, max(16, letters // 2 - 4)))
    return canvas


def save_canvas(canvas: Canvas, form: str) -> bytes:
    """Return a canvas as a file of a form (svg, pdf or png); of the same drawing always the same."""
    written = io.BytesIO()
    try:
        canvas.savefig(written, format=form, dpi=200, metadata=_STAMPS.get(form))
    except UserWarning:
        advice = "use a larger width or a smaller font"
        raise BenchfwError(f"the labels leave no room for the axes of a figure; {advice}") from None
    return written.getvalue()


def save_for_screen(canvas: Canvas, title: str, ink: str) -> str:
    """Return a canvas as an SVG element for a page that is light or dark; `ink` is the colour of its text."""
    canvas.patch.set_visible(False)
    colours = {INK: ink, **SCREEN}

    def shorten(tag: re.Match[str]) -> str:
        text = re.sub(r'^<g id="[^"]*"', "<g", re.sub(r"(\d+\.\d)\d{2,}", r"\1", tag[0]))  # tenths of a point
        return re.sub("|".join(colours), lambda colour: colours[colour[0]], text)

    _, _, drawn = save_canvas(canvas, "svg").decode().partition("</style>\n </defs>")
    drawn = re.sub(r" ?\n *", "\n", drawn).replace("\nL ", " ").strip()
    width, height = (72 * size for size in canvas.get_size_inches())
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" class="figure" '
        f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.1f} {height:.1f}" role="img" '
        f'stroke-linejoin="round" aria-label="{html.escape(title)}">{re.sub("<[^>]+>", shorten, drawn)}'
    )


def draw_for_screen(view: View, title: str, ink: str = "currentColor", width: int = 400) -> str:
    """Return a view as an SVG element, its width in pixels, for a page that is light or dark."""
    with drawing_style(SCREEN_FONT_SIZE, salt=str(view.data)):
        return save_for_screen(draw_views([("", view)], width / 72, SCREEN_FONT_SIZE), title, ink)


def draw_view(axes: Axes, view: View, *, legend: bool = True) -> None:
    """Draw a view into axes of matplotlib, with a legend beside them unless that is not wanted."""
    across, up = view.layout.get("xaxis", {}), view.layout.get("yaxis", {})
    names = [plain_label(name) for name in up.get("categoryarray", ())]
    for trace in view.data:
        if is_drawable(trace) and trace.get("visible", True) is not False:
            _add(axes, trace, names)
    axes.set(xlabel=_find_title(across), xscale=_find_scale(across))
    axes.set(ylabel=_find_title(up), yscale=_find_scale(up))
    if "range" in up and not names:
        axes.set_ylim(*(10.0**end if up.get("type") == "log" else end for end in up["range"]))
    _set_ticks(axes.xaxis, across)
    if names:
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks(range(len(names)), names)
    else:
        _set_ticks(axes.yaxis, up)
    for shape in view.layout.get("shapes", ()):
        draw_rule, place = (axes.axhline, "y0") if shape.get("xref") == "paper" else (axes.axvline, "x0")
        line, opacity = shape["line"], shape.get("opacity")
        dash = _DASHES[line.get("dash", "solid")]
        draw_rule(shape[place], color=line["color"], linewidth=0.8, linestyle=dash, alpha=opacity, zorder=0)
    if across.get("zeroline"):
        axes.axvline(0, color=INK, linewidth=0.8)
    handles = find_handles([axes])
    if legend and handles:
        beside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "borderaxespad": 0}
        columns = math.ceil(len(handles) / 16)
        axes.legend([*handles.values()], [*handles], frameon=False, ncols=columns, **beside)


def is_drawable(trace: Mapping[str, Any]) -> bool:
    """Whether a trace can be drawn here: lines and marks, not the bars and surfaces of a plugin."""
    return trace.get("type") == "scatter" and "mode" in trace and len(trace.get("x", ())) > 0


def plain_label(label: str) -> str:
    """Return a label as matplotlib shows it as it is: no HTML, and no mathematics between dollars."""
    return html.unescape(label.replace("<br>", "\n")).replace("$", r"\$")


def _find_height(view: View, width: float, font_size: float) -> float:
    """Return the height of a view in a column of a width, in inches: enough for the names beside its axes."""
    up = view.layout.get("yaxis", {})
    names: Sequence[str] = up.get("categoryarray", ())
    if not len(names):
        return max(SHAPE * width, 2 * ROW * len(up.get("tickvals", ())) * font_size / 72)
    longest = max(name.count("<br>") for name in names)
    return ((ROW + LINE * longest) * len(names) + 4) * font_size / 72


def _add_legend(canvas: Canvas, letters: int) -> float:
    """Add a legend below all axes in as many columns as there is room for; return its height in inches."""
    handles = find_handles(canvas.axes)
    labels = [textwrap.fill(label, letters) for label in handles]
    for columns in range(min(MOST_COLUMNS, len(handles)), 0, -1):
        legend = canvas.legend([*handles.values()], labels, loc="outside lower center", ncols=columns)
        box = legend.get_window_extent()
        if columns == 1 or box.width <= canvas.bbox.width:
            return float(box.height / canvas.dpi)
        legend.remove()
    return 0.0


def find_handles(boxes: Sequence[Axes]) -> dict[str, Any]:
    """Return the handles of a legend by their label; of several with one label the first, theorems last."""
    handles: dict[str, Any] = {}
    for axes in boxes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(str(label), handle)
    theorem = {THEOREM: handles.pop(THEOREM)} if THEOREM in handles else {}
    return {**handles, **theorem}


def _add(axes: Axes, trace: Mapping[str, Any], names: Sequence[str]) -> None:
    """Draw one trace: a band, a line, marks, with bars where it has them."""
    line, marker, mode = trace.get("line", {}), trace.get("marker", {}), trace["mode"]
    across = _numbers(trace["x"])
    up = [float(names.index(plain_label(name))) for name in trace["y"]] if names else _numbers(trace["y"])
    if mode == "none":
        axes.fill(across, up, color=trace["fillcolor"], alpha=trace.get("opacity"), linewidth=0)
        return
    name = THEOREM if trace.get("meta", {}).get("part") == "bound" else plain_label(trace.get("name", ""))
    symbol = str(marker.get("symbol", "circle"))
    axes.errorbar(
        across,
        up,
        xerr=_bars(trace.get("error_x")),
        yerr=_bars(trace.get("error_y")),
        color=line.get("color") or marker.get("color"),
        linestyle=_DASHES.get(line.get("dash", "solid"), "--") if "lines" in mode else "none",
        drawstyle="steps-post" if line.get("shape") == "hv" else None,
        linewidth=1.2 if line.get("width") == 1 else None,
        marker=_MARKERS.get(symbol.removesuffix("-open"), "o") if "markers" in mode else None,
        fillstyle="none" if symbol.endswith("-open") else None,
        markevery=max(1, len(across) // 8) if "maxdisplayed" in marker else None,
        label=name if trace.get("showlegend", True) and not names else None,
    )


def _find_title(spec: Mapping[str, Any]) -> str:
    return plain_label(spec.get("title", {}).get("text", ""))


def _find_scale(spec: Mapping[str, Any]) -> str:
    return "log" if spec.get("type") == "log" else "linear"


def _set_ticks(axis: Axis, spec: Mapping[str, Any]) -> None:
    """Give an axis the ticks that it asks for, or so few that their labels do not overlap."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

    axis.set_minor_locator(NullLocator())
    if "tickvals" in spec:
        axis.set_ticks(spec["tickvals"], [plain_label(name) for name in spec["ticktext"]])
        axis.grid(visible=spec.get("showgrid", True))
        return
    low, high = sorted(map(abs, axis.get_view_interval()))
    decades = math.log10(high / low) if low > 0 else math.inf
    if axis.get_scale() == "linear":
        axis.set_major_locator(MaxNLocator(4))
    elif decades < LABELLED_DECADES:
        axis.set_major_locator(MaxNLocator(3) if decades < 0.7 else LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: raise_powers(f"{value:,.6g}")))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: _name_power(value)))


def _name_power(value: float) -> str:
    exponent = round(math.log10(value))
    return f"{value:g}" if exponent in (0, 1) else raise_powers(f"1e{exponent:+}")


def _bars(error: Mapping[str, Any] | None) -> list[list[float]] | None:
    if not error or not error.get("visible", True):
        return None
    sides = _numbers(error["arrayminus"]), _numbers(error["array"])
    return [[size if size >= 0 else 0.0 for size in side] for side in sides]  # also for NaN: no bar


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [math.nan if value is None else float(value) for value in values]
