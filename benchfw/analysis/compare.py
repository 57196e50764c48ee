"""Two runs of the same thing: by what factor a quantity changed, and how likely that is by chance.

A quantity is better when lower; +inf stands for 'never', and a zero may be one. Those that can be negative
have differences instead of ratios. `analysis/judgement.py` looks at all differences of two runs together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import (
    LEVEL,
    Interval,
    Values,
    independent_ratio,
    median_interval,
    normal_probability,
    normal_quantile,
    t_probability,
    t_quantile,
)
from benchfw.analysis.pairing import pair_differences
from benchfw.analysis.significance import equality_probability, rank_sum_probability, share_probability

Floats: TypeAlias = NDArray[np.float64]

TRIMMED = 0.1
"""The share of log ratios that the test leaves out at either end."""

RUN_SPREAD = 0.02
"""The standard deviation of the logarithm of what all times of a run share: where the system has placed its
process in memory, say. Nine runs of three methods on one machine had 1.3 to 2.3 %."""

TINY = 1e-14  # below it a p-value counts as 0
_FEW = 5  # below this the order statistics say nothing


def _never_equal(_margin: float) -> float:
    return 1.0


@dataclass(frozen=True)
class Difference:
    """The ratio after / before with its interval, and the p-value of 'the ratio is one'.

    `exact` says that ranks or counts gave the p-value, which decides by itself: where some run never arrives,
    the median may have no interval at all however sure the change is. `equality` gives the p-value of 'the
    ratio is outside of a margin'; `identical` says that both have the same values, bit by bit. What can be
    negative has the difference after - before in the place of the ratio, and the `size` that a share of it is
    measured by.
    """

    ratio: Interval
    probability: float
    exact: bool = False
    equality: Callable[[float], float] = field(default=_never_equal, compare=False)
    identical: bool = False
    size: float | None = None

    @property
    def null(self) -> float:
        """Return what two that are alike have: a ratio of 1, or a difference of 0."""
        return 1.0 if self.size is None else 0.0


def paired_difference(before: Values, after: Values, level: float = LEVEL) -> Difference:
    """Return the median of the paired ratios: position i of both was measured on the same data.

    The interval lies between order statistics (`median_interval`). The p-value is that of Student's test
    of the log ratios with the tenth at either end left out (Tukey & McLaughlin 1963): against outliers nearly
    as safe as one of their median, and far more powerful. Where some ratio is zero or infinite: that of the
    exact rank-sum test (Mann & Whitney 1947), conservative where data are hard in both runs. Equality is
    asked of all log ratios: the few slow runs that are trimmed off for a change may make two runs unequal.
    """
    above, below = np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64)
    if above.shape != below.shape:
        raise ValueError(f"paired values differ in number: {len(below)} and {len(above)}")
    same = bool(np.array_equal(above, below))
    known = np.isfinite(above) | np.isfinite(below)  # of a pair that never arrives nothing is known
    logs = _log_ratio(above[known], below[known])
    ratio = median_interval(np.exp(logs), level)
    if np.all(np.isfinite(logs)):
        middle, error, freedom = _trimmed_mean(logs)
        return Difference(
            ratio,
            _two_sided(abs(middle), error, freedom),
            equality=lambda margin: float(equality_probability(logs, logs, margin)),
            identical=same,
        )
    if len(logs) < _FEW:
        ratio = Interval(ratio.estimate, 0.0, math.inf, ratio.count)
    return replace(_ranked_difference(ratio, above, below), identical=same)


def independent_difference(before: Values, after: Values, level: float = LEVEL) -> Difference:
    """Return the ratio of the medians of two samples that share nothing.

    The squared half widths of the log medians' intervals add (Bonett & Price 2020, with the intervals of
    `median_interval`). The p-value is Yuen's (1974): trimmed means of the logarithms, with Welch's degrees of
    freedom; where a value is zero or infinite that of the exact rank-sum test.
    """
    samples = [np.asarray(values, dtype=np.float64) for values in (before, after)]
    count = min(map(len, samples))
    below, above = map(median_interval, samples)
    ratio = independent_ratio(above, below, level)
    estimate = math.exp(float(_log_ratio(np.array([above.estimate]), np.array([below.estimate]))[0]))
    ratio = Interval(estimate, ratio.low, ratio.high, count)
    if not all(np.all(np.isfinite(values) & (values > 0)) for values in samples):
        return _ranked_difference(ratio, *samples[::-1])
    logs = [np.log(values) for values in samples]
    middle, error, freedom = _welch(*(_trimmed_mean(each) for each in logs))
    return Difference(
        ratio,
        _two_sided(abs(middle), error, freedom),
        equality=partial(_unpaired_equality, logs[0], logs[1]),
        identical=len({*samples[0], *samples[1]}) == 1,
    )


def signed_difference(before: Values, after: Values, size: float, *, paired: bool) -> Difference:
    """Return the mean difference of numbers that can be negative, by Student's test as in a report.

    Unpaired: Welch's. `size` is what a share of a change is measured by.
    """
    samples = [np.asarray(values, dtype=np.float64) for values in (before, after)]
    same = bool(np.array_equal(samples[0], samples[1])) if paired else len({*samples[0], *samples[1]}) == 1
    if paired:
        found = pair_differences(samples[1], samples[0])
        if found is None:
            raise ValueError("some run has no number")
        return Difference(found.interval(LEVEL), found.difference, identical=same, size=size)
    middle, error, freedom = _welch(*(_trimmed_mean(values, 0.0) for values in samples))
    half = t_quantile(LEVEL, freedom) * error
    interval = Interval(middle, middle - half, middle + half, min(map(len, samples)))
    return Difference(interval, _two_sided(abs(middle), error, freedom), identical=same, size=size)


def share_difference(before: tuple[int, int], after: tuple[int, int]) -> Difference:
    """Return the ratio of two shares of runs, each as (so many, of how many), by Fisher's exact test.

    The two are identical where all runs of both are among them, or none.
    """
    (mine, runs), (theirs, their_runs) = after, before
    share, other = mine / runs, theirs / their_runs
    ratio = share / other if other else math.inf if share else 1.0
    found = float(share_probability(mine, runs, theirs, their_runs))
    same = share == other and share in (0, 1)
    return Difference(
        Interval(ratio, 0.0, math.inf, min(runs, their_runs)), found, exact=True, identical=same
    )


@dataclass(frozen=True)
class Ends:
    """Values, and between which two numbers each of them is known to lie."""

    values: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]


def bracketed_difference(
    differ: Callable[[Values, Values], Difference], before: Ends, after: Ends
) -> Difference:
    """Return a difference of values that are known to lie between two numbers each.

    The interval holds wherever in their brackets they lie, and the p-value is the largest of the two ends'.
    """
    found = differ(before.values, after.values)
    if all(each.low == each.values == each.high for each in (before, after)):
        return found
    least, most = differ(before.high, after.low), differ(before.low, after.high)
    ratio = replace(
        found.ratio,
        low=min(found.ratio.low, least.ratio.low),
        high=max(found.ratio.high, most.ratio.high),
    )
    straddled = least.ratio.estimate <= 1 <= most.ratio.estimate
    probability = 1.0 if straddled else max(found.probability, least.probability, most.probability)
    ends = (found, least, most)
    return Difference(
        ratio,
        probability,
        exact=any(each.exact for each in ends),
        equality=lambda margin: max(each.equality(margin) for each in ends),
        identical=found.identical and before == after,
    )


def allow_for_runs(found: Difference, spread: float = RUN_SPREAD) -> Difference:
    """Return a difference of two runs in time, with what all trials of a run share added to its noise.

    Squared half widths of the logarithms add, and so do the squared standard errors behind the p-value.
    """
    ratio, both = found.ratio, math.sqrt(2) * spread
    if not 0 < ratio.estimate < math.inf:
        return found
    size = abs(math.log(ratio.estimate))
    probability = 1.0
    if found.probability < 1:
        error = size / normal_quantile(1 - max(found.probability, TINY))
        probability = normal_probability(size / math.hypot(error, both))
    more = normal_quantile(LEVEL) * both
    low, high = (
        ratio.estimate * math.exp(side * math.hypot(math.log(end / ratio.estimate), more))
        if 0 < end < math.inf
        else end
        for side, end in ((-1, ratio.low), (1, ratio.high))
    )

    def equality(margin: float) -> float:
        """Return the p-value with that noise: what the estimate lacks to the margin is so many errors."""
        room, alone = math.log(margin) - size, found.equality(margin)
        if room <= 0 or alone >= 1:
            return 1.0
        error = room / normal_quantile(1 - max(alone, TINY))
        return normal_probability(room / math.hypot(error, both))

    return Difference(replace(ratio, low=low, high=high), probability, equality=equality)


def difference_of_intervals(before: Interval, after: Interval) -> Difference:
    """Return the ratio of two quantities that one long trial each knows with its own 95 % interval."""
    ratio = independent_ratio(after, before)
    same = before == after
    if not (ratio.bounded and ratio.low > 0):
        return Difference(ratio, 1.0, identical=same)
    error = math.log(ratio.high / ratio.low) / 2 / normal_quantile(LEVEL)
    size = abs(math.log(ratio.estimate))
    found = normal_probability(size / error) if error else float(size == 0)
    return Difference(ratio, found, identical=same)


def _log_ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(above) - np.log(below)
    return np.where(np.isnan(logs), 0.0, logs)  # 0/0: both were there at the start


def _trimmed_mean(logs: Floats, share: float = TRIMMED) -> tuple[float, float, int]:
    """Return mean, standard error and degrees of freedom with a share at either end left out."""
    count = len(logs)
    if count < 2:
        return float(np.sum(logs)), math.inf, 1
    cut = int(share * count)
    ordered = np.sort(logs)
    clipped = np.clip(logs, ordered[cut], ordered[count - cut - 1])
    error = float(np.std(clipped, ddof=1)) / ((1 - 2 * cut / count) * math.sqrt(count))
    return float(np.mean(ordered[cut : count - cut])), error, count - 2 * cut - 1


def _two_sided(size: float, error: float, freedom: int) -> float:
    if error == 0:  # no noise at all: what differs, differs
        return float(size == 0)
    return t_probability(size / error, freedom)


def _ranked_difference(ratio: Interval, above: Floats, below: Floats) -> Difference:
    """Return a difference of samples with a zero or an infinity: ranks decide, unless they contradict it."""
    ordered = np.sort(np.concatenate([above, below]))
    # twice the mean rank of what is tied, which is a whole number
    doubled = [
        np.searchsorted(ordered, each, "left") + np.searchsorted(ordered, each, "right") + 1
        for each in (above, below)
    ]
    excess = float(np.sum(doubled[0])) - len(above) * (len(ordered) + 1)
    if not excess or (excess > 0) != (ratio.estimate > 1):
        return Difference(ratio, 1.0, exact=True)
    return Difference(ratio, rank_sum_probability(np.concatenate(doubled), len(above), excess), exact=True)


def _welch(before: tuple[float, float, int], after: tuple[float, float, int]) -> tuple[float, float, int]:
    """Return the difference of two means, its standard error, and Welch's degrees of freedom."""
    (old, old_error, old_freedom), (new, new_error, new_freedom) = before, after
    total = old_error**2 + new_error**2
    if not 0 < total < math.inf:  # no noise, or a sample of one
        return new - old, math.sqrt(total), 1
    spread = old_error**4 / old_freedom + new_error**4 / new_freedom
    return new - old, math.sqrt(total), max(1, math.floor(total**2 / spread))


def _unpaired_equality(before: Floats, after: Floats, margin: float) -> float:
    """Return the p-value of 'the ratio is outside of the margin', also with one more outermost value."""
    edge, found = math.log(margin), []
    for side in (1, -1):
        for more in (False, True):
            mine, theirs = side * after, side * before
            if more:
                mine, theirs = np.append(mine, np.max(mine)), np.append(theirs, np.min(theirs))
            middle, error, freedom = _welch(_trimmed_mean(theirs, 0.0), _trimmed_mean(mine, 0.0))
            room = edge - middle
            found.append(_two_sided(room, error, freedom) if room > 0 else 1.0)
    return max(found)
