"""All problems of a run at once: how often each method is within a factor of the best."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchfw.analysis.convergence import Floats
from benchfw.analysis.profiles import Profile, average_ranks, performance_profile
from benchfw.report.drawing import Figure, Style, View, plain, rounded
from benchfw.report.methods import Method
from benchfw.report.summary import Comparison, Summary

FEWEST_PROBLEMS = 3
"""Of two problems the tables tell everything."""

_HOW_TO_READ = (
    "Higher is better. A line's height at 1 is the share of the {problems} problems on which the method was "
    "the first at the target; at 2, that on which it took at most twice as long as the first; far right, "
    "that which it solved at all (Dolan & Moré 2002, from the medians of the tables; methods that ran on all "
    "problems). {ranks}"
)


def profile_figures(summary: Summary, styles: Mapping[Method, Style]) -> list[Figure]:
    """Return the performance profile of the optimizers, or none where they had too few problems."""
    comparisons = [each for each in summary.comparisons if each.kind == "optimizer" and each.targets]
    if len(comparisons) < FEWEST_PROBLEMS:
        return []
    # one that was skipped somewhere has not failed there
    methods = [
        method
        for method in comparisons[0].methods
        if all(each.row(method, "seconds_to_target") for each in comparisons)
    ]
    if len(methods) < 2:
        return []
    units = {"seconds_to_target": "seconds", "cost_to_target": comparisons[0].cost_unit}
    names = _names(methods)
    views, told = [], ""
    for quantity, unit in units.items():
        costs = _costs(comparisons, methods, quantity)
        if np.isfinite(costs).any():
            told = told or _ranks(costs, [names[method] for method in methods], unit)
            views.append(_view(performance_profile(costs), unit, names, styles))
    if not views:
        return []
    alt = f"Performance profile of {', '.join(names.values())} over {len(comparisons)} problems."
    words = _HOW_TO_READ.format(problems=len(comparisons), ranks=told).strip()
    return [Figure("All problems: performance profile", alt, words, tuple(views), controls=("log x",))]


def _names(methods: Sequence[Method]) -> dict[Method, str]:
    several = len({method.backend for method in methods}) > 1
    return {each: f"{each.label} ({each.backend})" if several else each.label for each in methods}


def _costs(comparisons: Sequence[Comparison], methods: Sequence[Method], quantity: str) -> Floats:
    """Return the medians, (problems, methods); +inf where a method did not arrive."""
    rows = [[each.row(method, quantity) for method in methods] for each in comparisons]
    return np.array([[row.interval.estimate if row else math.inf for row in line] for line in rows])


def _ranks(costs: Floats, names: Sequence[str], unit: str) -> str:
    ranking = average_ranks(costs)
    if ranking is None:
        return ""
    best = sorted(zip(ranking.ranks, names, strict=True))[:5]
    listed = ", ".join(f"{name} {rank:.1f}" for rank, name in best)
    first = "the first five: " if len(names) > len(best) else ""
    return (
        f"Average ranks in {unit}, 1 is best ({first}{listed}): methods less than "
        f"{ranking.critical_difference:.1f} apart cannot be told apart (Nemenyi, 5 %)."
    )


def _view(profile: Profile, unit: str, names: Mapping[Method, str], styles: Mapping[Method, Style]) -> View:
    data: list[dict[str, Any]] = []
    for number, (method, name) in enumerate(names.items()):
        style = styles[method]
        data.append(
            {
                "type": "scatter",
                "mode": "lines+markers" if style.marked else "lines",
                "name": plain(name),
                "x": rounded(profile.grid),
                "y": rounded(profile.share[:, number]),
                "line": {"color": style.colour, "dash": style.dash, "width": 2, "shape": "hv"},
                "marker": {"color": style.colour, "symbol": style.symbol, "maxdisplayed": 8},
                "hovertemplate": "%{fullData.name}<br>%{y:.0%} within %{x:.3g} times the best<extra></extra>",
                "meta": {"backend": method.backend},
            }
        )
    layout = {
        "xaxis": {"title": {"text": plain(f"times the best method's {unit} to the target")}, "type": "log"},
        "yaxis": {"title": {"text": "share of problems"}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "showlegend": True,
    }
    return View(unit, data, layout)
