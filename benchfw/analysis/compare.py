"""Two runs of the same thing: by what factor a quantity changed, and whether that is more than noise.

A quantity is positive and better when lower; +inf stands for 'never', and a zero may be one. `Difference` is
what two samples say by themselves; `judge` looks at all of a run's differences together.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

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
)
from benchfw.analysis.significance import benjamini_hochberg, share_probability

Word: TypeAlias = Literal["improved", "regressed", "no change", "within noise"]
WORDS: tuple[Word, ...] = ("regressed", "improved", "within noise", "no change")
Floats: TypeAlias = NDArray[np.float64]

FLOOR = 0.05
"""A change by a smaller share than this is not worth a word, however sure it is."""

FEWEST = 3
"""Two repetitions a run are never enough to tell a change from noise."""

TRIMMED = 0.1
"""The share of log ratios that the test leaves out at either end."""

RUN_SPREAD = 0.02
"""The standard deviation of the logarithm of what all times of a run share: where the system has placed its
process in memory, say. Nine runs of three methods on one machine had 1.3 to 2.3 %."""

TINY = 1e-14  # below it a p-value is not told from 0
_FEW = 5  # below this the order statistics say nothing
_MANY = 100  # from so many values on the rank sum is as good as normal


@dataclass(frozen=True)
class Difference:
    """The ratio after / before with its interval, and the p-value of 'the ratio is one'.

    `exact` says that ranks or counts gave the p-value, which decides by itself: where some run never arrives,
    the median may have no interval at all however sure the change is.
    """

    ratio: Interval
    probability: float
    exact: bool = False


@dataclass(frozen=True)
class Change:
    """A difference, its p-value adjusted for all that were judged with it, and the word for it."""

    ratio: Interval
    probability: float
    adjusted: float
    word: Word


def paired_difference(before: Values, after: Values, level: float = LEVEL) -> Difference:
    """Return the median of the paired ratios: position i of both was measured on the same data.

    The interval lies between order statistics (`median_interval`). The p-value is that of Student's test
    of the log ratios with the tenth at either end left out (Tukey & McLaughlin 1963): against outliers nearly
    as safe as one of their median, and far more powerful. Where some ratio is zero or infinite: that of the
    exact rank-sum test (Mann & Whitney 1947), which pairing can only make conservative.
    """
    above, below = np.asarray(after, dtype=np.float64), np.asarray(before, dtype=np.float64)
    if above.shape != below.shape:
        raise ValueError(f"paired values differ in number: {len(below)} and {len(above)}")
    known = np.isfinite(above) | np.isfinite(below)  # of a pair that never arrives nothing is known
    logs = _log_ratio(above[known], below[known])
    ratio = median_interval(np.exp(logs), level)
    if np.all(np.isfinite(logs)):
        middle, error, freedom = _trimmed_mean(logs)
        return Difference(ratio, _two_sided(abs(middle), error, freedom))
    if len(logs) < _FEW:
        ratio = Interval(ratio.estimate, 0.0, math.inf, ratio.count)
    return _ranked_difference(ratio, above, below)


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
    (old, old_error, old_freedom), (new, new_error, new_freedom) = (
        _trimmed_mean(np.log(values)) for values in samples
    )
    freedom = _welch([old_error, new_error], [old_freedom, new_freedom])
    return Difference(ratio, _two_sided(abs(new - old), math.hypot(old_error, new_error), freedom))


def share_difference(before: tuple[int, int], after: tuple[int, int]) -> Difference:
    """Return the ratio of two shares of runs, each as (so many, of how many), by Fisher's exact test."""
    (mine, runs), (theirs, their_runs) = after, before
    share, other = mine / runs, theirs / their_runs
    ratio = share / other if other else math.inf if share else 1.0
    found = float(share_probability(mine, runs, theirs, their_runs))
    return Difference(Interval(ratio, 0.0, math.inf, min(runs, their_runs)), found, exact=True)


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
    return Difference(ratio, probability, exact=any(each.exact for each in (found, least, most)))


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
    return Difference(replace(ratio, low=low, high=high), probability)


def difference_of_intervals(before: Interval, after: Interval) -> Difference:
    """Return the ratio of two quantities that one long trial each knows with its own 95 % interval."""
    ratio = independent_ratio(after, before)
    if not (ratio.bounded and ratio.low > 0):
        return Difference(ratio, 1.0)
    error = math.log(ratio.high / ratio.low) / 2 / normal_quantile(LEVEL)
    size = abs(math.log(ratio.estimate))
    return Difference(ratio, normal_probability(size / error) if error else float(size == 0))


def judge(differences: Sequence[Difference], floor: float = FLOOR) -> list[Change]:
    """Return the word for each difference, with Benjamini & Hochberg's correction over all of them.

    Those that are exactly 1 throughout, such as a deterministic cost, are not tested and do not count.
    One whose estimate is within the floor, whose interval holds 1 or that has too few runs is never claimed,
    so its p-value counts as 1: else many small ones, however sure, would let the others pass for surer than
    they are. So a p-value of at most 5 % and the words regressed or improved always come together.
    regressed or improved: the adjusted p-value is at most 5 %, and the estimate is above 1 + floor, or below
    1 / (1 + floor). no change: the whole interval is between those two. within noise: neither can be said.
    """
    probabilities = np.array(
        [each.probability if _claimable(each, floor) else 1.0 for each in differences], dtype=np.float64
    )
    tested = np.array([not _equal(each.ratio) for each in differences], dtype=np.bool_)
    adjusted = np.ones_like(probabilities)
    adjusted[tested] = benjamini_hochberg(probabilities[tested])
    return [
        Change(each.ratio, float(own), float(together), _word(each.ratio, float(together), floor))
        for each, own, together in zip(differences, probabilities, adjusted, strict=True)
    ]


def _equal(ratio: Interval) -> bool:
    return ratio.low == ratio.estimate == ratio.high == 1


def _claimable(found: Difference, floor: float) -> bool:
    """Whether a p-value, if it is small enough, makes this a change."""
    ratio, most = found.ratio, 1 + floor
    # one long trial with an interval of its own counts; two or a bare one do not
    enough = ratio.count >= FEWEST or (ratio.count == 1 and ratio.bounded)
    if not enough or math.isnan(found.probability):
        return False
    if ratio.estimate > most:
        return found.exact or ratio.low > 1
    return ratio.estimate < 1 / most and (found.exact or ratio.high < 1)


def _word(ratio: Interval, adjusted: float, floor: float) -> Word:
    if adjusted <= 1 - LEVEL:
        return "regressed" if ratio.estimate > 1 else "improved"
    return "no change" if 1 / (1 + floor) <= ratio.low and ratio.high <= 1 + floor else "within noise"


def _log_ratio(above: Floats, below: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(above) - np.log(below)
    return np.where(np.isnan(logs), 0.0, logs)  # 0/0: both were there at the start


def _trimmed_mean(logs: Floats) -> tuple[float, float, int]:
    """Return mean, standard error and degrees of freedom with the tenth at either end left out."""
    count = len(logs)
    if count < 2:
        return float(np.sum(logs)), math.inf, 1
    cut = int(TRIMMED * count)
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
    return Difference(ratio, _rank_sum_probability(np.concatenate(doubled), len(above), excess), exact=True)


def _rank_sum_probability(doubled: NDArray[np.int64], some: int, excess: float) -> float:
    """Return the chance that the doubled ranks of some of all values are as far from their mean.

    Exact, with ties (Lehmann 1975); of many values normal, corrected for ties and continuity.
    """
    count = len(doubled)
    if count >= _MANY:
        spread = float(np.std(doubled)) * math.sqrt(some * (count - some) / (count - 1))
        return normal_probability(max(0.0, abs(excess) - 1) / spread)
    # chances[k, s]: that of the values so far k are chosen, with the sum s, when each is with the same chance
    chances = np.zeros((some + 1, int(np.sum(doubled)) + 1))
    chances[0, 0] = 1.0
    for rank in doubled:
        chances[1:, rank:] += chances[:-1, :-rank]
        chances /= 2
    sums = chances[some]
    far = np.abs(np.arange(len(sums)) - some * (count + 1)) >= abs(excess)
    return float(np.sum(sums[far]) / np.sum(sums))


def _welch(errors: Sequence[float], freedoms: Sequence[int]) -> int:
    total = sum(error**2 for error in errors)
    if not 0 < total < math.inf:  # no noise, or a sample of one
        return 1
    spread = sum(error**4 / freedom for error, freedom in zip(errors, freedoms, strict=True))
    return max(1, math.floor(total**2 / spread))
