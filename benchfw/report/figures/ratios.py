"""All methods on all problems at a glance: their ratios to the reference, with intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from benchfw.analysis.decisions import Verdict
from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.report.figures.plot import Figure, Style, View, error_bars, rounded
from benchfw.report.text import escape_plotly, ratio_text
from benchfw.report.verdicts.overall import main_quantity
from benchfw.report.verdicts.sweeps import PRODUCTS
from benchfw.summary.model import Comparison

MOST_METHODS = 8
"""With more methods than this the ones that are furthest ahead are drawn: the others are in the tables."""

_WORDS = (
    "Left of the line at 1 is better than {reference}. Each dot is a method on one problem, its bar the "
    "interval that decided the verdict, which allows for all comparisons of the report. A method without a "
    "dot is not comparable there: it does not arrive, or too few of its runs do."
)
_GREY = {"width": 1, "color": "#8f8f8f"}
_LEFT_OUT = " Of {total} methods the {shown} with the lowest ratios are drawn; all are in the tables."


def ratio_figure(comparisons: Sequence[Comparison], styles: Mapping[Cell, Style]) -> Figure | None:
    """Return a row a problem with a dot a method, or None where there is nothing to show."""
    found: dict[str, dict[str, tuple[Cell, Interval]]] = {}
    for comparison in comparisons:
        for cell in comparison.measured:
            decision = comparison.decision(cell, main_quantity(comparison))
            ratio = None if decision.verdict is Verdict.NOT_COMPARABLE else decision.interval
            if ratio is not None and 0 < ratio.estimate < math.inf:
                found.setdefault(comparison.name(cell), {})[comparison.problem] = (cell, ratio)
    if not found:
        return None
    problems = [each.problem for each in comparisons]
    shown = sorted(found, key=lambda name: _middle(found[name], len(problems)))[:MOST_METHODS]
    drawn = [name for name in found if name in shown]
    references = {each.problem: each.name(each.reference) for each in comparisons}
    one = len({*references.values()}) == 1
    reference = references[problems[0]] if one else "the method in brackets"
    data = [
        _dots(name, found[name], styles, problems, (place + 1) / (len(drawn) + 1) - 0.5)
        for place, name in enumerate(drawn)
    ]
    what = _describe(comparisons[0])
    title = f"{what}, relative to {reference}"
    across = f"times the {what.removesuffix(' to target')} of {reference}"
    names = problems if one else [f"{each} ({references[each]})" for each in problems]
    layout = {
        "xaxis": {
            "title": {"text": "<br>".join(map(escape_plotly, [*wrap(across, 32), "(left is better)"]))},
            "type": "log",
            "automargin": True,
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
    if len(found) > len(shown):
        words += _LEFT_OUT.format(total=len(found), shown=len(shown))
    alt = f"Dots with intervals of {title} for {', '.join(drawn)} on {len(problems)} problems."
    height = min(900, 130 + max(34, 12 * len(drawn) * (len(problems) < 6)) * len(problems))
    return Figure(f"All problems: {title}", alt, words, (View("", data, layout),), height=height)


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
) -> dict[str, Any]:
    style = styles[next(iter(ratios.values()))[0]]
    intervals = [ratio for _, ratio in ratios.values()]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": escape_plotly(name),
        "x": rounded(each.estimate for each in intervals),
        "y": rounded(problems.index(problem) + 0.8 * shift for problem in ratios),
        "error_x": error_bars(intervals, style),
        "marker": {"size": 9, "color": style.colour, "symbol": style.symbol},
        "text": [
            escape_plotly(f"{name} on {at}: {ratio_text(ratio)}", 160) for at, (_, ratio) in ratios.items()
        ],
        "hoverinfo": "text",
    }
