"""What repetitions say about a ratio or a difference: is there any, is it small, an interval at any level."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from benchfw.analysis.intervals import Floats, Interval
from benchfw.analysis.medians import CHECKED_PAIRS, is_typical, sign_depth, sign_probability
from benchfw.analysis.significance import (
    BUDGET,
    FEWEST_PAIRS,
    MARGIN,
    difference_probability,
    equality_probability,
    log_interval,
    share_probability,
)


class Evidence(ABC):
    """What a comparison of a method with its reference rests on; the ratio is method / reference.

    `difference` is the p-value of 'the ratio is 1', `equality` that of 'the ratio is outside the margin'. For
    each a, `difference` <= a just if the interval of level 1 - a leaves out 1, and `equality` <= a only if
    it lies within the margin. Metrics with a sign have a difference instead of a ratio, and 0 instead of 1.
    """

    null = 1.0
    """What two methods that are alike have: a ratio of 1, or a difference of 0."""

    exact = True
    """Whether the test holds for every law, clusters of runs included."""

    @property
    def assumed_normal(self) -> bool:
        """Whether there are too few pairs to see whether a difference holds for other laws, too."""
        return not self.exact and self.count < CHECKED_PAIRS

    @property
    def typical(self) -> bool:
        """Whether a difference is one of the typical run, as far as so many pairs show it."""
        return True

    @property
    @abstractmethod
    def count(self) -> int:
        """Return the number of pairs, or of runs of the method with fewer."""

    @property
    @abstractmethod
    def testable(self) -> bool:
        """Whether so many pairs could ever decide: what could not need not share the budget (Tarone 1990)."""

    @property
    @abstractmethod
    def difference(self) -> float:
        """Return the p-value of 'the ratio is 1'."""

    @property
    def equality(self) -> float:
        """Return the p-value of 'the ratio is outside the margin'; 1 where that cannot be refuted."""
        return 1.0

    @property
    def alike(self) -> bool:
        """Whether the ratio of each pair is within the margin, which claims nothing about other runs."""
        return False

    @abstractmethod
    def interval(self, level: float) -> Interval:
        """Return the ratio with its interval."""

    @property
    def spread(self) -> float:
        """Return the standard deviation of the log ratios; NaN where they have none."""
        return math.nan


@dataclass(frozen=True, eq=False)
class _Pairs(Evidence):
    """Numbers of pairs, each known to lie between `low` and `high`."""

    low: Floats
    high: Floats

    @property
    def count(self) -> int:
        """Return the number of pairs that say something."""
        return len(self.low)


@dataclass(frozen=True, eq=False)
class _Student(_Pairs):
    """Pairs that Student's t judges; it does not hold for clusters of runs."""

    exact = False

    @property
    def typical(self) -> bool:
        """Whether the sign test confirms a difference, or the pairs look normal."""
        return bool(is_typical(self.low, self.high))

    @property
    def testable(self) -> bool:
        """Whether there are three pairs."""
        return self.count >= FEWEST_PAIRS

    @cached_property
    def difference(self) -> float:
        """Return the p-value of 'the mean is 0'."""
        return float(difference_probability(self.low, self.high))


@dataclass(frozen=True, eq=False)
class PairedLogs(_Student):
    """Log ratios of pairs, each between `low` and `high`, `middle` the best guess: Student's t."""

    middle: Floats | None = None

    @cached_property
    def equality(self) -> float:
        """Return the p-value of 'the ratio is outside the margin'."""
        return float(equality_probability(self.low, self.high))

    @property
    def alike(self) -> bool:
        """Whether the ratio of each pair is within the margin."""
        return bool(np.all(self.low >= -math.log(MARGIN)) and np.all(self.high <= math.log(MARGIN)))

    def interval(self, level: float) -> Interval:
        """Return the geometric mean of the ratios; of brackets the middle, or the end that is known."""
        low, high = (float(end) for end in log_interval(self.low, self.high, level))
        if self.middle is not None:
            return Interval(_exp(float(np.mean(self.middle))), _exp(low), _exp(high), self.count)
        start, end = float(np.mean(self.low)), float(np.mean(self.high))
        middle = (start + end) / 2 if math.isfinite(start) and math.isfinite(end) else 0.0
        if math.isfinite(start) != math.isfinite(end):
            middle = start if math.isfinite(start) else end
        return Interval(_exp(middle), _exp(low), _exp(high), self.count)

    @property
    def spread(self) -> float:
        """Return the larger of the two standard deviations."""
        ends = (self.low, self.high)
        if self.count < 2 or not all(np.all(np.isfinite(end)) for end in ends):
            return math.nan
        return max(float(np.std(end, ddof=1)) for end in ends)

    @property
    def width(self) -> float:
        """Return half the mean width of the brackets, which more pairs do not make smaller."""
        return float(np.mean(self.high - self.low)) / 2


@dataclass(frozen=True, eq=False)
class PairedDifferences(_Student):
    """Differences of pairs of numbers that may be negative, method - reference: Student's t.

    They are never called equal: a tenth of a number that may be 0 is not a size.
    """

    null = 0.0

    def interval(self, level: float) -> Interval:
        """Return the mean difference."""
        low, high = (float(end) for end in log_interval(self.low, self.high, level))
        return Interval(float(np.mean(self.low)), low, high, self.count)


@dataclass(frozen=True, eq=False)
class PairedSigns(_Pairs):
    """Log ratios of pairs of which some are known from one side only: the sign test.

    They are never called equal: a run that did not arrive is not nearly equal to one that did. Where runs end
    at 0 (`middle` then has what was seen, infinite ratios included), no factor is known of these.
    """

    middle: Floats | None = None

    @property
    def testable(self) -> bool:
        """Whether there are six pairs: five of one sign have a chance of 1/16."""
        return bool(sign_probability(self.count, self.count) <= BUDGET)

    @cached_property
    def difference(self) -> float:
        """Return the p-value of 'the median ratio is 1'; a pair that may be on either side supports it."""
        return float(sign_probability(max(np.sum(self.low > 0), np.sum(self.high < 0)), self.count))

    def interval(self, level: float) -> Interval:
        """Return the median of the ratios, of unknown ones the end nearer to 1, between order statistics."""
        nearer = np.sort(np.clip(0.0, self.low, self.high) if self.middle is None else self.middle)
        middle = float(nearer[(self.count - 1) // 2]), float(nearer[self.count // 2])
        median = middle[0] if middle[0] == middle[1] else (middle[0] + middle[1]) / 2
        depth = sign_depth(self.count, level)
        low, high = -math.inf, math.inf
        if depth:
            low, high = float(np.sort(self.low)[depth - 1]), float(np.sort(self.high)[self.count - depth])
        return Interval(_exp(median), _exp(low), _exp(high), self.count)


@dataclass(frozen=True)
class Arrivals(Evidence):
    """How many of its runs each of the two brought to the target: Fisher's exact test.

    The ratio is that of the runs that did not arrive, so that lower is better as everywhere. Counts so small
    are never called equal.
    """

    arrived: int
    runs: int
    reference_arrived: int
    reference_runs: int

    @property
    def count(self) -> int:
        """Return the runs of the one with fewer."""
        return min(self.runs, self.reference_runs)

    @property
    def testable(self) -> bool:
        """Whether the most unequal split of as many arrivals would be beyond chance."""
        total = self.arrived + self.reference_arrived
        extremes = [min(self.runs, total), max(0, total - self.reference_runs)]
        found = share_probability(
            extremes, self.runs, [total - each for each in extremes], self.reference_runs
        )
        return bool(np.min(found) <= BUDGET)

    @cached_property
    def difference(self) -> float:
        """Return the p-value of 'both arrive equally often'."""
        return float(share_probability(self.arrived, self.runs, self.reference_arrived, self.reference_runs))

    def interval(self, level: float) -> Interval:
        """Return the ratio of the shares that did not arrive, without ends: only its side of 1 is known."""
        mine, theirs = 1 - self.arrived / self.runs, 1 - self.reference_arrived / self.reference_runs
        ratio = 1.0 if mine == theirs else mine / theirs if theirs else math.inf
        decided = self.difference <= 1 - level
        low, high = (1.0 if decided and ratio > 1 else 0.0), (1.0 if decided and ratio < 1 else math.inf)
        return Interval(ratio, low, high, self.count)


def _exp(value: float) -> float:
    return math.exp(value) if value < 700 else math.inf
