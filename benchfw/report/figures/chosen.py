"""One drawing of a report: the one that comes first, or the one that was asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchfw.errors import BenchfwError, nearest
from benchfw.report.figures import build_figures, method_styles
from benchfw.report.figures.plot import Figure, View
from benchfw.report.figures.quantities import sweep_figures
from benchfw.report.figures.ratios import ratio_figure
from benchfw.report.verdicts.overall import comparisons_of
from benchfw.summary.model import Comparison, Summary


def headline_first(summary: Summary, figures: Sequence[Figure]) -> list[Figure]:
    """Return the figures with the one that shows what was found before all others."""
    first = headline_figure(summary, figures)
    if first is None:
        return list(figures)
    return [first, *(each for each in figures if each.title != first.title)]


def headline_figure(summary: Summary, figures: Sequence[Figure]) -> Figure | None:
    """Return the figure that shows what was found, by a fixed rule.

    Over several problems: a line a family of a sweep with a view a problem, or the ratios of all methods on
    all problems. On one problem: the sweep, the target's metric against cost, or variance against cost.
    """
    styles = method_styles(summary)
    for kind in dict.fromkeys(each.kind for each in summary.measured if each.kind != "kernel"):
        several = comparisons_of(summary, kind)
        swept = [each for each in several if each.sweep is not None and each.sweep.contested]
        drawn = [figure for each in swept for figure in sweep_figures(each, styles)]
        if len(drawn) == len(several) > 1:
            return _one_view_each(drawn, swept)
        apart = [each.problem for each in summary.measured if each.kind == kind and each not in several]
        ratios = ratio_figure(several, styles, apart) if len(several) > 1 and not summary.imported else None
        if ratios is not None:
            return ratios
    aims = {f"{each.problem}: {each.targets[0].metric}" for each in summary.comparisons if each.targets}
    named = [each for each in figures if each.problem]
    first = next(iter(named), next(iter(figures), None))
    if first is not None and "against cost" in {view.label for view in first.views}:
        return replace(first, views=tuple(sorted(first.views, key=lambda view: view.label != "against cost")))
    swept_first = first is not None and ": against " in first.title
    return first if swept_first else next((each for each in named if each.title in aims), first)


def _one_view_each(figures: Sequence[Figure], comparisons: Sequence[Comparison]) -> Figure:
    """Return the first views of several figures as those of one, named by their problems."""
    views = tuple(
        replace(figure.views[0], label=each.problem)
        for figure, each in zip(figures, comparisons, strict=True)
    )
    what = figures[0].views[0].label
    title = f"{what[0].upper()}{what[1:]} {figures[0].title.partition(': ')[2]}"
    return replace(figures[0], title=title, views=views, alt=f"{title}, a view a problem. {figures[0].alt}")


def find_headline(summary: Summary, points: int = 0) -> tuple[Figure, View] | None:
    """Return the figure that comes first, of the target's metric against cost where there is one.

    A line has at most so many points, if that is not 0.
    """
    drawn = [each for each in build_figures(summary, points) if each.problem]
    aims = {each.problem: each.targets[0].metric for each in summary.comparisons if each.targets}
    figure = next((each for each in drawn if each.title == f"{each.problem}: {aims.get(each.problem)}"), None)
    figure = figure or next(iter(drawn), None)
    if figure is None:
        return None
    return figure, _view_of(figure, None)


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
    return chosen.title, _view_of(chosen, x)


def _view_of(figure: Figure, x: str | None) -> View:
    views = {view.axis: view for view in figure.views}
    if x is not None and x not in views:
        raise BenchfwError(f"the figure '{figure.title}' is not drawn against {x}; leave out x")
    found = views.get(x or "cost", figure.views[0])
    # some method's cost may not be known
    whole = "seconds" not in views or len(found.data) == len(views["seconds"].data)
    return found if x is not None or whole else views["seconds"]
