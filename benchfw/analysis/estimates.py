"""Numbers that claims are about, each with an interval at any level, and what would make it narrow enough."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchfw.analysis.intervals import Floats, Interval, lognormal_mean_end, t_quantile
from benchfw.analysis.medians import ABNORMAL, normality_probability, sign_depth
from benchfw.analysis.power import (
    CHANCE,
    MOST_REPETITIONS,
    largest_spread,
    repetitions_needed,
    too_few_to_plan,
)
from benchfw.analysis.significance import FEWEST_PAIRS, moments
from benchfw.claims import Range

FEWEST_CHECKED = 5
"""Fewer runs are taken as normal: not even all of them on one side would tell a median at 5 %."""

SKEWED = 1.04
"""Runs with a skewness of so many of its standard errors, which 15 % of normal samples have, are not normal
enough where it flatters the claim."""


ANY, NOT_NEGATIVE, SHARES = Range(), Range(low=0.0), Range(0.0, 1.0)


class Estimate(ABC):
    """A number that a claim is about, with an interval at any level, from so many runs."""

    @property
    def possible(self) -> Range:
        """Return between what ends every such number lies."""
        return ANY

    @property
    @abstractmethod
    def count(self) -> int:
        """Return the number of runs."""

    @property
    def testable(self) -> bool:
        """Whether so many runs could ever decide: what could not need not share the budget (Tarone 1990)."""
        return self.count >= FEWEST_PAIRS

    @property
    def refutes(self) -> bool:
        """Whether a single run disproves what is claimed of every run."""
        return False

    @abstractmethod
    def interval(self, level: float) -> Interval:
        """Return the number with its interval."""

    def plan(self, inside: Range, level: float) -> int | None:
        """Return how many runs would decide with a chance of 90 %, if the number is what it seems.

        The interval is taken as Student's, which it is for most. None where that is not known.
        """
        found = self.interval(level)
        ends = _near_ends(inside, found.estimate)
        distances = [abs(edge - found.estimate) for edge in ends]
        halves = [
            found.high - found.estimate if edge > found.estimate else found.estimate - found.low
            for edge in ends
        ]
        if self.count < 2 or not all(map(math.isfinite, halves)):
            return None
        scale = math.sqrt(self.count) / t_quantile(level, self.count - 1)
        return _plan_runs(distances, [half * scale for half in halves], self.count, level)


@dataclass(frozen=True, eq=False)
class Runs(Estimate):
    """One number a run, each known to lie between `low` and `high`, `middle` the best guess.

    They are on the scale on which Student's t judges them: logarithms where `logs`. Where the runs do not
    look normal, or are skewed towards the claim, the interval reaches at least as far as that of the median,
    which holds for every law: what is claimed must be true of the typical run, too. An infinite end is not
    known, and leaves the median.
    """

    low: Floats
    high: Floats
    middle: Floats
    logs: bool = True
    repetitions: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return len(self.low)

    @property
    def possible(self) -> Range:
        """Return between what ends every such number lies."""
        return NOT_NEGATIVE if self.logs else ANY

    @property
    def whole(self) -> bool:
        """Whether all runs are known from both sides."""
        return bool(np.all(np.isfinite(self.low)) and np.all(np.isfinite(self.high)))

    @property
    def as_measured(self) -> Runs:
        """Return the runs with their best guesses alone, as if these were known exactly."""
        return replace(self, low=self.middle, high=self.middle)

    def interval(self, level: float) -> Interval:
        """Return the mean; the geometric mean of logarithms; the median where some are not known."""
        estimate = float(np.mean(self.middle)) if self.whole else _median(self.middle)
        start, end = self._lower_end(self.low, level, level), -self._lower_end(-self.high, level, level)
        found = Interval(estimate, min(start, estimate), max(end, estimate), self.count)
        if not self.logs:
            return found
        return Interval(_exp(found.estimate), _exp(found.low), _exp(found.high), self.count)

    def lowest(self, level: float, check: float) -> float:
        """Return the lower end of one of several intervals of the same runs, each at a share of the error.

        What clusters of runs and skewness may do, they do to all of them at once: that is checked at the
        level `check` of all together.
        """
        found = self._lower_end(self.low, level, check)
        return _exp(found) if self.logs else found

    def _lower_end(self, values: Floats, level: float, check: float) -> float:
        if self.count < fewest_runs(check):
            return -math.inf
        if not self.whole:
            return _median_end(values, level)
        mean, error, freedom = moments(values)
        student = float(mean) - t_quantile(level, freedom) * float(error)
        return student if error == 0 or _looks_normal(values) else min(student, _median_end(values, check))

    def plan(self, inside: Range, level: float) -> int | None:
        """Return how many runs would decide with a chance of 90 %, if their mean is what it seems."""
        if self.count < 2 or not self.whole:
            return None
        mean = float(np.mean(self.middle))
        inside = Range(_log(inside.low), _log(inside.high)) if self.logs else inside
        width = float(np.mean(self.high - self.low)) / 2
        distances = [abs(edge - mean) - width for edge in _near_ends(inside, mean)]
        spread = max(float(np.std(each, ddof=1)) for each in (self.low, self.high))
        needed = _plan_runs(distances, [spread] * len(distances), self.count, level)
        return None if needed is None else max(needed, fewest_runs(level))


@dataclass(frozen=True, eq=False)
class Mean(Runs):
    """Positive numbers, one a run, of which the mean over all runs is meant, and not the typical run.

    A few large ones carry a mean, and Student's upper end of skewed runs is too low: the upper end is at
    least that of log-normal runs.
    """

    @property
    def infinite(self) -> bool:
        """Whether some run is infinite, and so is the mean of all."""
        return bool(np.any(np.isposinf(self.low)))

    def interval(self, level: float) -> Interval:
        """Return the mean."""
        if self.infinite:
            return Interval(math.inf, math.inf, math.inf, self.count)
        found = super().interval(level)
        return replace(found, high=max(found.high, lognormal_mean_end(self.high, level)))

    def lowest(self, level: float, check: float) -> float:
        """Return the lower end of one of several intervals of the same runs."""
        return math.inf if self.infinite else super().lowest(level, check)


@dataclass(frozen=True, eq=False)
class Share(Estimate):
    """The share of runs that do something, `some` of `runs`: Clopper & Pearson's (1934) interval.

    `every` says that all of them should, or, where few should, none. Of `unsure` more it is not known.
    """

    some: int
    runs: int
    every: bool = False
    wanted: bool = True
    unsure: int = 0

    @property
    def possible(self) -> Range:
        """Return between what ends every such number lies."""
        return SHARES

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return self.runs

    @property
    def testable(self) -> bool:
        """Whether there is a run: one may be enough to disprove something."""
        return self.runs > 0

    @property
    def refutes(self) -> bool:
        """Whether some run does otherwise than what is claimed of every run."""
        return self.every and (self.some + self.unsure < self.runs if self.wanted else self.some > 0)

    def interval(self, level: float) -> Interval:
        """Return the share."""
        from scipy.special import betaincinv

        tail, some, most = (1 - level) / 2, self.some, self.some + self.unsure
        low = float(betaincinv(some, self.runs - some + 1, tail)) if some else 0.0
        high = float(betaincinv(most + 1, self.runs - most, 1 - tail)) if most < self.runs else 1.0
        return Interval(some / self.runs, low, high, self.runs)

    def plan(self, inside: Range, level: float) -> int | None:
        """Return how many runs would decide with a chance of 90 %, if the share is what it seems."""
        from scipy.special import bdtrik

        if self.unsure:
            return None
        share = self.some / self.runs
        tail = (1 - CHANCE) / max(1, len(_near_ends(inside, share)))
        size = self.runs
        while size < MOST_REPETITIONS:
            size += max(1, size // 50)
            likely = {size * share} if share in {0, 1} else bdtrik([tail, 1 - tail], size, share)
            found = [replace(self, some=math.ceil(each), runs=size).interval(level) for each in likely]
            if all(lies_inside(each, inside, self.possible) for each in found) or all(
                lies_outside(each, inside) for each in found
            ):
                return size
        return None


@dataclass(frozen=True, eq=False)
class Largest(Estimate):
    """The largest of several numbers, each with an interval: its ends allow for the choice.

    That all are below a limit needs no allowance (Berger 1982); that some is above it has Bonferroni's.
    """

    parts: tuple[Runs, ...]

    @property
    def count(self) -> int:
        """Return the number of runs of the part with the fewest."""
        return min((each.count for each in self.parts), default=0)

    def interval(self, level: float) -> Interval:
        """Return the largest number."""
        found = [each.interval(level) for each in self.parts]
        strict = 1 - (1 - level) / len(self.parts)
        low = max(each.lowest(strict, level) for each in self.parts)
        high, estimate = max(each.high for each in found), max(each.estimate for each in found)
        return Interval(estimate, min(low, estimate), max(high, estimate), self.count)


@dataclass(frozen=True, eq=False)
class Measured(Estimate):
    """A number whose interval is computed elsewhere, such as a variance from the draws of all runs."""

    find: Callable[[float], Interval]
    runs: int

    @property
    def count(self) -> int:
        """Return the number of runs."""
        return self.runs

    def interval(self, level: float) -> Interval:
        """Return the number."""
        return self.find(level)


def fewest_runs(level: float) -> int:
    """Return how many runs are needed to decide anything at this level.

    Runs that fall into two clusters are all on one side of their median with a chance of 1/2^n, and a ratio
    varies like the method that does.
    """
    return math.ceil(-math.log2((1 - level) / 2) - 1e-9)


def lies_inside(found: Interval, inside: Range, possible: Range = ANY) -> bool:
    """Return whether an interval lies in a range.

    An end that the range does not have may be unknown, and what ends where all `possible` numbers do is not
    beyond it.
    """
    above = inside.low <= possible.low or inside.low < found.low
    return above and (inside.high >= possible.high or found.high < inside.high)


def lies_outside(found: Interval, inside: Range) -> bool:
    """Return whether an interval has nothing in common with a range."""
    return found.high < inside.low or found.low > inside.high


def _median_end(values: Floats, level: float) -> float:
    """Return the lower end of the median's interval, which holds for every law."""
    depth = sign_depth(len(values), level)
    return float(np.sort(values)[depth - 1]) if depth else -math.inf


def _looks_normal(values: Floats) -> bool:
    """Return whether the mean of the values is also their median, or below it, as far as they show it."""
    count = len(values)
    if count < FEWEST_CHECKED:
        return True
    error = math.sqrt(6 * (count - 2) / ((count + 1) * (count + 3)))
    centred = (values - np.mean(values)) / np.ptp(values)
    skewness = float(np.mean(centred**3) / np.mean(centred**2) ** 1.5)
    return skewness < SKEWED * error and bool(normality_probability(values) > ABNORMAL)


def _median(values: Floats) -> float:
    middle = np.sort(values)[[(len(values) - 1) // 2, len(values) // 2]]
    return float(middle[0]) if middle[0] == middle[1] else float(np.mean(middle))


def _plan_runs(distances: Sequence[float], spreads: Sequence[float], count: int, level: float) -> int | None:
    """Return how many runs would keep the interval from all ends, so far away, with a chance of 90 %.

    The runs spread by so much about the number on the side of each end, as far as `count` of them show it.
    """
    if not distances or min(distances) <= 0:
        return None
    chance = 1 - (1 - CHANCE) / len(distances)
    shifts = [
        distance / largest_spread(spread, count) if spread > 0 else math.inf
        for distance, spread in zip(distances, spreads, strict=True)
    ]
    factor = math.exp(min(*shifts, 700.0))
    needed = repetitions_needed(1.0, level, factor, 1 - level, chance)
    return None if too_few_to_plan(needed, count) else needed


def _near_ends(inside: Range, estimate: float) -> list[float]:
    """Return the ends of a range that an interval must not reach: both from inside, the near one outside."""
    ends = [each for each in (inside.low, inside.high) if math.isfinite(each)]
    if inside.low < estimate < inside.high or not ends:
        return ends
    return [min(ends, key=lambda each: abs(each - estimate))]


def _exp(value: float) -> float:
    """Return the exponential, on the side of 1 on which it lies: of some pairs no more is known."""
    found = math.exp(value) if value < 700 else math.inf
    return math.nextafter(1.0, math.copysign(math.inf, value)) if found == 1 and value else found


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
