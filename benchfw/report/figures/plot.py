"""What all figures share: their form, the style of a method, and lines, dots and bars in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.text import escape_plotly

# Okabe & Ito 2008, for colour-blind readers too; without black and yellow, which vanish on one background
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f8f8f")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "star", "x")


@dataclass(frozen=True)
class Style:
    """How one method looks in every figure and beside its name in the tables."""

    colour: str
    dash: str
    symbol: str
    marked: bool = False  # lines of one colour and dash differ by their marks


@dataclass(frozen=True)
class View:
    """One Plotly drawing; a figure with several has a switch between them."""

    label: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]


@dataclass(frozen=True)
class Figure:
    """A drawing with what a reader needs to understand it, also one who cannot see it."""

    title: str
    alt: str
    how_to_read: str
    views: tuple[View, ...]
    controls: tuple[str, ...] = ()
    height: int = 420
    problem: str = ""

    def as_data(self) -> dict[str, Any]:
        """Return what the page's script needs, ready for JSON."""
        views = [{"label": view.label, "data": view.data, "layout": view.layout} for view in self.views]
        return {"title": self.title, "views": views, "controls": list(self.controls), "height": self.height}


def styles_of(cells: Iterable[Cell]) -> dict[Cell, Style]:
    """Return the style of each cell, the same on every problem.

    The method picks the colour, the backend and the second round of colours the dash.
    """
    found = list(dict.fromkeys(cells))
    labels = list(dict.fromkeys(cell.method for cell in found))
    backends = list(dict.fromkeys(cell.backend for cell in found))
    styles = {}
    for cell in found:
        number = labels.index(cell.method)
        turn = (number // len(PALETTE)) * len(backends) + backends.index(cell.backend)
        colour, symbol = PALETTE[number % len(PALETTE)], SYMBOLS[(number + turn) % len(SYMBOLS)]
        styles[cell] = Style(colour, DASHES[turn % len(DASHES)], symbol, marked=turn >= len(DASHES))
    return styles


def line_trace(
    name: str, across: Iterable[float], up: Iterable[float], style: Style, hover: str, **line: Any
) -> dict[str, Any]:
    """Return a line in a method's style; `line` changes its dash, width or shape."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if style.marked else "lines",
        "name": escape_plotly(name),
        "x": rounded(across),
        "y": rounded(up),
        "line": {"color": style.colour, "dash": style.dash, "width": 2, **line},
        "marker": {"color": style.colour, "symbol": style.symbol, "maxdisplayed": 8},
        "hovertemplate": f"%{{fullData.name}}<br>{hover}<extra></extra>",
    }


def dot_trace(name: str, across: float, up: float | str, style: Style, text: str) -> dict[str, Any]:
    """Return one dot in a method's style, with the text that a reader sees who points at it."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_plotly(name),
        "x": rounded([across]),
        "y": [up] if isinstance(up, str) else rounded([up]),
        "marker": {"size": 10, "color": style.colour, "symbol": style.symbol},
        "text": [escape_plotly(text)],
        "hoverinfo": "text",
    }


def error_bars(intervals: Sequence[Interval], style: Style) -> dict[str, Any]:
    """Return the bars of points with intervals; of an end that is not known, none."""
    # an interval from 0 to infinity says nothing, and a bar down to 0 would look as if it did
    down = [each.estimate - each.low if each.bounded or each.low > 0 else math.inf for each in intervals]
    up = [each.high - each.estimate for each in intervals]
    return {
        "type": "data",
        "visible": any(map(math.isfinite, (*down, *up))),
        "symmetric": False,
        "array": rounded(up),
        "arrayminus": rounded(down),
        "color": style.colour,
        "thickness": 1.5,
        "width": 5,
    }


def rounded(values: Iterable[float], digits: int = 6) -> list[float | None]:
    """Return JSON numbers with so many figures; None, a gap in the drawing, for what is not finite."""
    return [float(f"{value:.{digits}g}") if math.isfinite(value) else None for value in values]


def log_axis(values: Iterable[float]) -> bool:
    """Whether a logarithmic axis suits: all values positive (zeros aside), and a decade apart or more."""
    finite = [value for value in values if math.isfinite(value) and value != 0]
    return bool(finite) and min(finite) > 0 and max(finite) >= 10 * min(finite)


def extra_figure(data: Mapping[str, Any]) -> Figure:
    """Return a figure that a plugin gave: Plotly's dict, with title, alt and how_to_read if it likes."""
    layout = dict(data.get("layout", {}))
    title = str(data.get("title", "")) or "Figure"
    words = str(data.get("how_to_read", ""))
    return Figure(
        title,
        str(data.get("alt", title)),
        words,
        (View("", [dict(mark) for mark in data.get("data", ())], layout),),
    )
