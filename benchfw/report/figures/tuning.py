"""Figures on tuning: what fewer trials would have given, and how sensitive a method is to its parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.figures.plot import (
    Figure,
    Style,
    View,
    dot_trace,
    error_bars,
    line_trace,
    log_axis,
    rounded,
)
from benchfw.report.text import escape_plotly
from benchfw.report.tuning.problems import TunedProblem, setting_value, settings_text
from benchfw.search import Choice, Integer, Log
from benchfw.summary.attempts import Attempt
from benchfw.summary.tuned import TunedMethod

ABOVE = 0.06  # of the height, beyond the worst value: where settings are drawn that have none
WITHIN = 0.8  # of a choice's place, that the dots of all methods take

_ALLOWANCE = (
    "{better} is better. A line is how well the best of so many settings did in tuning: the median over all "
    "ways to take so many of those that were tried (Tang 2020). It was chosen by the same runs, and "
    "may look better than it is. No line is drawn where most such choices {fail}. The mark on the right is "
    "the verdict, by other runs, perhaps longer ones; its bar is that of the table."
)
_SENSITIVITY = (
    "{better} is better. Each dot is a setting: the median of its tuning runs, its bar their range. A ring "
    "is the setting that was chosen, a cross at the edge one that {failed}. All parameters vary at once: "
    "where the dots lie level, a parameter hardly matters."
)
_NO_VALUES = "No setting has a value: each cross is one that {failed}. A ring is the setting that was chosen."


def allowance_figures(tuned: TunedProblem, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return performance against the number of settings tried; none where no value of it is known."""
    if tuned.comparison is None or max(len(each.attempts) for each in tuned.methods) < 2:
        return []
    data: list[dict[str, Any]] = []
    heights: list[float] = []
    for each in tuned.methods:
        style, name = styles[each.cell], escape_plotly(tuned.name(each.cell))
        points = [(count, tuned.shown(value)) for count, value in each.curve if math.isfinite(value)]
        parts: dict[str, dict[str, Any]] = {}
        if points:
            across, up = zip(*points, strict=True)
            parts["line"] = line_trace("", across, up, style, "%{y:.3g} with %{x:g}")
            parts["line"]["mode"] = "lines+markers"
            parts["line"]["marker"] = {"color": style.colour, "symbol": style.symbol, "size": 6}
            heights += up
        own = tuned.verdict_interval(each.cell)
        if own is not None and math.isfinite(own.estimate):
            text = f"the verdict: {own.estimate:.3g}"
            mark = dot_trace(name, len(each.attempts), own.estimate, style, text)
            parts["verdict"] = mark | {"error_y": error_bars([own], style)}
            heights.append(own.estimate)
        data += _named(parts, each.cell, name)
    if not heights:
        return []
    counts = sorted({count for trace in data for count in trace["x"]})
    layout = {
        "xaxis": {
            "title": {"text": "settings tried of a method"},
            "type": "log",
            "tickvals": counts,
            "ticktext": [f"{count:g}" for count in counts],
        },
        "yaxis": _value_axis(tuned, heights),
        "showlegend": True,
    }
    names = ", ".join(map(tuned.name, tuned.cells))
    alt = f"Lines of {tuned.value_name} on {tuned.problem} against the number of settings tried for {names}."
    words = _ALLOWANCE.format(
        better=_better(tuned), fail="do not arrive" if tuned.first.axis else "do not finish"
    )
    title, view = f"{tuned.problem}: tuning allowance", View("", data, layout)
    return [Figure(title, alt, words, (view,), controls=("log x", "log y"), problem=tuned.problem)]


def _named(parts: Mapping[str, dict[str, Any]], cell: Cell, name: str) -> Iterator[dict[str, Any]]:
    """Yield the traces of one method, the first of them in the legend for all."""
    for number, (part, trace) in enumerate(parts.items()):
        meta = {"part": part, "backend": cell.backend}
        yield trace | {"name": name, "legendgroup": name, "showlegend": number == 0, "meta": meta}


def sensitivity_figures(tuned: TunedProblem, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return the values of all settings, with a view a parameter."""
    paths = dict.fromkeys(path for each in tuned.methods for path in each.spaces)
    views = [_sensitivity_view(tuned, path, styles) for path in paths]
    names = ", ".join(map(tuned.name, tuned.cells))
    alt = f"Dots of {tuned.value_name} on {tuned.problem} against {', '.join(paths)} of {names}."
    failed = "never reached the target" if tuned.first.axis else "did not finish"
    known = any(mark["meta"]["part"] == "dots" for view in views for mark in view.data)
    words = (_SENSITIVITY if known else _NO_VALUES).format(better=_better(tuned), failed=failed)
    title = f"{tuned.problem}: sensitivity"
    controls = ("log y",) if known else ()
    return [Figure(title, alt, words, tuple(views), controls=controls, height=440, problem=tuned.problem)]


def _sensitivity_view(tuned: TunedProblem, path: str, styles: Mapping[Cell, Style]) -> View:
    methods = [each for each in tuned.methods if path in each.spaces]
    spaces = [each.spaces[path] for each in methods]
    choices = list(dict.fromkeys(_choice_names(methods, path)))
    scores = [each.value(attempt.score) for each in methods for attempt in each.attempts]
    values = [tuned.shown(value) for value in scores if math.isfinite(value)]
    axis = _value_axis(tuned, values) if values else _empty_axis(tuned, len(methods))
    data: list[dict[str, Any]] = []
    for number, each in enumerate(methods):
        places = _places(each, path, choices, (number + 0.5) / len(methods) - 0.5)
        edge = _edge(values, number, log=axis["type"] == "log", flipped=tuned.is_flipped)
        parts = _sensitivity_parts(tuned, each, places, edge, styles[each.cell])
        data += _named(parts, each.cell, escape_plotly(tuned.name(each.cell)))
    logarithmic = all(
        isinstance(space, Log) or (isinstance(space, Integer) and space.log) for space in spaces
    )
    across: dict[str, Any] = {
        "title": {"text": escape_plotly(path)},
        "type": "log" if logarithmic else "linear",
    }
    if choices:
        across |= {"tickvals": [*range(len(choices))], "ticktext": [*map(escape_plotly, choices)]}
        across["range"] = [-0.5, len(choices) - 0.5]
    return View(path, data, {"xaxis": across, "yaxis": axis, "showlegend": True})


def _places(method: TunedMethod, path: str, choices: Sequence[str], shift: float) -> dict[int, float]:
    """Return where each attempt goes, by its identity; those at one choice lie beside each other."""
    if not choices:
        return {id(each): float(each.setting[path]) for each in method.attempts}
    places = {}
    for number, each in enumerate(method.attempts):
        beside = (number / max(1, len(method.attempts) - 1) - 0.5) / 2
        places[id(each)] = choices.index(setting_value(each.setting[path])) + WITHIN * (shift + beside)
    return places


def _choice_names(methods: Iterable[TunedMethod], path: str) -> Iterable[str]:
    """Yield the values of a choice; those of another method's number too, where both share the name."""
    if not any(isinstance(each.spaces[path], Choice) for each in methods):
        return
    for each in methods:
        space = each.spaces[path]
        values = space.values if isinstance(space, Choice) else [one.setting[path] for one in each.attempts]
        yield from map(setting_value, values)


def _sensitivity_parts(
    tuned: TunedProblem, method: TunedMethod, places: Mapping[int, float], edge: float, style: Style
) -> dict[str, dict[str, Any]]:
    """Return dots with their ranges, crosses for settings without a value, and a ring around the chosen."""
    finite = [each for each in method.attempts if math.isfinite(method.value(each.score))]
    failed = [each for each in method.attempts if not math.isfinite(method.value(each.score))]
    chosen, best = method.chosen, method.value(method.chosen.score)
    hover = partial(_hover, tuned, method)
    parts = {}
    if finite:
        ranges = [_range(tuned, method, each) for each in finite]
        heights = [each.estimate for each in ranges]
        dots = _marks([places[id(each)] for each in finite], heights, style, 7, style.symbol)
        bars = error_bars(ranges, style) | {"width": 2, "thickness": 1}
        parts["dots"] = dots | {"error_y": bars, "text": [hover(each) for each in finite]}
    if failed:
        crosses = _marks([places[id(each)] for each in failed], [edge] * len(failed), style, 8, "x")
        parts["failed"] = crosses | {"text": [hover(each) for each in failed]}
    height = tuned.shown(best) if math.isfinite(best) else edge
    ring = _marks([places[id(chosen)]], [height], style, 15, "circle-open")
    parts["chosen"] = ring | {"text": [f"chosen: {hover(chosen)}"]}
    return parts


def _range(tuned: TunedProblem, method: TunedMethod, attempt: Attempt) -> Interval:
    """Return the median of a setting with the lowest and the highest of its runs."""
    values = sorted(tuned.shown(method.value(score)) for score in attempt.scores)
    return Interval(tuned.shown(method.value(attempt.score)), values[0], values[-1], len(values))


def _marks(
    across: Iterable[float], up: Iterable[float], style: Style, size: int, symbol: str
) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(across),
        "y": rounded(up),
        "marker": {
            "size": size,
            "color": style.colour,
            "symbol": symbol,
            "line": {"width": 2, "color": style.colour},
        },
        "hovertemplate": "%{fullData.name}<br>%{text}<extra></extra>",
    }


def _hover(tuned: TunedProblem, method: TunedMethod, attempt: Attempt) -> str:
    value = method.value(attempt.score)
    shown = f"{tuned.shown(value):.3g}" if math.isfinite(value) else "no value"
    return escape_plotly(f"{settings_text(attempt.setting)}: {shown}", 160)


def _edge(values: Sequence[float], number: int, *, log: bool, flipped: bool) -> float:
    """Return where settings without a value are drawn: beyond the worst of all others, a row a method.

    Where nothing has a value, a row is its number.
    """
    if not values:
        return number + 1.0
    low, high = min(values), max(values)
    beyond = ABOVE * (number + 1)
    if log:
        return float(high * (high / low) ** beyond)
    width = (high - low) or abs(high) or 1.0
    return low - beyond * width if flipped else high + beyond * width


def _value_axis(tuned: TunedProblem, values: Iterable[float]) -> dict[str, Any]:
    logarithmic = not tuned.is_flipped and log_axis(values)
    return {
        "title": {"text": escape_plotly(tuned.value_name)},
        "type": "log" if logarithmic else "linear",
        "exponentformat": "power",
    }


def _empty_axis(tuned: TunedProblem, rows: int) -> dict[str, Any]:
    """Return an axis without numbers, where no setting of so many methods has a value."""
    ticks = {"tickvals": [row + 1.0 for row in range(rows)], "ticktext": [tuned.missing] * rows}
    return _value_axis(tuned, ()) | ticks | {"range": [0.0, rows + 1.0]}


def _better(tuned: TunedProblem) -> str:
    return "Higher" if tuned.is_flipped else "Lower"
