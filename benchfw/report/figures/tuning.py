"""Figures on tuning: what fewer trials would have given, and how sensitive a method is to its parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.figures.plot import (
    Figure,
    Style,
    View,
    band_trace,
    dot_trace,
    error_bars,
    line_trace,
    log_axis,
    rounded,
)
from benchfw.report.text import escape_plotly
from benchfw.report.tuning.problems import NEVER, UNFINISHED, TunedProblem, setting_value, settings_text
from benchfw.search import Choice, Integer, Log
from benchfw.summary.attempts import Attempt
from benchfw.summary.tuned import TunedMethod

ABOVE = 0.06  # of the height, beyond the worst value: where settings are drawn that have none
WITHIN = 0.8  # of a choice's place, that the dots of all methods take

_ALLOWANCE = (
    "{better} is better. A line is what the best of so many settings gives in a run that did not choose it: "
    "the median over which of the settings tried come first. Its band holds 95 % of what other settings and "
    "other runs would give. "
    "No line is drawn where most choices of so many settings {fail}, and no band where some do. The "
    "mark on the right is the verdict, with the whole allowance; its bar is that of the table."
)
_SENSITIVITY = (
    "{better} is better. Each dot is a setting: the median of its tuning runs, its bar their range. A ring "
    "is the setting that was chosen, a cross at the edge one that {failed}. All parameters vary at once: "
    "where the dots lie level, a parameter hardly matters."
)
_NO_VALUES = "No setting has a value: each cross is one that {failed}. A ring is the setting that was chosen."


def allowance_figures(found: TunedProblem, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return performance against the number of tuning trials; none where no value of it is known."""
    if found.comparison is None or not any(each.counts for each in found.methods):
        return []
    data: list[dict[str, Any]] = []
    heights: list[float] = []
    for each in found.methods:
        style, name = styles[each.cell], escape_plotly(found.name(each.cell))
        known = [(one.trials, found.shown_interval(one.value)) for one in each.by_allowance]
        known = [(trials, value) for trials, value in known if math.isfinite(value.estimate)]
        parts = _allowance_parts(known, style)
        own = found.verdict_interval(each.cell)
        if own is not None and math.isfinite(own.estimate):
            trials = len(each.rounds[0])
            mark = dot_trace(name, trials, own.estimate, style, f"the verdict: {own.estimate:.3g}")
            parts["verdict"] = mark | {"error_y": error_bars([own], style)}
            known.append((trials, own))
        heights += [value.estimate for _, value in known]
        for part, trace in parts.items():
            shown = part == "line" or "line" not in parts
            trace |= {"name": name, "type": "scatter", "legendgroup": name, "showlegend": shown}
            trace["meta"] = {"part": part, "backend": each.cell.backend}
            data.append(trace)
    if not heights:
        return []
    counts = sorted({count for trace in data for count in trace["x"]})
    title = f"{found.problem}: tuning allowance"
    layout = {
        "xaxis": {
            "title": {"text": "tuning trials of a method"},
            "type": "log",
            "tickvals": counts,
            "ticktext": [f"{count:g}" for count in counts],
        },
        "yaxis": _value_axis(found, heights),
        "showlegend": True,
    }
    names = ", ".join(map(found.name, found.cells))
    alt = f"Lines of {found.value_name} on {found.problem} against the number of tuning trials for {names}."
    words = _ALLOWANCE.format(
        better=_better(found), fail="do not arrive" if found.first.axis else "do not finish"
    )
    view = View("", data, layout)
    return [Figure(title, alt, words, (view,), controls=("log x", "log y", "bands"), problem=found.problem)]


def _allowance_parts(known: Sequence[tuple[int, Interval]], style: Style) -> dict[str, dict[str, Any]]:
    """Return the band and the line of one method; a band is drawn where both of its ends are known."""
    if not known:
        return {}
    inside = [(trials, value) for trials, value in known if value.bounded]
    band = band_trace(
        np.array([float(trials) for trials, _ in inside]),
        np.array([value.low for _, value in inside]),
        np.array([value.high for _, value in inside]),
        style,
    )
    trials, values = zip(*known, strict=True)
    line = line_trace("", trials, [value.estimate for value in values], style, "%{y:.3g} with %{x:g}")
    line["mode"] = "lines+markers"
    line["marker"] = {"color": style.colour, "symbol": style.symbol, "size": 6}
    return {"band": band, "line": line} if inside else {"line": line}


def sensitivity_figures(found: TunedProblem, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return the values of all settings, with a view a parameter."""
    paths = dict.fromkeys(path for each in found.methods for path in each.spaces)
    views = [_sensitivity_view(found, path, styles) for path in paths]
    views = [view for view in views if view.data]
    if not views:
        return []
    names = ", ".join(map(found.name, found.cells))
    alt = f"Dots of {found.value_name} on {found.problem} against {', '.join(paths)} of {names}."
    failed = "never reached the target" if found.first.axis else "did not finish"
    known = any(mark["meta"]["part"] == "dots" for view in views for mark in view.data)
    words = (_SENSITIVITY if known else _NO_VALUES).format(better=_better(found), failed=failed)
    title = f"{found.problem}: sensitivity"
    controls = ("log y",) if known else ()
    return [Figure(title, alt, words, tuple(views), controls=controls, height=440, problem=found.problem)]


def _sensitivity_view(found: TunedProblem, path: str, styles: Mapping[Cell, Style]) -> View:
    methods = [each for each in found.methods if path in each.spaces]
    spaces = [each.spaces[path] for each in methods]
    choices = list(dict.fromkeys(_choice_names(methods, path)))
    values = [
        found.shown(value)
        for each in methods
        for one in each.attempts
        if math.isfinite(value := each.value(one.score))
    ]
    axis = _value_axis(found, values) if values else _empty_axis(found, len(methods))
    edge = partial(_edge, values, log=axis["type"] == "log", flipped=found.is_flipped)
    data: list[dict[str, Any]] = []
    for number, each in enumerate(methods):
        style, name = styles[each.cell], escape_plotly(found.name(each.cell))
        places = dict(_places(each, path, choices, (number + 0.5) / len(methods) - 0.5))
        row = edge(number)
        for part, trace in _sensitivity_parts(found, each, places, row, style).items():
            trace |= {
                "name": name,
                "legendgroup": name,
                "showlegend": not any(mark["name"] == name for mark in data),
            }
            trace["meta"] = {"part": part, "backend": each.cell.backend}
            data.append(trace)
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


def _places(
    method: TunedMethod, path: str, choices: Sequence[str], shift: float
) -> Iterable[tuple[int, float]]:
    """Yield where each attempt goes, by its identity; those at one choice lie beside each other."""
    attempts = [one for some in method.rounds for one in some]
    for number, one in enumerate(attempts):
        value = one.setting[path]
        if not choices:
            yield id(one), float(value)
            continue
        beside = (number / max(1, len(attempts) - 1) - 0.5) / 2
        yield id(one), choices.index(setting_value(value)) + WITHIN * (shift + beside)


def _choice_names(methods: Iterable[TunedMethod], path: str) -> Iterable[str]:
    """Yield the values of a choice; those of another method's number too, where both share the name."""
    if not any(isinstance(each.spaces[path], Choice) for each in methods):
        return
    for each in methods:
        space = each.spaces[path]
        values = space.values if isinstance(space, Choice) else [one.setting[path] for one in each.attempts]
        yield from map(setting_value, values)


def _sensitivity_parts(
    found: TunedProblem, method: TunedMethod, places: Mapping[int, float], edge: float, style: Style
) -> dict[str, dict[str, Any]]:
    """Return dots with their ranges, crosses for settings without a value, and rings around the chosen."""
    finite = [each for each in method.attempts if math.isfinite(method.value(each.score))]
    failed = [each for each in method.attempts if not math.isfinite(method.value(each.score))]
    parts = {}
    if finite:
        ranges = [found.shown_interval(_range(method, each)) for each in finite]
        parts["dots"] = _marks(
            [places[id(each)] for each in finite], [each.estimate for each in ranges], style, 7, style.symbol
        ) | {"error_y": error_bars(ranges, style) | {"width": 2, "thickness": 1}}
        parts["dots"]["text"] = [_hover(method, each, found.shown(each.score.value)) for each in finite]
    if failed:
        parts["failed"] = _marks([places[id(each)] for each in failed], [edge] * len(failed), style, 8, "x")
        parts["failed"]["text"] = [_hover(method, each, math.inf) for each in failed]
    values = [method.value(each.score) for each in method.chosen]
    heights = [found.shown(value) if math.isfinite(value) else edge for value in values]
    parts["chosen"] = _marks([places[id(each)] for each in method.chosen], heights, style, 15, "circle-open")
    parts["chosen"]["text"] = [
        f"chosen: {_hover(method, each, found.shown(value))}"
        for each, value in zip(method.chosen, values, strict=True)
    ]
    return parts


def _range(method: TunedMethod, attempt: Attempt) -> Interval:
    """Return the median of a setting with the lowest and the highest of its runs."""
    values = [method.value(each) for each in attempt.scores]
    return Interval(method.value(attempt.score), min(values), max(values), len(values))


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


def _hover(method: TunedMethod, attempt: Attempt, value: float) -> str:
    shown = f"{value:.3g}" if math.isfinite(value) else "no value"
    return escape_plotly(f"{settings_text(method, [attempt])}: {shown}", 160)


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


def _value_axis(found: TunedProblem, values: Iterable[float]) -> dict[str, Any]:
    logarithmic = not found.is_flipped and log_axis(values)
    return {
        "title": {"text": escape_plotly(found.value_name)},
        "type": "log" if logarithmic else "linear",
        "exponentformat": "power",
    }


def _empty_axis(found: TunedProblem, rows: int) -> dict[str, Any]:
    """Return an axis without numbers, where no setting of so many methods has a value."""
    missing = NEVER if found.first.axis else UNFINISHED
    ticks = {"tickvals": [row + 1.0 for row in range(rows)], "ticktext": [missing] * rows}
    return _value_axis(found, ()) | ticks | {"range": [0.0, rows + 1.0]}


def _better(found: TunedProblem) -> str:
    return "Higher" if found.is_flipped else "Lower"
