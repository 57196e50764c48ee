"""How fast the error of each method falls, beside what its theorem says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from benchfw.analysis.rates import likelier_law, rate_interval
from benchfw.records import Cell
from benchfw.summary.model import History, Rate

FALLS = 100.0
"""A metric that no theorem is about is taken for an error if some run brings it down so many times."""


def find_rates(groups: Mapping[Cell, Sequence[History]], metrics: Sequence[str]) -> tuple[Rate, ...]:
    """Return the rate of each method: of the metric that its theorem is about, or else of the first error.

    The law is the theorem's where there is one, since a slope has a meaning under its own law only.
    """
    finished = {cell: [each for each in group if each.finished] for cell, group in groups.items()}
    bounded = {
        cell: next((name for each in group for name in each.bounds), "") for cell, group in finished.items()
    }
    first = next(filter(None, bounded.values()), "") or _falling(finished, metrics)
    found = (_rate(cell, bounded[cell] or first, group) for cell, group in finished.items())
    return tuple(rate for rate in found if rate is not None)


def _rate(cell: Cell, metric: str, trials: Sequence[History]) -> Rate | None:
    measured = [each.curves[metric] for each in trials if metric in each.curves]
    bounds = [each.bounds[metric] for each in trials if metric in each.bounds]
    law = likelier_law(bounds) or likelier_law(measured)
    if law is None:
        return None
    slope = rate_interval(measured, law)
    theorem = rate_interval(bounds, law) if bounds else None
    return None if math.isnan(slope.estimate) else Rate(cell, metric, law, slope, theorem)


def _falling(groups: Mapping[Cell, Sequence[History]], metrics: Sequence[str]) -> str:
    """Return the first metric if it is positive and some run brings it down far, else nothing."""
    metric = metrics[0]
    curves = [
        each.curves[metric].values for group in groups.values() for each in group if metric in each.curves
    ]
    falls = (float(values[0]) >= FALLS * float(values[-1]) > 0 for values in curves)
    positive = all(bool(np.all(values[np.isfinite(values)] >= 0)) for values in curves)
    return metric if positive and any(falls) else ""
