"""All problems of a run at once: how often each method is near the best, and how many targets it has met."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from benchfw.analysis.convergence import Axis, Floats
from benchfw.analysis.profiles import Profile, performance_profile, target_profile
from benchfw.records import Cell
from benchfw.report.figures.plot import Figure, Style, View, line_trace
from benchfw.report.text import escape_plotly
from benchfw.summary.lines import TARGETS
from benchfw.summary.model import Comparison, Row, Summary, short_name

ALL_PROBLEMS = "all problems"
"""What the problem of a cell is called that stands for a method on every problem of a run."""

FEWEST_FOR_PROFILE = 3
"""Of two the tables say everything."""

_PROFILE = (
    "Higher is better. A line's height at 1 is the share of the {problems} problems on which the method was "
    "the first at the target; at 2, that on which it took at most twice as long as the first; far right, "
    "that which it solved at all (Dolan & Moré 2002, from the values of the tables; methods that ran on all "
    "problems)."
)
_MET = (
    f"Higher is better. Each problem has {TARGETS} targets between the start and the best value that any "
    "method saw. A line is the share of them, over all problems and repetitions, that a method has met by "
    "then (as in COCO, Hansen et al. 2021): progress on the way, where the profile knows one target only."
)


class ToTarget(NamedTuple):
    """Time or cost to the target as the tables have it, (problems, methods); +inf where one never arrives."""

    unit: str
    cells: tuple[Cell, ...]
    values: Floats


def values_to_target(summary: Summary) -> list[ToTarget]:
    """Return time and cost of the optimizers on all problems; nothing where there are too few.

    A method that was skipped somewhere has not failed there: only those that ran on all problems count.
    """
    chosen = [each for each in summary.comparisons if each.kind == "optimizer" and each.targets]
    if summary.imported or len(chosen) < FEWEST_FOR_PROFILE:
        return []

    def rows(cell: Cell, quantity: str) -> list[Row | None]:
        return [each.row(cell._replace(problem=each.problem), quantity) for each in chosen]

    cells = [cell for cell in chosen[0].cells if all(rows(cell, "seconds_to_target"))]
    everywhere = tuple(cell._replace(problem=ALL_PROBLEMS) for cell in cells)
    tables = []
    for quantity, unit in (("seconds_to_target", "time"), ("cost_to_target", chosen[0].cost_unit)):
        columns = [
            [row.interval.estimate if row else math.inf for row in rows(cell, quantity)] for cell in cells
        ]
        if len(cells) > 1 and np.isfinite(columns).any():
            tables.append(ToTarget(unit, everywhere, np.array(columns).T))
    return tables


def profile_figures(summary: Summary, styles: Mapping[Cell, Style]) -> list[Figure]:
    """Return performance profile and targets met of the optimizers; none where they had too few problems."""
    tables = values_to_target(summary)
    if not tables:
        return []
    problems, cells = len(tables[0].values), tables[0].cells
    names = {cell: short_name(cell, among=cells) for cell in cells}
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
    size, unit = chosen[0].unit("seconds_to_target")
    axes: dict[Axis, tuple[str, str, float]] = {
        "seconds": ("time", f"time, {unit}", size),
        "cost": (chosen[0].cost_unit, chosen[0].cost_unit, 1.0),
    }
    met = [
        View(
            name,
            _lines(
                target_profile(_hits(chosen, cells, axis) / size),
                names,
                styles,
                "%{y:.0%} by %{x:.3g}",
            ),
            _layout(title, "share of targets met"),
            axis,
        )
        for axis, (name, title, size) in axes.items()
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


def _hits(comparisons: Iterable[Comparison], cells: Sequence[Cell], axis: Axis) -> Floats:
    """Return when each method met each target of each problem in each repetition: (all of these, methods)."""
    blocks = []
    for comparison in comparisons:
        columns = [comparison.cells.index(cell._replace(problem=comparison.problem)) for cell in cells]
        blocks.append(comparison.hits[axis][:, columns])
    return np.concatenate(blocks)


def _lines(
    profile: Profile, names: Mapping[Cell, str], styles: Mapping[Cell, Style], hover: str
) -> list[dict[str, Any]]:
    return [
        line_trace(name, profile.grid, profile.share[:, number], styles[cell], hover, shape="hv")
        | {"meta": {"backend": cell.backend}}
        for number, (cell, name) in enumerate(names.items())
    ]


def _layout(across: str, up: str) -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": escape_plotly(across)}, "type": "log"},
        "yaxis": {"title": {"text": up}, "range": [-0.02, 1.02], "tickformat": ".0%"},
        "showlegend": True,
    }
