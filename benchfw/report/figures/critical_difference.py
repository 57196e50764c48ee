"""Average ranks over many problems, and which of them differ: a critical-difference diagram (Demšar 2006)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from benchfw.analysis.convergence import Floats
from benchfw.records import Cell
from benchfw.report.figures.plot import Figure, Style, View, dot_trace, rounded
from benchfw.report.figures.profiles import ToTarget, values_to_target
from benchfw.report.text import escape_plotly, figures, join_names, raise_powers
from benchfw.summary.model import Summary, short_name

FEWEST_PROBLEMS = 5
_WORDS = "Left is better. Methods under one grey bar do not differ at 5 % (Nemenyi 1963){friedman}."
_BAR = {"type": "scatter", "mode": "lines", "showlegend": False, "line": {"color": "#8f8f8f", "width": 5}}


class Ranking(NamedTuple):
    """Average ranks, by how much two of them differ at 5 %, and the p-value of 'all methods are alike'."""

    means: Floats
    difference: float
    alike: float


def rank_methods(values: Floats) -> Ranking:
    """Rank the columns of (problems, methods), 1 the best; all that never arrive on a problem are tied there.

    The difference is Nemenyi's, the p-value Friedman's (1937), NaN for two methods or if all are tied.
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range  # a second, paid by few reports

    problems, methods = values.shape
    quantile = float(studentized_range.ppf(0.95, methods, math.inf))
    with np.errstate(invalid="ignore"):
        alike = float(friedmanchisquare(*values.T).pvalue) if methods > 2 else math.nan
    difference = quantile * math.sqrt(methods * (methods + 1) / (12 * problems))
    return Ranking(np.mean(rankdata(values, axis=1), axis=0), difference, alike)


def rank_figures(summary: Summary, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return the ranks in time and cost to the target; nothing where there are too few problems."""
    tables = [each for each in values_to_target(summary) if len(each.values) >= FEWEST_PROBLEMS]
    ranked = [(each, rank_methods(each.values)) for each in tables]
    if not ranked:
        return []
    alike = [f"{figures(found.alike, 2)} in {table.unit}" for table, found in ranked if found.alike >= 0]
    words = _WORDS.format(friedman=f"; Friedman's p-value: {join_names(alike)}" if alike else "")
    alt = "Average ranks of methods over all problems, with bars over those that do not differ."
    views, height = tuple(_view(*each, styles) for each in ranked), 150 + 34 * len(tables[0].cells)
    return [Figure("All problems: average ranks", alt, raise_powers(words), views, height=height)]


def _view(table: ToTarget, ranking: Ranking, styles: Mapping[Cell, Style]) -> View:
    """Return a row a method, the best on top, and above them a bar over each group that does not differ."""
    order = np.argsort(ranking.means, kind="stable")
    ranks = ranking.means[order]
    groups = [ranks[(ranks >= first) & (ranks - first < ranking.difference)] for first in ranks]
    ends = {float(group[-1]): float(group[0]) for group in reversed(groups) if len(group) > 1}
    top = -1.0 - 0.4 * len(ends)
    cells = [table.cells[number] for number in order]
    names = [short_name(cell, among=cells) for cell in cells]
    data: list[dict[str, Any]] = []
    for row, (cell, name, rank) in enumerate(zip(cells, names, ranks.tolist(), strict=True)):
        stem = {"array": [0.0], "arrayminus": [row - top], "symmetric": False, "thickness": 1, "width": 0}
        dot = dot_trace(name, rank, row, styles[cell], f"{name}: {rank:.2f}")
        dot["error_y"] = {"type": "data", "color": styles[cell].colour, **stem}
        data.append(dot | {"showlegend": False, "meta": {"backend": cell.backend}})
    for place, (end, start) in enumerate(ends.items(), 2):
        data.append({**_BAR, "x": rounded([start, end]), "y": [-0.4 * place] * 2, "meta": {"part": "bar"}})
    rows = {"tickvals": list(range(len(names))), "ticktext": [*map(escape_plotly, names)], "ticks": ""}
    rows |= {"range": [len(names) - 0.5, top], "automargin": True, "showgrid": False}
    across = {"title": {"text": escape_plotly(f"average rank in {table.unit}")}}
    return View(table.unit, data, {"xaxis": across, "yaxis": rows})
