"""The picture of a run in a gallery: small, so that it is legible where it is 350 pixels wide."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchfw.report.figures.drawing import draw_for_screen, is_drawable
from benchfw.report.figures.plot import View

MOST_NAMES = 12
GREY = "#767676"
"""For a background that is not known: the same contrast to black and to white."""


def draw_picture(view: View, title: str, ink: str, width: int) -> str:
    """Return a view as an SVG element with its legend; nothing where it cannot be drawn."""
    if not any(map(is_drawable, view.data)):
        return ""
    rows = view.layout.get("yaxis", {}).get("categoryarray")
    shown = _shorten_legend(view) if rows is None else _shorten_rows(view, rows)
    return draw_for_screen(shown, title, ink, width)


def _shorten_rows(view: View, rows: list[str]) -> View:
    """Return a view of dots with the first rows, and how many more there are below the axis."""
    drawn = {name for each in view.data for name in each["y"]}
    names = [name for name in rows if name in drawn]
    shown = names[:MOST_NAMES]
    data = [each for each in view.data if {*each["y"]} <= {*shown}]
    axis = dict(view.layout["xaxis"])
    if len(names) > len(shown):
        axis["title"] = {"text": f"{axis['title']['text']}, and {len(names) - len(shown)} more methods"}
    rows_axis = {**view.layout["yaxis"], "categoryarray": shown}
    return replace(view, data=data, layout={**view.layout, "xaxis": axis, "yaxis": rows_axis})


def _shorten_legend(view: View) -> View:
    """Return a view of curves whose legend has the first names, and how many more there are."""
    named = [each for each in view.data if each.get("showlegend", True) and not _is_bound(each)]
    more = named[MOST_NAMES - 1 :] if len(named) > MOST_NAMES else []
    hidden = set(map(id, more))
    data = [{**each, "showlegend": False} if id(each) in hidden else each for each in view.data]
    if more:
        word = {"name": f"and {len(more)} more", "line": {"color": "none"}}
        data.append({"type": "scatter", "mode": "lines", "x": [None], "y": [None], **word})
    return replace(view, data=data)


def _is_bound(trace: Mapping[str, Any]) -> bool:
    return bool(trace.get("meta", {}).get("part") == "bound")
