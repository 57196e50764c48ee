"""The axis of what is minimized: logarithmic, down to where rounding decides, and up to where runs start."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from benchfw.analysis.bands import Band
from benchfw.analysis.convergence import Axis
from benchfw.report.figures.plot import log_axis, rounded
from benchfw.summary.lines import Line


def find_floor(lines: Iterable[Line]) -> float:
    """Return the value below which gaps are rounding, relative to the largest; 0 where none lies below it.

    What diverges does not count: the largest is ten times the highest start.
    """
    medians = [values for each in lines for _, values in each.medians.values() if len(values)]
    values = np.concatenate(medians) if medians else np.zeros(0)
    positive = values[np.isfinite(values) & (values > 0)]
    starts = [float(each[0]) for each in medians if 0 < each[0] < math.inf]
    if not len(positive) or not starts:
        return 0.0
    floor = float(np.finfo(np.float64).eps) * min(float(positive.max()), 10 * max(starts))
    return floor if positive.min() < floor else 0.0


def raise_to(line: Line, axis: Axis, floor: float) -> Line:
    """Return a line with all values along an axis at a floor or above it."""
    if not floor or axis not in line.medians:
        return line
    band, (grid, values) = line.bands[axis], line.medians[axis]
    raised = {name: np.maximum(getattr(band, name), floor) for name in ("median", "low", "high")}
    return replace(
        line,
        bands={**line.bands, axis: replace(band, **raised)},
        medians={**line.medians, axis: (grid, np.maximum(values, floor))},
        stops=tuple(replace(each, value=max(each.value, floor)) for each in line.stops),
    )


def value_axis(bands: Iterable[Band]) -> dict[str, Any]:
    """Return the axis of the values: logarithmic if they fall far, and not stretched by what diverges."""
    found = [drawn for drawn in bands if len(drawn.grid)]
    medians = np.concatenate([drawn.median for drawn in found]) if found else np.zeros(0)
    finite = medians[np.isfinite(medians) & (medians > 0)]
    if not log_axis(medians):
        return {"type": "linear"}
    starts = [float(drawn.median[0]) for drawn in found if 0 < drawn.median[0] < math.inf]
    top = min(float(finite.max()), 10 * max(starts, default=float(finite.max())))
    ends = [math.log10(float(finite.min())), math.log10(top)]
    margin = 0.05 * (ends[1] - ends[0])
    return {"type": "log", "range": rounded([ends[0] - margin, ends[1] + margin]), "exponentformat": "power"}
