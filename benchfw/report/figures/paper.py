"""The figures as files for a paper: of a given width, with axes boxes of one size, drawn by matplotlib."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from benchfw.errors import BenchfwError, nearest
from benchfw.report.figures.drawing import draw_view, is_drawable
from benchfw.report.figures.plot import Figure, View
from benchfw.report.text import escape_plotly
from benchfw.summary.model import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.lines import Line2D
    from matplotlib.transforms import BboxBase

WIDTH = 5.5  # inches: the text of a one-column page
FONT_SIZE = 9.0  # points
SHAPE = 0.62  # height of an axes box over its width
ROW = 2.0  # lines of text: a row of dots
PANEL_WIDTH = 2.6  # inches that a panel needs
MOST_INSIDE, MOST_PANELS, MOST_COLUMNS = 8, 24, 4
MOST_HIDDEN = 0.1  # of a curve, by the legend inside

Legend = Literal["inside", "file", "none"]

_STYLE: dict[Any, Any] = {
    "axes.grid": True, "grid.color": "#d9dee3", "grid.linewidth": 0.5, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "lines.linewidth": 1.3, "pdf.fonttype": 42,
    "svg.fonttype": "none", "svg.hashsalt": "benchfw",
}  # fmt: skip


@dataclass(frozen=True)
class Paper:
    """How figures are made for a paper; widths are in inches, fonts in points.

    Without `x` every view of a figure is a file, without `legend` it is inside where it is short and hides no
    curve.
    """

    width: float = WIDTH
    font_size: float = FONT_SIZE
    x: Literal["cost", "seconds", "iterations"] | None = None
    legend: Legend | None = None
    panel: bool = False

    @property
    def style(self) -> dict[Any, Any]:
        """Return the settings of matplotlib."""
        sizes = {"xtick.labelsize": 0.9, "ytick.labelsize": 0.9, "legend.fontsize": 0.85}
        whole = dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize"), self.font_size)
        return {**_STYLE, **whole, **{name: share * self.font_size for name, share in sizes.items()}}


class Sheet(NamedTuple):
    """One drawing: a view of a figure."""

    figure: Figure
    view: View

    @property
    def rows(self) -> int:
        """Return how many names of methods stand beside the axes; 0 where a legend has them."""
        return len(self.view.layout.get("yaxis", {}).get("categoryarray", ()))

    def height(self, width: float, font_size: float) -> float:
        """Return the height of an axes box of a width, in inches: enough for what stands beside it."""
        row = ROW * font_size / 72
        problems = len(self.view.layout.get("yaxis", {}).get("tickvals", ()))
        return self.rows * row if self.rows else max(SHAPE * width, 2 * row * problems)


def choose_methods(figures: Sequence[Figure], summary: Summary, methods: Sequence[str]) -> list[Figure]:
    """Return figures with these methods only, in the colours that they have beside all the others."""
    cells = [(each, cell) for each in summary.comparisons for cell in each.cells]
    known = {cell.method for _, cell in cells}
    for name in methods:
        if name not in known:
            raise BenchfwError(f"no method '{name}' in the run{nearest(name, known)}")
    others = {escape_plotly(each.name(cell)) for each, cell in cells if cell.method not in methods}
    others -= {escape_plotly(each.name(cell)) for each, cell in cells if cell.method in methods}
    chosen = [replace(each, views=tuple(_without(view, others) for view in each.views)) for each in figures]
    return [each for each in chosen if any(view.data for view in each.views)]


def _without(view: View, names: set[str]) -> View:
    data = [each for each in view.data if each.get("legendgroup", each.get("name")) not in names]
    up = view.layout.get("yaxis", {})
    if "categoryarray" not in up:
        return replace(view, data=data)
    left = {name for each in data for name in each["y"]}
    kept = {**up, "categoryarray": [name for name in up["categoryarray"] if name in left]}
    return replace(view, data=data, layout={**view.layout, "yaxis": kept})


def choose_sheets(figures: Sequence[Figure], paper: Paper) -> list[Sheet]:
    """Return what is drawn: all views of a figure, or the one against `x`; in a panel one of each."""
    x = paper.x or ("cost" if paper.panel else None)
    found: list[Sheet] = []
    for figure in figures:
        views = [view for view in figure.views if any(map(is_drawable, view.data))]
        views = [view for view in views if view.axis == x] or views
        found += [Sheet(figure, view) for view in (views[:1] if paper.panel else views)]
    return found


def write_figures(sheets: Sequence[Sheet], folder: Path, form: str, paper: Paper) -> dict[Path, list[Sheet]]:
    """Write the sheets as files of a form (svg, pdf or png), or as one panel; return what each file has.

    Axes boxes are of one size: those of curves, and those of dots except for their heights.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        raise BenchfwError(
            f"--format {form} needs matplotlib, which is not installed: pip install 'benchfw[paper]'"
        ) from None
    written: dict[Path, list[Sheet]] = {}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(paper.style):
            place = _place_of_legend(sheets, paper)
            if paper.panel:
                drawn = {folder / f"panel.{form}": (_draw_panel(sheets, paper), list(sheets))}
            else:
                canvases = _draw_sheets(sheets, paper, place)
                numbers = {id(each.figure): 0 for each in sheets}
                numbers = {key: number for number, key in enumerate(numbers, 1)}
                names = [_name(numbers[id(each.figure)], each, form) for each in sheets]
                drawn = {
                    folder / name: (canvas, [sheet])
                    for name, canvas, sheet in zip(names, canvases, sheets, strict=True)
                }
            if place == "file" and any(not sheet.rows for sheet in sheets):
                drawn[folder / f"legend.{form}"] = _draw_legend(sheets, paper), []
            for path, (canvas, shown) in drawn.items():
                # no date inside: the same run gives the same file
                stamp = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
                canvas.savefig(path, dpi=200, metadata=stamp, bbox_inches=None if shown else "tight")
                written[path] = shown
    except OSError as error:
        raise BenchfwError(f"cannot write the figures to {folder}: {error.strerror or error}") from error
    return written


def _place_of_legend(sheets: Sequence[Sheet], paper: Paper) -> Legend:
    """Return where legends go: where that is not said, inside if they are short and hide no curve."""
    if paper.legend or paper.panel:
        return paper.legend or "inside"
    curves = [sheet for sheet in sheets if not sheet.rows]
    entries = [sum(bool(each.get("showlegend", True)) for each in sheet.view.data) for sheet in curves]
    if max(entries, default=0) > MOST_INSIDE:
        return "file"
    tried = _draw_sheets(curves, paper, "inside")
    return "file" if any(_hides_curve(axes) for canvas in tried for axes in canvas.axes) else "inside"


def _hides_curve(axes: Axes) -> bool:
    """Return whether the legend lies on a good part of some curve."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    legend, canvas = axes.get_legend(), axes.figure
    if legend is None:
        return False
    drawn: Any = FigureCanvasAgg(canvas)  # type: ignore[arg-type]
    drawn.draw()
    box = legend.get_window_extent()
    return any(_share_inside(axes, line, box) > MOST_HIDDEN for line in axes.lines)


def _share_inside(axes: Axes, line: Line2D, box: BboxBase) -> float:
    """Return which share of a line, as far as it lies in its axes, lies in a box."""
    places = axes.transData.transform(line.get_xydata())
    places = places[np.isfinite(places).all(axis=1)]
    if line.get_linestyle() != "None" and len(places) > 1:
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(places, axis=0).T))])
        even = np.linspace(0.0, along[-1], 500)
        places = np.stack([np.interp(even, along, side) for side in places.T], axis=1)
    shown = places[[axes.bbox.contains(*place) for place in places]]
    return float(np.mean([box.contains(*place) for place in shown])) if len(shown) else 0.0


def _draw_sheets(sheets: Sequence[Sheet], paper: Paper, place: Legend) -> list[Canvas]:
    from matplotlib.figure import Figure as Canvas

    canvases = [Canvas(figsize=(paper.width, SHAPE * paper.width)) for _ in sheets]
    boxes = [canvas.add_axes((0.2, 0.2, 0.7, 0.7)) for canvas in canvases]
    for axes, sheet in zip(boxes, sheets, strict=True):
        draw_view(axes, sheet.view, legend=False)
        if place == "inside" and not sheet.rows:
            _add_legend(axes)
    for with_rows in (False, True):
        group = [each for each, sheet in zip(boxes, sheets, strict=True) if bool(sheet.rows) == with_rows]
        some = [sheet for sheet in sheets if bool(sheet.rows) == with_rows]
        _equalize(group, some, paper)
    return canvases


def _equalize(boxes: Sequence[Axes], sheets: Sequence[Sheet], paper: Paper) -> None:
    """Give axes of canvases of one width boxes of one width, with room for the largest labels of all."""
    margins = [_margins(axes) for axes in boxes]
    if not margins:
        return
    left, right, bottom, top = (max(side) for side in zip(*margins, strict=True))
    width = paper.width - left - right
    if width < 0.25 * paper.width:
        raise BenchfwError(
            f"--width {paper.width:g} is too narrow for the labels at --font-size {paper.font_size:g}; "
            "use a larger width or a smaller font"
        )
    for axes, sheet in zip(boxes, sheets, strict=True):
        height = sheet.height(width, paper.font_size)
        whole = bottom + height + top
        axes.figure.set_size_inches(paper.width, whole)  # type: ignore[union-attr]
        axes.set_position((left / paper.width, bottom / whole, width / paper.width, height / whole))


def _margins(axes: Axes) -> tuple[float, float, float, float]:
    """Return how far labels reach beyond the axes box, in inches: left, right, bottom, top."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas: Any = axes.figure
    drawn: Any = FigureCanvasAgg(canvas)
    renderer = drawn.get_renderer()
    axes.draw(renderer)
    outer, inner = axes.get_tightbbox(renderer), axes.get_window_extent(renderer)
    assert outer is not None  # noqa: S101 - of axes that are visible
    gaps = (inner.x0 - outer.x0, outer.x1 - inner.x1, inner.y0 - outer.y0, outer.y1 - inner.y1)
    left, right, bottom, top = (max(gap, 0.0) / canvas.dpi + 0.03 for gap in gaps)
    return left, right, bottom, top


def _draw_panel(sheets: Sequence[Sheet], paper: Paper) -> Canvas:
    """Return one canvas with an axes box for each sheet, lettered, and one legend for all."""
    from matplotlib.figure import Figure as Canvas

    if not 0 < len(sheets) <= MOST_PANELS:
        raise BenchfwError(
            f"a panel has 1 to {MOST_PANELS} figures, this run has {len(sheets)}; leave out --panel"
        )
    columns = min(len(sheets), max(1, int(paper.width / PANEL_WIDTH)))
    lines = -(-len(sheets) // columns)
    height = lines * (SHAPE * paper.width / columns + 4.5 * paper.font_size / 72)
    canvas = Canvas(figsize=(paper.width, height), layout="constrained")
    letters = int(paper.width / columns * 72 / (0.65 * paper.font_size))  # in a line of text
    for number, sheet in enumerate(sheets):
        axes = canvas.add_subplot(lines, columns, number + 1)
        draw_view(axes, sheet.view, legend=False)
        axes.set_title(_heading(number, sheet, sheets, letters), loc="left")
    if _place_of_legend(sheets, paper) == "inside":
        lower = _fit_legend(canvas, _handles(canvas.axes), "outside lower center")
        canvas.set_size_inches(paper.width, height + lower)
    return canvas


def _fit_legend(canvas: Canvas, handles: Mapping[str, Any], place: Any) -> float:
    """Add a legend that is not wider than its canvas, in columns; return its height in inches."""
    for columns in range(min(MOST_COLUMNS, len(handles)), 0, -1):
        legend = canvas.legend([*handles.values()], [*handles], loc=place, ncols=columns, frameon=False)
        box = legend.get_window_extent()
        if columns == 1 or box.width <= canvas.bbox.width:
            return float(box.height / canvas.dpi)
        legend.remove()
    return 0.0


def _heading(number: int, sheet: Sheet, sheets: Sequence[Sheet], letters: int) -> str:
    """Return the letter and the title of a panel; a problem that all panels are about is not repeated."""
    title, problems = sheet.figure.title, {each.figure.problem for each in sheets}
    if len(problems) == 1:
        title = title.removeprefix(f"{sheet.figure.problem}: ")
    text = f"({chr(ord('a') + number)}) {title}"
    return "\n".join(textwrap.wrap(text, letters)).replace("$", r"\$")


def _draw_legend(sheets: Sequence[Sheet], paper: Paper) -> Canvas:
    """Return a canvas with the legend of all curves."""
    from matplotlib.figure import Figure as Canvas

    hidden = Canvas()
    for sheet in sheets:
        if not sheet.rows:
            draw_view(hidden.add_subplot(), sheet.view, legend=False)
    canvas = Canvas(figsize=(paper.width, 0.5))
    _fit_legend(canvas, _handles(hidden.axes), "center")
    return canvas


def _handles(axes: Sequence[Axes]) -> dict[str, Any]:
    pairs = [pair for each in axes for pair in zip(*each.get_legend_handles_labels(), strict=True)]
    found: dict[str, Any] = {}
    for handle, label in pairs:
        found.setdefault(str(label), handle)
    return found


def _add_legend(axes: Axes) -> None:
    if axes.get_legend_handles_labels()[1]:
        axes.legend(loc="best", frameon=True, framealpha=0.8, edgecolor="none")


def _name(number: int, sheet: Sheet, form: str) -> str:
    words = re.sub(r"[^\w.-]+", "-", f"{sheet.figure.title} {sheet.view.label}")
    return f"{number:02}-{words.strip('-')[:80]}.{form}"


def describe_sheets(written: Mapping[Path, Sequence[Sheet]]) -> list[tuple[str, Sheet]]:
    """Return the name of each file and a sheet in it; those of a panel with their letters."""
    return [
        (path.name if len(sheets) == 1 else f"{path.name} ({chr(ord('a') + number)})", sheet)
        for path, sheets in written.items()
        for number, sheet in enumerate(sheets)
    ]
