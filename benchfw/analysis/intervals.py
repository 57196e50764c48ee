"""Confidence intervals for a few repetitions: means, medians, ratios to a reference, restarts.

One observation says nothing about its own spread, so its interval is infinitely wide: comparisons such as
`interval.low > 1` then come out right without a special case. No observation gives NaN throughout.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = Sequence[float] | NDArray[Any]
Floats: TypeAlias = NDArray[np.float64]

LEVEL = 0.95
BOOTSTRAP_SEED = 20_240_101
BOOTSTRAP_SAMPLES = 2000
LEAST_OF_MEAN = 1e-3
"""Of positive numbers, what is a smaller part of their mean than this counts as this part of it."""
_MOST_PICKS = 1_000_000  # in memory at a time
FAR = 0.35  # of an interval, between two order statistics; chosen by simulation
FEWEST_PAIRS = 10  # below this a bootstrap over pairs covers less than 0.9


@dataclass(frozen=True)
class Interval:
    """An estimate, the two ends of its confidence interval, and how many observations it rests on."""

    estimate: float
    low: float
    high: float
    count: int

    @property
    def bounded(self) -> bool:
        """Whether both ends are known."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    def scaled(self, factor: float) -> Interval:
        """Return the interval of the quantity times a positive factor."""
        return Interval(self.estimate * factor, self.low * factor, self.high * factor, self.count)

    def negated(self) -> Interval:
        """Return the interval of minus the quantity."""
        return Interval(0.0 - self.estimate, 0.0 - self.high, 0.0 - self.low, self.count)

    def inverted(self) -> Interval:
        """Return the interval of one over a positive quantity: 'times more' turned into 'times less'."""
        return Interval(_inverse(self.estimate), _inverse(self.high), _inverse(self.low), self.count)


@lru_cache(maxsize=512)
def t_quantile(level: float, freedom: int) -> float:
    """Return t with P(|T| <= t) = level for Student's law."""
    from scipy.special import stdtrit  # 0.3 s, which nobody pays before the first interval

    return float(stdtrit(freedom, (1 + level) / 2))


def t_probability(value: float, freedom: int) -> float:
    """Return P(|T| > value) for Student's law: the two-sided p-value of a t statistic."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -abs(value)))


def normal_quantile(level: float) -> float:
    """Return z with P(|Z| <= z) = level for the standard normal law."""
    return NormalDist().inv_cdf((1 + level) / 2)


def normal_probability(value: float) -> float:
    """Return P(|Z| > value) for the standard normal law."""
    return math.erfc(abs(value) / math.sqrt(2))


def mean_interval(values: Values, level: float = LEVEL) -> Interval:
    """Return the mean with Student's t interval (Student 1908)."""
    data = np.asarray(values, dtype=np.float64)
    count = len(data)
    if count == 0:
        return _unknown()
    mean = float(np.mean(data))
    if count == 1:
        return Interval(mean, -math.inf, math.inf, 1)
    half = t_quantile(level, count - 1) * float(np.std(data, ddof=1)) / math.sqrt(count)
    return Interval(mean, mean - half, mean + half, count)


def geometric_interval(values: Values, level: float = LEVEL) -> Interval:
    """Return the geometric mean of positive values with the t interval of their logarithms.

    Geometric means multiply: (variance x seconds) is exactly variance times seconds, and a ratio of two of
    them is the mean of the paired ratios. Where a value is zero or negative: the mean with its t interval.
    """
    data = np.asarray(values, dtype=np.float64)
    if len(data) == 0 or not np.all(data > 0):
        return mean_interval(data, level)
    return _exponential(mean_interval(np.log(data), level))


def lognormal_mean_end(values: Values, level: float = LEVEL) -> float:
    """Return the upper end of the interval of the mean of log-normal numbers, not below Student's.

    That of the mean of the logarithms and that of half their variance, together (Zou, Huo & Taleban 2009).
    The smallest numbers hardly change a mean, and do not show how its largest ones vary: those below a
    thousandth of the mean count as much.
    """
    from scipy.special import chdtri

    data = np.asarray(values, dtype=np.float64)
    if not np.all(np.isfinite(data)):
        return math.inf
    student, mean, count = mean_interval(data, level).high, float(np.mean(data)), len(data)
    if count < 2 or mean <= 0:
        return student
    logs = np.log(np.maximum(data, LEAST_OF_MEAN * mean))
    variance, quantile = float(np.var(logs, ddof=1)), t_quantile(level, count - 1)
    most = (count - 1) / float(chdtri(count - 1, (1 + level) / 2))  # times the variance that was seen
    half = math.hypot(quantile * math.sqrt(variance / count), variance / 2 * (most - 1))
    exponent = float(np.mean(logs)) + variance / 2 + half
    return max(student, math.exp(exponent) if exponent < 700 else math.inf)


def median_interval(values: Values, level: float = LEVEL) -> Interval:
    """Return the median with an interval between order statistics; +inf stands for 'never'.

    From six values on the two nearest pairs of order statistics are interpolated to the level
    (Hettmansperger & Sheather 1986), which needs values that lie densely: where the gap between the two is
    more than FAR of the interval, as between two modes, the outer one is taken, which covers at least the
    level under every law. With five values the range is taken, which covers 93.75 %. With two to four the
    range covers too little, so the t interval is given (of the logarithms of positive values), which holds
    when the law is symmetric (on that scale).
    """
    data = np.sort(np.asarray(values, dtype=np.float64))
    count = len(data)
    if count == 0:
        return _unknown()
    median = (float(data[(count - 1) // 2]) + float(data[count // 2])) / 2
    if count < 5:
        if not np.all(np.isfinite(data)):
            return Interval(median, 0.0 if data[0] >= 0 else -math.inf, math.inf, count)
        around = geometric_interval(data, level)
        return Interval(median, around.low, around.high, count)
    depth, weight = _order_statistics(count, level)
    outer, inner = (data[depth - 1], data[count - depth]), (data[depth], data[count - depth - 1])
    far = FAR * (outer[1] - outer[0]) if np.all(np.isfinite(outer)) else math.inf
    low, high = (_between(*ends, weight, far) for ends in zip(outer, inner, strict=True))
    return Interval(median, low, high, count)


def ratio_interval(values: Values, reference: Values, level: float = LEVEL) -> Interval:
    """Return values / reference, paired: position i of both was measured on the same data.

    All positive: geometric mean of the ratios with the t interval of their logarithms. Otherwise: the ratio
    of the means with a percentile bootstrap over pairs (Efron & Tibshirani 1993, section 13.3; fixed seed);
    with fewer than ten pairs that would cover far less than its level, and nothing is said: [0, inf].
    """
    above = np.asarray(values, dtype=np.float64)
    below = np.asarray(reference, dtype=np.float64)
    if above.shape != below.shape:
        raise ValueError(f"paired values differ in number: {len(above)} and {len(below)}")
    if len(above) == 0:
        return _unknown()
    if np.all(above > 0) and np.all(below > 0):
        return geometric_interval(above / below, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        estimate = float(np.mean(above) / np.mean(below))
        if not math.isfinite(estimate):
            return Interval(math.nan, math.nan, math.nan, len(above))
        if len(above) < FEWEST_PAIRS:
            return Interval(estimate, 0.0, math.inf, len(above))
        rng = np.random.default_rng(BOOTSTRAP_SEED)
        # some samples at a time: the memory does not grow with the number of pairs
        step = max(1, _MOST_PICKS // len(above))
        ratios = np.concatenate(
            [
                np.mean(above[picks], axis=1) / np.mean(below[picks], axis=1)
                for start in range(0, BOOTSTRAP_SAMPLES, step)
                for picks in [rng.integers(0, len(above), (min(step, BOOTSTRAP_SAMPLES - start), len(above)))]
            ]
        )
    ratios = ratios[np.isfinite(ratios)]
    if len(ratios) == 0:
        return Interval(math.nan, math.nan, math.nan, len(above))
    low, high = np.quantile(ratios, [(1 - level) / 2, (1 + level) / 2])
    return Interval(estimate, float(low), float(high), len(above))


def censored_ratio_interval(values: Values, reference: Values, level: float = LEVEL) -> Interval:
    """Return the ratio of paired times of which some are +inf (never); a pair of two such says nothing.

    With no such time: `ratio_interval`. Otherwise the median of the ratios, infinite and zero ones
    included, between order statistics, which needs no value for the unseen times.
    """
    above = np.asarray(values, dtype=np.float64)
    below = np.asarray(reference, dtype=np.float64)
    if np.all(np.isfinite(above)) and np.all(np.isfinite(below)):
        return ratio_interval(above, below, level)
    informative = np.isfinite(above) | np.isfinite(below)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = above[informative] / below[informative]
    ratios = np.where(np.isnan(ratios), 1.0, ratios)  # 0/0: both were there at the start
    middle = median_interval(ratios, level)
    # the range of n values covers their median at 1 - 2^(1-n): below the level nothing is known (five at 95 %
    # are let pass), and a t interval of so few would take the zeros for measured ratios
    enough = len(ratios) >= 5 and 1 - 2.0 ** (1 - len(ratios)) >= min(
        level, 15 / 16 if level <= LEVEL else 1.0
    )
    return middle if enough else Interval(middle.estimate, 0.0, math.inf, len(ratios))


def independent_ratio(value: Interval, reference: Interval, level: float = LEVEL) -> Interval:
    """Return the ratio of two positive quantities from their own 95 % intervals, taken as independent.

    The half widths of the logarithms add as squares (delta method), and scale with the level as a normal's.
    """
    ends = (value.low, value.high, reference.low, reference.high)
    if not all(math.isfinite(end) and end > 0 for end in ends):
        return Interval(_quotient(value.estimate, reference.estimate), 0.0, math.inf, 1)
    half = math.hypot(math.log(value.high / value.low) / 2, math.log(reference.high / reference.low) / 2)
    half *= normal_quantile(level) / normal_quantile(LEVEL)
    ratio = value.estimate / reference.estimate
    return Interval(ratio, ratio * math.exp(-half), ratio * math.exp(half), min(value.count, reference.count))


def expected_running_time(times: Values, reached: Values, level: float = LEVEL) -> Interval:
    """Return all the time spent over the number of successes: the time to a target with restarts.

    `times` say when a run met the target or ended without, `reached` which of the two it was. The ERT of COCO
    (Auger & Hansen 2005; Hansen et al. 2021). Its interval is that of a ratio of two means, on the scale of
    the logarithm with Student's law, which covers far better than a bootstrap of ten runs; with no success at
    all, the least that is compatible with that (Clopper & Pearson 1934). Times that are not finite, which
    only a forged store has, give no interval.
    """
    ends, hits = np.asarray(times, dtype=np.float64), np.asarray(reached, dtype=np.bool_)
    count = len(ends)
    if count == 0 or not np.all(np.isfinite(ends)):
        return _unknown()
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


@lru_cache(maxsize=128)
def _order_statistics(count: int, level: float) -> tuple[int, float]:
    """Return (depth, weight): the interval starts `weight` of the way from the depth-th to the next value."""
    # P(depth-th value < median < depth-th from above) for depth 1, 2, …: so many fair coins on either side;
    # SciPy's binomial distribution would be half a second of imports
    logs = [
        math.lgamma(count + 1) - math.lgamma(heads + 1) - math.lgamma(count - heads + 1)
        for heads in range(count // 2)
    ]
    coverages = 1 - 2 * np.cumsum(np.exp(np.array(logs) - count * math.log(2)))
    wide = max((i for i, coverage in enumerate(coverages) if coverage >= level), default=-1)
    if wide < 0 or wide + 1 >= len(coverages):
        return 1, 0.0
    depth = wide + 1
    share = (coverages[wide] - level) / (coverages[wide] - coverages[wide + 1])
    return depth, (count - depth) * share / (depth + (count - 2 * depth) * share)


def _between(start: float, end: float, weight: float, far: float) -> float:
    """Return the point between two values; the outer one, `start`, if they are far apart, or one infinite."""
    if weight == 0 or start == end or not (math.isfinite(start) and math.isfinite(end)):
        return float(start)
    if abs(end - start) > far:
        return float(start)
    return float(start + weight * (end - start))


def _exponential(interval: Interval) -> Interval:
    with np.errstate(over="ignore"):
        low, high = float(np.exp(interval.low)), float(np.exp(interval.high))
    return Interval(math.exp(interval.estimate), low, high, interval.count)


def _inverse(value: float) -> float:
    return math.inf if value == 0 else 1 / value


def _quotient(value: float, reference: float) -> float:
    return value / reference if reference else math.nan


def _unknown() -> Interval:
    return Interval(math.nan, math.nan, math.nan, 0)
