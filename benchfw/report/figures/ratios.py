"""All methods on all problems at a glance: their ratios to the reference, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any, TypeAlias

from benchfw.analysis.decisions import Decision, Reason, Verdict
from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.figures.open_ends import ARROWS, Edges, arrow_traces, find_edges
from benchfw.report.figures.plot import Figure, Style, View, error_bars, rounded
from benchfw.report.text import escape_plotly, join_names, raise_powers, ratio_text
from benchfw.report.verdicts.overall import main_quantity
from benchfw.report.verdicts.phrases import reached
from benchfw.report.verdicts.sweeps import PRODUCTS
from benchfw.summary.model import Comparison

MOST_METHODS, FEW_PROBLEMS = 8, 5
"""With more methods those furthest ahead are drawn, half as many where there are more problems."""

_WORDS = (
    "Left of the line is better than {reference}. Each dot is a method on one problem, its bar the "
    "interval of the verdict, which allows for all comparisons of the report."
)
_HOLLOW = " The dot of an interval without an end is hollow: it is a bound where a method does not arrive."
_MOST_TICKS = 5
_FACTORS = (1.02, 1.05, 1.1, 1.2, 1.5), (1.1, 1.2, 1.5, 2, 3), (1.5, 2, 3, 5, 10), (2, 5, 10, 20, 50, 100)
"""Of ticks, from the closest on; powers of ten follow."""

_GREY = {"width": 1, "color": "#8f8f8f"}
_MOST = " Of {total} methods the {shown} with the lowest ratios are drawn; all are in the tables."
_SWITCHED = " The reference is {asked}, or, where that never reaches the target, the first method that does."
_OTHER_METHODS = " Left out: {problems}, with other methods than the other problems."
_NO_DOT = " No dot: {missing} ({why})."

Found: TypeAlias = dict[str, dict[str, tuple[Cell, Interval]]]


def ratio_figure(
    comparisons: Sequence[Comparison], styles: Mapping[Cell, Style], left_out: Sequence[str] = ()
) -> Figure | None:
    """Return a row a problem with a dot a method, or None where there is nothing to show.

    `left_out` are problems that cannot be compared with these.
    """
    found, missing = _find_ratios(comparisons)
    if not found:
        return None
    problems = [each.problem for each in comparisons]
    few = len(problems) <= FEW_PROBLEMS
    most = MOST_METHODS if few else MOST_METHODS // 2  # rows are narrow
    shown = sorted(found, key=lambda name: _middle(found[name], len(problems)))[:most]
    drawn = [name for name in found if name in shown]
    references = {each.problem: each.name(each.reference) for each in comparisons}
    one = len({*references.values()}) == 1
    reference = references[problems[0]] if one else "the reference"
    edges = find_edges([ratio for name in drawn for _, ratio in found[name].values()])
    data = [
        trace
        for place, name in enumerate(drawn)
        for trace in _dots(name, found[name], styles, problems, (place + 1) / (len(drawn) + 1) - 0.5, edges)
    ]
    what = _describe(comparisons[0])
    title = f"{what}, relative to {reference}{'' if one else ' (in brackets)'}"
    across = f"{what.removesuffix(' to target')}, compared with {reference}{'' if one else ' in brackets'}"
    names = problems if one else [f"{each} ({references[each]})" for each in problems]
    layout = {
        "xaxis": {
            "title": {"text": "<br>".join(map(escape_plotly, [*wrap(across, 26), "(left is better)"]))},
            "type": "log",
            "automargin": True,
            "ticklabeloverflow": "allow",
            **_name_ticks(edges, "fewer" if main_quantity(comparisons[0]) == "cost_to_target" else "less"),
        },
        "yaxis": {
            "tickvals": list(range(len(problems))),
            "ticktext": ["<br>".join(escape_plotly(line) for line in wrap(each, 22)) for each in names],
            "range": [len(problems) - 0.5, -0.5],
            "automargin": True,
            "ticks": "",
            "showgrid": False,
        },
        "shapes": [
            {"type": "line", "x0": 1, "x1": 1, "yref": "paper", "y0": 0, "y1": 1, "line": _GREY},
            *(_rule(number - 0.5) for number in range(1, len(problems))),
        ],
        "showlegend": True,
    }  # fmt: skip
    words = _WORDS.format(reference=reference)
    if any(each["meta"]["part"] == "arrow" for each in data):
        words += f" {ARROWS.rstrip()}"
    if any(each["marker"]["symbol"].endswith("-open") for each in data):
        words += _HOLLOW
    asked = {each.name(each.replaced) for each in comparisons if each.replaced is not None}
    if asked and not one:
        words += _SWITCHED.format(asked=join_names(sorted(asked)))
    if len(found) > len(shown):
        words += _MOST.format(total=len(found), shown=len(shown))
    if left_out:
        words += _OTHER_METHODS.format(problems=join_names(left_out))
    for why, cells in missing.items():
        words += _NO_DOT.format(missing=_describe_missing(cells), why=why)
    alt = f"Dots with intervals of {title} for {', '.join(drawn)} on {len(problems)} problems."
    height = min(900, 130 + max(34, 12 * len(drawn) * few) * len(problems))
    return Figure(f"All problems: {title}", alt, words, (View("", data, layout),), height=height)


def _find_ratios(comparisons: Sequence[Comparison]) -> tuple[Found, dict[str, dict[str, list[str]]]]:
    """Return the ratios by method and problem, and why others have none: methods by problem."""
    found: Found = {}
    missing: dict[str, dict[str, list[str]]] = {}
    for comparison in comparisons:
        quantity = main_quantity(comparison)
        for cell in comparison.measured:
            decision = comparison.decision(cell, quantity)
            ratio = None if decision.verdict is Verdict.NOT_COMPARABLE else decision.interval
            if ratio is not None and 0 < ratio.estimate < math.inf:
                found.setdefault(comparison.name(cell), {})[comparison.problem] = (cell, ratio)
            elif cell != comparison.reference:
                why = _explain(comparison, cell, decision)
                missing.setdefault(why, {}).setdefault(comparison.problem, []).append(comparison.name(cell))
    return found, missing


def _explain(comparison: Comparison, cell: Cell, decision: Decision) -> str:
    if comparison.kind != "optimizer" or decision.reason not in (Reason.NO_VALUE, Reason.NONE):
        return decision.reason.value or "no ratio is known"
    there, reference = (reached(comparison, each)[0] for each in (cell, comparison.reference))
    if not reference:
        return "neither they nor the reference reach the target"
    return "too few runs reach the target" if there else "they never reach the target"


def _describe_missing(missing: Mapping[str, Sequence[str]]) -> str:
    """Return 'cdsg and dsg on kin40k and protein; sgd on adult': the problems with equal methods together."""
    together: dict[tuple[str, ...], list[str]] = {}
    for problem, names in missing.items():
        together.setdefault(tuple(names), []).append(problem)
    return "; ".join(f"{join_names(names)} on {join_names(on)}" for names, on in together.items())


def _rule(height: float) -> dict[str, Any]:
    across = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": height, "y1": height}
    return {**across, "line": {**_GREY, "dash": "dot"}, "opacity": 0.4}


def _middle(ratios: Mapping[str, tuple[Cell, Interval]], problems: int) -> float:
    """Return the mean log ratio, 0 on problems without one."""
    return sum(math.log(ratio.estimate) for _, ratio in ratios.values()) / problems


def _describe(comparison: Comparison) -> str:
    quantity = main_quantity(comparison)
    if quantity == "cost_to_target":
        return f"{comparison.cost_unit} to target"
    return PRODUCTS.get(quantity, f"{comparison.time} to target")


def _dots(
    name: str,
    ratios: Mapping[str, tuple[Cell, Interval]],
    styles: Mapping[Cell, Style],
    problems: Sequence[str],
    shift: float,
    edges: Edges,
) -> list[dict[str, Any]]:
    """Return the dots of a method, hollow for intervals without an end, and arrows of what does not fit."""
    style = styles[next(iter(ratios.values()))[0]]
    shown = escape_plotly(name)
    rows = [
        (
            problems.index(problem) + 0.8 * shift,
            ratio,
            escape_plotly(f"{name} on {problem}: {ratio_text(ratio)}", 160),
        )
        for problem, (_, ratio) in ratios.items()
    ]
    traces: list[dict[str, Any]] = []
    for symbol, some in (
        (style.symbol, [row for row in rows if _has_ends(row[1])]),
        (f"{style.symbol}-open", [row for row in rows if not _has_ends(row[1])]),
    ):
        if not some:
            continue
        heights, intervals, texts = zip(*some, strict=True)
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": shown,
                "legendgroup": shown,
                "showlegend": not traces,
                "x": rounded(each.estimate for each in intervals),
                "y": rounded(heights),
                "error_x": error_bars([*map(edges.clip, intervals)], style),
                "marker": {"size": 9, "color": style.colour, "symbol": symbol},
                "text": list(texts),
                "hoverinfo": "text",
                "meta": {"part": "line"},
            }
        )
    places, found, _ = zip(*rows, strict=True)
    return [*traces, *arrow_traces(shown, found, places, edges, style)]


def _has_ends(ratio: Interval) -> bool:
    return ratio.low > 0 and ratio.bounded


def _name_ticks(edges: Edges, less: str) -> dict[str, Any]:
    """Return the ticks of a logarithmic axis of ratios in the words of the findings: '2× fewer', 'equal'."""
    low, high = min(edges.low, 1.0), max(edges.high, 1.0)
    powers = range(1, math.ceil(max(math.log10(high), -math.log10(low))) + 1)
    coarse = ([10.0**each for each in powers if each % step == 0] for step in range(1, len(powers) + 2))
    for factors in (*_FACTORS, *coarse):
        ticks = [*(1 / each for each in reversed(factors)), 1.0, *factors]
        inside = [each for each in ticks if low <= each <= high]
        if len(inside) <= _MOST_TICKS:
            break
    return {"tickvals": rounded(inside), "ticktext": [_name_ratio(each, less) for each in inside]}


def _name_ratio(ratio: float, less: str) -> str:
    if math.isclose(ratio, 1):
        return "equal"
    factor, word = (ratio, "more") if ratio > 1 else (1 / ratio, less)
    return f"{raise_powers(f'{factor:g}')}× {word}"
