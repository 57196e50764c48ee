"""Two runs in one drawing: what another run drew lies below, thin and pale, under its own name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchfw.report.figures.plot import Figure, View
from benchfw.report.text import escape_plotly

_NOTE = " Dotted and paler, or hollow: the same of {name}, over which this run is laid."


def overlay_figures(figures: Sequence[Figure], others: Sequence[Figure], name: str) -> list[Figure]:
    """Return figures with the lines and dots that another run has in the drawing of the same title."""
    found = {figure.title: {view.label: view for view in figure.views} for figure in others}
    return [_overlay(figure, found.get(figure.title, {}), name) for figure in figures]


def _overlay(figure: Figure, others: Mapping[str, View], name: str) -> Figure:
    views = tuple(
        replace(view, data=[*_ghosts(others[view.label], name), *view.data]) if view.label in others else view
        for view in figure.views
    )
    if views == figure.views:
        return figure
    return replace(figure, views=views, how_to_read=figure.how_to_read + _NOTE.format(name=name))


def _ghosts(view: View, name: str) -> Iterator[dict[str, Any]]:
    """Yield the traces of another run that have names, without bands, bounds and crosses."""
    label = escape_plotly(name)
    for trace in view.data:
        if trace.get("meta", {}).get("part", "line") != "line":
            continue
        ghost = {**trace, "name": f"{trace.get('name', '')} ({label})", "opacity": 0.55}
        ghost["legendgroup"] = ghost["name"]
        if "line" in trace:
            ghost["line"] = {**trace["line"], "dash": "dot", "width": 1.5}
        if "marker" in trace:
            symbol = trace["marker"].get("symbol", "circle").removesuffix("-open")
            ghost["marker"] = {**trace["marker"], "symbol": f"{symbol}-open"}
        yield ghost
