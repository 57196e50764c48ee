"""One drawing of a report: the one that comes first, or the one that was asked for."""

from __future__ import annotations

from benchfw.errors import BenchfwError, nearest
from benchfw.report.figures import build_figures
from benchfw.report.figures.plot import Figure, View
from benchfw.summary.model import Summary


def find_headline(summary: Summary) -> tuple[Figure, View] | None:
    """Return the figure that comes first, of the target's metric against cost where there is one."""
    drawn = [each for each in build_figures(summary) if each.problem]
    aims = {each.problem: each.targets[0].metric for each in summary.comparisons if each.targets}
    figure = next((each for each in drawn if each.title == f"{each.problem}: {aims.get(each.problem)}"), None)
    figure = figure or next(iter(drawn), None)
    if figure is None:
        return None
    return figure, _view_of(figure, summary, None)


def find_view(summary: Summary, metric: str | None, x: str | None, problem: str | None) -> tuple[str, View]:
    """Return the title and the drawing of the figure of a metric; without one, of the first figure.

    `x` is "cost", "seconds" or "iterations"; without it, cost if all methods have one, else seconds.
    """
    if metric is not None and not isinstance(metric, str):
        raise BenchfwError(f"metric must be the name of a figure, got {type(metric).__name__}")
    if problem is not None and not isinstance(problem, str):
        raise BenchfwError(f"problem must be the label of a problem, got {type(problem).__name__}")
    if x not in (None, "cost", "seconds", "iterations"):
        raise BenchfwError(f"x must be one of cost, seconds and iterations, got {x!r}")
    figures = build_figures(summary)
    problems = {each.problem for each in figures if each.problem}
    if problem is not None and problem not in problems:
        raise BenchfwError(f"no figure of problem '{problem}'{nearest(problem, problems)}")
    figures = [each for each in figures if problem is None or each.problem == problem]
    names = {each.title.rpartition(": ")[2]: each for each in reversed(figures)}
    if metric is None:
        chosen = next((each for each in figures if each.problem), next(iter(figures), None))
    else:
        chosen = names.get(metric)
    if chosen is None:
        asked = "" if metric is None else f" of '{metric}'{nearest(metric, names)}"
        raise BenchfwError(f"the run has no figure{asked}")
    return chosen.title, _view_of(chosen, summary, x)


def _view_of(figure: Figure, summary: Summary, x: str | None) -> View:
    units = {each.problem: each.cost_unit for each in summary.comparisons}
    wanted = units.get(figure.problem) if x in {None, "cost"} else x
    views = {view.label: view for view in figure.views}
    if x is not None and wanted not in views:
        raise BenchfwError(f"x must be one of cost, seconds and iterations, got {x!r}")
    found = views.get(wanted or "", figure.views[0])
    # some method's cost may not be known
    whole = "seconds" not in views or len(found.data) == len(views["seconds"].data)
    return found if x is not None or whole else views["seconds"]
