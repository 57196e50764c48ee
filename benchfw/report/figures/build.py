"""All figures of a run in the order of the page, with one style a method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchfw.records import Result
from benchfw.report.figures.convergence import convergence_figures
from benchfw.report.figures.dots import estimator_figures, kernel_figures, target_figures
from benchfw.report.figures.plot import Figure, Style, styles_of
from benchfw.report.figures.profiles import profile_figures
from benchfw.report.figures.sweeps import sweep_figures
from benchfw.summary.model import Method
from benchfw.summary.summarize import Comparison, Summary


def build_figures(summary: Summary, results: Sequence[Result]) -> list[Figure]:
    """Return the figures of all comparisons, in the order of the page."""
    styles = method_styles(summary)
    figures: list[Figure] = []
    for comparison in summary.comparisons:
        chosen = styles[comparison.kind]
        if comparison.kind == "optimizer":
            mine = [result for result in results if _belongs(result, comparison)]
            found = [*convergence_figures(comparison, mine, chosen), *target_figures(comparison, chosen)]
        elif comparison.kind == "estimator":
            found = [*sweep_figures(comparison), *estimator_figures(comparison, chosen)]
        else:
            found = kernel_figures(comparison, chosen)
        figures += [replace(figure, problem=comparison.problem) for figure in found]
    return [*profile_figures(summary, results, styles.get("optimizer", {})), *figures]


def method_styles(summary: Summary) -> dict[str, dict[Method, Style]]:
    """Return the style of every method, by kind: the same on every problem of the run."""
    kinds = {comparison.kind for comparison in summary.comparisons}
    return {
        kind: styles_of(
            method
            for comparison in summary.comparisons
            if comparison.kind == kind
            for method in comparison.methods
        )
        for kind in kinds
    }


def _belongs(result: Result, comparison: Comparison) -> bool:
    return result.trial.kind == comparison.kind and result.trial.problem.label == comparison.problem
