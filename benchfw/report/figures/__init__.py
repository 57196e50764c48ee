"""All figures of a run in the order of the page, with one style a method."""

from __future__ import annotations

from dataclasses import replace

from benchfw.records import Cell
from benchfw.report.figures.convergence import convergence_figures, points_a_line
from benchfw.report.figures.critical_difference import rank_figures
from benchfw.report.figures.kernels import share_figures, size_figures
from benchfw.report.figures.plot import Figure, Style, styles_of
from benchfw.report.figures.profiles import ALL_PROBLEMS, profile_figures
from benchfw.report.figures.quantities import estimator_figures, kernel_figures, sweep_figures, target_figures
from benchfw.report.figures.tuning import allowance_figures, sensitivity_figures
from benchfw.report.tuning.problems import tuned_problems
from benchfw.summary.model import Summary


def build_figures(summary: Summary, points: int = 0) -> list[Figure]:
    """Return the figures of all comparisons, in the order of the page.

    A line has at most so many points; without a number, as many as the page has room for.
    """
    styles = method_styles(summary)
    figures: list[Figure] = []
    points = points or points_a_line(summary)
    tuned = {(each.problem, each.kind): each for each in tuned_problems(summary)}
    for comparison in summary.comparisons:
        if comparison.kind == "optimizer":
            found = [*convergence_figures(comparison, styles, points), *target_figures(comparison, styles)]
            found = [*sweep_figures(comparison, styles), *found]
        elif comparison.kind == "estimator":
            found = [*sweep_figures(comparison, styles), *estimator_figures(comparison, styles)]
        else:
            found = size_figures(comparison) if comparison.by_size else kernel_figures(comparison, styles)
        settings = tuned.pop((comparison.problem, comparison.kind), None)
        if settings is not None:
            found = [*found[:1], *allowance_figures(settings, styles), *found[1:]]
            found += sensitivity_figures(settings, styles)
        figures += [replace(figure, problem=comparison.problem) for figure in found]
    figures += [figure for each in tuned.values() for figure in sensitivity_figures(each, styles)]
    every = [*profile_figures(summary, styles), *rank_figures(summary, styles), *share_figures(summary)]
    return [*every, *figures]


def method_styles(summary: Summary) -> dict[Cell, Style]:
    """Return the style of every cell: that of a method is the same on every problem, and on all of them."""
    styles: dict[Cell, Style] = {}
    families = {
        cell: family
        for each in summary.comparisons
        if each.sweep is not None and each.sweep.contested
        for family, members in each.sweep.curves.items()
        for cell in members.values()
    }
    # of methods that are still being tuned, there is no comparison yet
    every = [cell for each in summary.comparisons for cell in each.cells]
    every += [each.cell for each in summary.tuned]
    for kind in {cell.kind for cell in every}:
        cells = [cell for cell in every if cell.kind == kind]
        styles |= styles_of([*cells, *(cell._replace(problem=ALL_PROBLEMS) for cell in cells)], families)
    return styles
