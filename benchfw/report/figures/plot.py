"""What all figures share: their form, the style of a method, and lines, dots and bars in it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchfw.analysis.convergence import Floats
from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.text import escape_plotly

# As text on their backgrounds they have a contrast of 4.5:1 and more, and for colour-blind readers (Machado
# et al. 2009) any two are further apart than the nearest two of Okabe & Ito 2008, which are too pale.
PALETTE = ("#0072c6", "#df001a", "#007b4d", "#a34795", "#657620", "#27307a", "#820010", "#62676d")
DARK_PALETTE = ("#4c9dff", "#e8823a", "#2fe08c", "#c07ab2", "#e9ec5a", "#cfd0ff", "#ab8c70", "#b8e6cf")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "star", "x")
MARKS = {
    "circle": "M12 2.5a3.5 3.5 0 1 0 .01 0z", "square": "M8.8 2.8h6.4v6.4H8.8z",
    "diamond": "M12 1.5L16.5 6L12 10.5L7.5 6z",
    "cross": "M10.7 2h2.6v2.7H16v2.6h-2.7V10h-2.6V7.3H8V4.7h2.7z", "triangle-up": "M12 2l4.4 7.6H7.6z",
    "star": "M12 1.2l1.5 3.1 3.4.4-2.5 2.4.6 3.4-3-1.7-3 1.7.6-3.4L7.1 4.7l3.4-.4z",
    "x": "M9.2 2L12 4.8 14.8 2 16 3.2 13.2 6 16 8.8 14.8 10 12 7.2 9.2 10 8 8.8 10.8 6 8 3.2z",
}  # fmt: skip
"""The symbols as SVG paths in a box of 24 x 12, for the keys beside names."""

STROKES = {
    "solid": "none", "dash": "6 3", "dot": "2 2", "dashdot": "6 2 2 2", "longdash": "9 3",
    "longdashdot": "9 2 2 2",
}  # fmt: skip
"""The dashes as those of SVG."""


@dataclass(frozen=True)
class Style:
    """How one method looks in every figure and beside its name in the tables."""

    hue: int
    dash: str
    symbol: str
    marked: bool = False  # lines of one colour and dash differ by their marks

    @property
    def colour(self) -> str:
        """Return the colour on a light background; pages have another one on a dark background."""
        return PALETTE[self.hue]

    @property
    def stroke(self) -> str:
        """Return the dash of the line in a key."""
        return STROKES[self.dash]

    @property
    def mark(self) -> str:
        """Return the path of the symbol in a key."""
        return MARKS[self.symbol]


@dataclass(frozen=True)
class View:
    """One Plotly drawing; a figure with several has a switch between them.

    `axis` is "iterations", "seconds" or "cost" where a reader chooses between these.
    """

    label: str
    data: list[dict[str, Any]]
    layout: dict[str, Any]
    axis: str = ""


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
        """Return what the page's script needs; `benchfw.report.figures.packing` writes its arrays."""
        views = [
            {"label": view.label, "data": view.data, "layout": view.layout, "axis": view.axis}
            for view in self.views
        ]
        return {"title": self.title, "views": views, "controls": list(self.controls), "height": self.height}


def styles_of(cells: Iterable[Cell], families: Mapping[Cell, str] | None = None) -> dict[Cell, Style]:
    """Return the style of each cell, the same on every problem.

    The method picks the hue, or its family of a sweep; the turn within a hue picks dash and symbol. No two of
    336 lines look alike, and no two of 56 dots.
    """
    found = list(dict.fromkeys(cells))
    names = {cell: (families or {}).get(cell, cell.method) for cell in found}
    hues = {name: number % len(PALETTE) for number, name in enumerate(dict.fromkeys(names.values()))}
    turns: dict[int, dict[tuple[str, str], int]] = {}  # of methods by hue, in order
    for cell in found:
        same = turns.setdefault(hues[names[cell]], {})
        same.setdefault((cell.method, cell.backend), len(same))
    styles = {}
    for cell in found:
        hue = hues[names[cell]]
        turn = turns[hue][cell.method, cell.backend]
        # 6 dashes and 7 symbols have no common divisor: 42 pairs of them
        symbol = SYMBOLS[(hue + turn) % len(SYMBOLS)]
        styles[cell] = Style(hue, DASHES[turn % len(DASHES)], symbol, turn >= len(DASHES))
    return styles


def line_trace(
    name: str,
    across: Floats | Iterable[float],
    up: Floats | Iterable[float],
    style: Style,
    hover: str,
    **line: Any,
) -> dict[str, Any]:
    """Return a line in a method's style; `line` changes its dash, width or shape. Arrays stay arrays."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if style.marked else "lines",
        "name": escape_plotly(name),
        "x": with_gaps(across) if isinstance(across, np.ndarray) else rounded(across),
        "y": with_gaps(up) if isinstance(up, np.ndarray) else rounded(up),
        "line": {"color": style.colour, "dash": style.dash, "width": 2, **line},
        "marker": {"color": style.colour, "symbol": style.symbol, "maxdisplayed": 8},
        "hovertemplate": f"%{{fullData.name}}<br>{hover}<extra></extra>",
    }


def band_trace(across: Floats, low: Floats, high: Floats, style: Style) -> dict[str, Any]:
    """Return the area between two lines in a method's colour."""
    return {
        "mode": "none",
        "x": np.concatenate([across, across[::-1]]),
        "y": np.concatenate([low, high[::-1]]),
        "fill": "toself",
        "fillcolor": style.colour,
        "opacity": 0.18,
        "hoverinfo": "skip",
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
    written = (float(f"{value:.{digits}g}") for value in values)
    return [value if math.isfinite(value) else None for value in written]


def with_gaps(values: Floats) -> Floats:
    """Return an array with NaN, a gap in the drawing, for what is not finite."""
    return np.where(np.isfinite(values), values, math.nan)


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
