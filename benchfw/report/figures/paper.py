"""The figures of a run as files for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from benchfw.errors import BenchfwError, nearest
from benchfw.report.figures.drawing import draw_views, drawing_style, is_drawable, save_canvas
from benchfw.report.figures.plot import Figure, View
from benchfw.report.text import escape_plotly
from benchfw.summary.model import Summary

WIDTH = 5.5  # inches: the text of a one-column page
FONT_SIZE = 9.0  # points
MOST_PANELS = 26  # as there are letters


@dataclass(frozen=True)
class Paper:
    """How figures are made for a paper: as svg, pdf or png; width in inches, font in points.

    Without `x` every view is a file.
    """

    form: str
    width: float = WIDTH
    font_size: float = FONT_SIZE
    x: Literal["cost", "seconds", "iterations"] | None = None
    panel: bool = False


class Sheet(NamedTuple):
    """A view of a figure, the file that it is drawn into, and its letter and title in a panel."""

    figure: Figure
    view: View
    file: str
    title: str = ""


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
    sheets: list[Sheet] = []
    for figure in figures:
        views = [view for view in figure.views if any(map(is_drawable, view.data))]
        views = [view for view in views if view.axis == x] or views
        number = len({each.figure.title for each in sheets}) + 1
        for view in views[:1] if paper.panel else views:
            words = re.sub(r"[^\w.-]+", "-", f"{figure.title} {view.label}").strip("-")
            sheets.append(Sheet(figure, view, f"{number:02}-{words[:80]}.{paper.form}"))
    return _letter(sheets, f"panel.{paper.form}") if paper.panel else sheets


def _letter(sheets: Sequence[Sheet], file: str) -> list[Sheet]:
    """Return the sheets of a panel with letters and titles; a problem that all are about is not repeated."""
    if not 0 < len(sheets) <= MOST_PANELS:
        found = f"this run has {len(sheets)}"
        raise BenchfwError(f"a panel has 1 to {MOST_PANELS} figures, {found}; leave out --panel")
    problem = f"{sheets[0].figure.problem}: " if len({each.figure.problem for each in sheets}) == 1 else ""
    titles = [each.figure.title.removeprefix(problem) for each in sheets]
    return [
        each._replace(file=file, title=f"({chr(ord('a') + number)}) {title}")
        for number, (each, title) in enumerate(zip(sheets, titles, strict=True))
    ]


def write_figures(sheets: Sequence[Sheet], folder: Path, paper: Paper) -> list[Path]:
    """Write the files of sheets; return them."""
    files = {name: [each for each in sheets if each.file == name] for name in (each.file for each in sheets)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with drawing_style(paper.font_size):
            for name, shown in files.items():
                titled = [(each.title, each.view) for each in shown]
                canvas = draw_views(titled, paper.width, paper.font_size)
                (folder / name).write_bytes(save_canvas(canvas, paper.form))
    except OSError as error:
        raise BenchfwError(f"cannot write the figures to {folder}: {error.strerror or error}") from error
    return [folder / name for name in files]
