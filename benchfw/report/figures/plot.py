"""What all figures share: their form, the style of each method, and numbers and text as Plotly takes them."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from benchfw.summary.model import Method

# Okabe & Ito 2008, for colour-blind readers too; without black and yellow, which vanish on one background
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8f8f8f")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "star", "x")


LONGEST = 60  # characters of a name in a figure; the tables have all of it


@dataclass(frozen=True)
class Style:
    """How one method looks in every figure and beside its name in the tables."""

    colour: str
    dash: str
    symbol: str
    marked: bool = False  # lines of one colour and dash are told apart by marks


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


def styles_of(methods: Iterable[Method]) -> dict[Method, Style]:
    """Return one style a method: the label picks the colour, the backend and the second round the dash."""
    found = list(dict.fromkeys(methods))
    labels = list(dict.fromkeys(method.label for method in found))
    backends = list(dict.fromkeys(method.backend for method in found))
    styles = {}
    for method in found:
        number = labels.index(method.label)
        turn = (number // len(PALETTE)) * len(backends) + backends.index(method.backend)
        colour, symbol = PALETTE[number % len(PALETTE)], SYMBOLS[(number + turn) % len(SYMBOLS)]
        styles[method] = Style(colour, DASHES[turn % len(DASHES)], symbol, marked=turn >= len(DASHES))
    return styles


def plain(text: str, longest: int = LONGEST) -> str:
    """Return text that Plotly shows as it is: it reads a small HTML in every label. Long names are cut."""
    short = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return html.escape(short, quote=False)


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
