"""Many problems at once: performance profiles, shares of targets met.

Costs are arrays (problems, methods), lower is better; +inf stands for 'never'.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from benchfw.analysis.convergence import Axis
from benchfw.analysis.stacks import Stack

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Profile:
    """One step curve a method: the share of problems, (grid, methods), that are solved at each grid point."""

    grid: Floats
    share: Floats


def performance_profile(costs: ArrayLike, points: int = 200) -> Profile:
    """Return, for each factor from 1 on, the share of problems that a method solves within it of the best.

    Dolan & Moré 2002. A problem that no method solves counts as unsolved for all of them. The grid has every
    factor at which some curve steps, or `points` of them, log-spaced, if there are more.
    """
    given = _table(costs)
    best = np.min(given, axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(given == best, 1.0, given / best)
    ratios[~np.isfinite(given)] = np.inf
    return _steps(ratios, 1.0, points)


def target_profile(hits: ArrayLike, points: int = 200) -> Profile:
    """Return, for each cost, the share of (problem, target) pairs that a method has met by then.

    The runtime distributions of COCO (Hansen et al. 2021), the data profiles of Moré & Wild 2009. `hits` is
    (pairs, methods), as from `target_hits`; repetitions are further pairs.
    """
    given = _table(hits)
    return _steps(given, 0.0, points)


def target_hits(curves: Stack, targets: ArrayLike, axis: Axis) -> Floats:
    """Return when each curve, all on one problem, first met each target: (targets, curves)."""
    wanted = np.asarray(targets, dtype=np.float64)
    found = np.empty((len(wanted), curves.count))
    order = np.argsort(-wanted)
    # how many of the targets, the easiest first, each point meets
    met = np.searchsorted(-wanted[order], -curves.values, side="right")
    some = np.flatnonzero(met)[::-1]  # backwards: of several points the first one stays
    earliest = np.full((len(wanted), curves.count), np.inf)
    earliest[met[some] - 1, curves.owners[some]] = curves.along(axis)[some]
    found[order] = np.minimum.accumulate(earliest[::-1], axis=0)[::-1]
    return found


def spaced_targets(curves: Sequence[Stack], count: int = 50, *, even: bool = False) -> Floats:
    """Return targets for one problem, log-spaced from the lowest start to the best value that any curve saw.

    `even`, or of values that are not all positive: evenly spaced. Empty where no curve got below the start.
    """
    start = best = math.inf
    for each in curves:
        finite = np.isfinite(each.values)
        values = each.values[finite]
        _, firsts = np.unique(each.owners[finite], return_index=True)
        start = min(start, np.min(values[firsts], initial=math.inf))
        best = min(best, np.min(values, initial=math.inf))
    if not best < start:
        return np.zeros(0)
    between = np.linspace if even or best <= 0 else np.geomspace
    spaced: Floats = between(start, best, count + 1)
    spaced[-1] = best  # the last target must not be lost to rounding
    return spaced[1:]


def _table(costs: ArrayLike) -> Floats:
    given = np.array(costs, dtype=np.float64)
    if given.ndim != 2:
        raise ValueError(f"costs are (problems, methods), not of shape {given.shape}")
    given[np.isnan(given)] = np.inf
    return given


def _steps(values: Floats, start: float, points: int) -> Profile:
    """Return the share of rows whose value is at or below each grid point, for each column."""
    finite = np.unique(values[np.isfinite(values)])
    grid = np.union1d([start], finite)
    if len(grid) > points:
        # outward: a thinned grid shows a step late, never early
        wanted = np.geomspace(finite[finite > 0][0], grid[-1], points - 1)
        grid = np.union1d([start], grid[np.searchsorted(grid, wanted * (1 - 1e-12))])
    counts = np.stack(
        [np.searchsorted(column, grid, side="right") for column in np.sort(values, axis=0).T], 1
    )
    return Profile(grid, counts / max(len(values), 1))
