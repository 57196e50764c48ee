"""All problems of a run at once: how often each method is near the best, and how many targets it has met."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchfw.analysis.convergence import Axis, Curve, Floats, curves_by_metric
from benchfw.analysis.profiles import (
    Profile,
    performance_profile,
    spaced_targets,
    target_hits,
    target_profile,
)
from benchfw.records import Result
from benchfw.report.figures.plot import Figure, Style, View, plain, rounded
from benchfw.summary.model import Method
from benchfw.summary.standings import medians_over_problems
from benchfw.summary.summarize import Comparison, Summary

TARGETS = 50  # for each problem

_PROFILE = (
    "Higher is better. A line's height at 1 is the share of the {problems} problems on which the method was "
    "the first at the target; at 2, that on which it took at most twice as long as the first; far right, "
    "that which it solved at all (Dolan & Moré 2002, from the medians of the tables; methods that ran on all "
    "problems)."
)
_MET = (
    f"Higher is better. Each problem has {TARGETS} targets between the start and the best value that any "
    "method saw. A line is the share of them, over all problems and repetitions, that a method has met by "
    "then (as in COCO, Hansen et al. 2021): progress on the way, where the profile knows one target only."
)


def profile_figures(
    summary: Summary, results: Sequence[Result], styles: Mapping[Method, Style]
) -> list[Figure]:
    """Return performance profile and targets met of the optimizers; none where they had too few problems."""
    tables = medians_over_problems(summary.comparisons)
    if not tables:
        return []
    problems, names = len(tables[0].values), _names(tables[0].methods)
    factor = "%{y:.0%} within %{x:.3g} times the best"
    near = [
        View(
            table.unit,
            _lines(performance_profile(table.values), names, styles, factor),
            _layout(f"times the best method's {table.unit} to the target", "share of problems"),
        )
        for table in tables
    ]
    chosen = [each for each in summary.comparisons if each.kind == "optimizer" and each.targets]
    axes: dict[Axis, str] = {"seconds": "seconds", "cost": chosen[0].cost_unit}
    met = [
        View(
            unit,
            _lines(
                target_profile(_hits(chosen, results, list(names), axis)),
                names,
                styles,
                "%{y:.0%} by %{x:.3g}",
            ),
            _layout(unit, "share of targets met"),
        )
        for axis, unit in axes.items()
    ]
    of = f"of {', '.join(names.values())} over {problems} problems."
    return [
        Figure(
            "All problems: performance profile",
            f"Performance profile {of}",
            _PROFILE.format(problems=problems),
            tuple(near),
            controls=("log x",),
        ),
        Figure(
            "All problems: targets met", f"Share of targets met {of}", _MET, tuple(met), controls=("log x",)
        ),
    ]


def _names(methods: Sequence[Method]) -> dict[Method, str]:
    several = len({method.backend for method in methods}) > 1
    return {each: f"{each.label} ({each.backend})" if several else each.label for each in methods}


def _hits(
    comparisons: Iterable[Comparison], results: Sequence[Result], methods: Sequence[Method], axis: Axis
) -> Floats:
    """Return when each method met each target of each problem in each repetition: (all of these, methods)."""
    blocks = []
    nothing = Curve(*np.zeros((4, 0)))
    for comparison in comparisons:
        curves = _curves(comparison, results, methods)
        targets = spaced_targets([each for runs in curves.values() for each in runs.values()], TARGETS)
        blocks += [
            target_hits([runs.get(method, nothing) for method in methods], targets, axis)
            for runs in curves.values()
        ]
    return np.concatenate(blocks)


def _curves(
    comparison: Comparison, results: Iterable[Result], methods: Sequence[Method]
) -> dict[int, dict[Method, Curve]]:
    """Return the curves of the metric that the target is about, by repetition and method."""
    metric = comparison.targets[0].metric
    found: dict[int, dict[Method, Curve]] = {}
    for result in results:
        trial = result.trial
        method = Method(trial.method.label, trial.backend)
        if trial.kind == "optimizer" and trial.problem.label == comparison.problem and method in methods:
            curve = curves_by_metric(each for each in result.outcome.records if each.metric == metric)
            if metric in curve:
                found.setdefault(trial.repetition, {})[method] = curve[metric]
    return found


def _lines(
    profile: Profile, names: Mapping[Method, str], styles: Mapping[Method, Style], hover: str
) -> list[dict[str, Any]]:
    return [
        {
            "type": "scatter",
            "mode": "lines+markers" if styles[method].marked else "lines",
            "name": plain(name),
            "x": rounded(profile.grid),
            "y": rounded(profile.share[:, number]),
            "line": {"color": styles[method].colour, "dash": styles[method].dash, "width": 2, "shape": "hv"},
            "marker": {"color": styles[method].colour, "symbol": styles[method].symbol, "maxdisplayed": 8},
            "hovertemplate": f"%{{fullData.name}}<br>{hover}<extra></extra>",
            "meta": {"backend": method.backend},
        }
        for number, (method, name) in enumerate(names.items())
    ]


def _layout(across: str, up: str) -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": plain(across)}, "type": "log"},
        "yaxis": {"title": {"text": up}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "showlegend": True,
    }
