"""Times to a target that some runs never met: medians and expected running times.

Two arrays of one length say how it went: `times`, when a run met the target or ended without, and `reached`,
which of the two it was.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import LEVEL, Floats, Interval, Values, normal_quantile, t_quantile

Flags: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Survival:
    """P(not there yet) after each time at which some run got there: three arrays of one length.

    `hazard` sums Greenwood's (1926) terms: the variance of log(share) after each of the times.
    """

    times: Floats
    share: Floats
    hazard: Floats


def survival(times: Values, reached: Values) -> Survival:
    """Return the product-limit estimate (Kaplan & Meier 1958): a run that ended counts as long as it ran."""
    ends, hits = _check_times(times, reached)
    events, counts = np.unique(ends[hits], return_counts=True)
    at_risk = len(ends) - np.searchsorted(np.sort(ends), events).astype(np.float64)
    with np.errstate(divide="ignore"):
        hazard = np.cumsum(counts / (at_risk * (at_risk - counts)))
    left: Floats = 1 - counts / at_risk
    return Survival(events, np.multiply.accumulate(left), hazard)


def median_time(times: Values, reached: Values, level: float = LEVEL) -> Interval:
    """Return the median of the product-limit estimate; +inf where half of the runs never got there.

    Its interval holds the times at which the share's own interval, on the scale log(-log), contains one half
    (Brookmeyer & Crowley 1982; Klein & Moeschberger 2003, section 4.5).
    """
    found, count = survival(times, reached), len(np.asarray(times))
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    half = normal_quantile(level) * np.sqrt(found.hazard)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(found.share)
        low, high = (np.exp(logs * np.exp(side * half / np.abs(logs))) for side in (1, -1))
    low, high = (np.where(found.share > 0, end, 0.0) for end in (low, high))
    middle = (_first(found.times, found.share < 0.5 + 1e-9), _first(found.times, found.share < 0.5 - 1e-9))
    return Interval(
        (middle[0] + middle[1]) / 2, _first(found.times, low <= 0.5), _first(found.times, high <= 0.5), count
    )


def expected_running_time(times: Values, reached: Values, level: float = LEVEL) -> Interval:
    """Return all the time spent over the number of successes: the time to a target with restarts.

    The ERT of COCO (Auger & Hansen 2005; Hansen et al. 2021). Its interval is that of a ratio of two means,
    on the scale of the logarithm with Student's law, which covers far better than a bootstrap of ten runs;
    with no success at all, the least that is compatible with that (Clopper & Pearson 1934).
    """
    ends, hits = _check_times(times, reached)
    count = len(ends)
    if count == 0:
        return Interval(math.nan, math.nan, math.nan, 0)
    spent, successes = float(np.mean(ends)), float(np.mean(hits))
    if successes == 0:
        return Interval(math.inf, spent / (1 - ((1 - level) / 2) ** (1 / count)), math.inf, count)
    estimate = spent / successes
    if spent == 0:
        return Interval(0.0, 0.0, 0.0, count)
    if count == 1:
        return Interval(estimate, 0.0, math.inf, 1)
    variance = float(np.var(ends / spent - hits / successes, ddof=1))
    # as if there had been one more of either kind (Agresti & Coull 1998): ten successes are not certainty
    shrunk = (successes * count + 1) / (count + 2)
    variance += max(1 / shrunk - 1 / successes, 0.0)
    factor = math.exp(min(t_quantile(level, count - 1) * math.sqrt(variance / count), 700.0))
    return Interval(estimate, estimate / factor, estimate * factor, count)


def _check_times(times: Values, reached: Values) -> tuple[Floats, Flags]:
    ends, hits = np.asarray(times, dtype=np.float64), np.asarray(reached, dtype=np.bool_)
    if ends.shape != hits.shape:
        raise ValueError(f"{len(ends)} times and {len(hits)} flags; there must be one each")
    if not np.all(np.isfinite(ends) & (ends >= 0)):
        raise ValueError("a run that never got there is given the time at which it ended, not infinity")
    return ends, hits


def _first(times: Floats, met: Flags) -> float:
    """Return the first time at which a condition is met; +inf if it never is."""
    places = np.flatnonzero(met)
    return float(times[places[0]]) if len(places) else math.inf
