"""What the repetitions of a method gave, with the interval of each quantity and its ratio to a reference."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import Floats
from benchfw.analysis.evidence import Evidence
from benchfw.analysis.intervals import (
    LEVEL,
    Interval,
    Values,
    censored_ratio_interval,
    expected_running_time,
    geometric_interval,
    independent_ratio,
    mean_interval,
    median_interval,
)
from benchfw.analysis.pairing import pair_brackets
from benchfw.records import MethodKind
from benchfw.summary.columns import Columns, pair_values

TO_TARGET = ("seconds_to_target", "cost_to_target", "iterations_to_target", "cpu_seconds_to_target")

FEWEST_FOR_MEDIAN = 5
"""The range of four values covers their median in 7 of 8 samples only."""

EXPECTED = ("expected_seconds_to_target", "expected_cost_to_target")
"""All that the runs spent over the number of arrivals: what it takes if a failed run is started again."""

BUSY = 1.1
"""A slow-down of the machine, or a change of it within a run, that is said on the first screen."""


class Arrival(NamedTuple):
    """When a run met the target, or when it ended without; one that broke would never have met it.

    The cost means nothing unless it was `counted`. One that was `timed` ended with its budget of seconds.
    """

    seconds: float
    cost: float
    iterations: float
    cpu_seconds: float | None
    reached: bool
    broken: bool = False
    counted: bool = True
    timed: bool = False

    @classmethod
    def of(cls, numbers: Sequence[float]) -> Arrival:
        """Return the arrival that numbers stand for, NaN for CPU seconds that are not known."""
        seconds, cost, iterations, used, *whether = numbers
        return cls(seconds, cost, iterations, None if math.isnan(used) else used, *map(bool, whether))

    @property
    def numbers(self) -> tuple[float, ...]:
        """Return the numbers that `of` takes."""
        seconds, cost, iterations, used, *whether = self
        return seconds, cost, iterations, math.nan if used is None else used, *whether


REACHED, BROKEN, COUNTED, TIMED = map(Arrival._fields.index, ("reached", "broken", "counted", "timed"))


@dataclass(frozen=True)
class Sample:
    """What the repetitions of one method gave: quantity -> repetition -> value; facts likewise.

    `within` holds intervals from inside each trial, for the quantities that have one: used when there is a
    single repetition. `brackets` has the two ends of a value that was not seen exactly. `arrivals` says of
    each repetition that counts how it went on the way to the target. Times may be too long by the factor
    `slowdown`. CPU seconds of trials `on_device` are those in which the host had other work than to wait.
    Lower is better in all values: those of `gains` are negated; `interval` has them as they were measured.
    """

    kind: MethodKind
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    within: Mapping[str, Mapping[int, Interval]] = field(default_factory=dict)
    brackets: Mapping[str, Mapping[int, tuple[float, float]]] = field(default_factory=dict)
    arrivals: Mapping[int, Arrival] = field(default_factory=dict)
    facts: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    slowdown: float = 1.0
    gains: frozenset[str] = frozenset()
    on_device: bool = False

    def is_gain(self, quantity: str) -> bool:
        """Return whether the values of a quantity are negated."""
        return quantity in self.gains

    def has_ratio(self, quantity: str, values: Iterable[float]) -> bool:
        """Return whether "times more" has a meaning; of gains, and of what can be negative, it has none."""
        return not (self.is_gain(quantity) or any(value < 0 for value in values))

    @property
    def reached(self) -> tuple[int, int]:
        """Return (trials that met the target, trials that count)."""
        return int(np.sum(self.arrival_table[:, REACHED])), len(self.arrivals)

    @property
    def arrival_table(self) -> Floats:
        """Return the numbers of all arrivals: (repetitions, fields)."""
        if isinstance(self.arrivals, Columns):
            return self.arrivals.table
        return np.array([each.numbers for each in self.arrivals.values()]).reshape(-1, len(Arrival._fields))

    def reached_before(self, other: Sample) -> int:
        """Return how many trials met the target before the seconds of any of the other's ran out.

        On a busy machine only those that had for sure: it may have slowed the other's alone.
        """
        seconds, late = self.arrival_table[:, 0], other.arrival_table[other._late, 0]
        slowest = max(self.slowdown, other.slowdown)
        if slowest <= 1 or not len(late):
            return self.reached[0]
        return int(np.sum(self.arrival_table[:, REACHED] * (seconds <= np.min(late) / slowest)))

    @property
    def unsure(self) -> int:
        """Return how many trials might have met the target, had a busy machine left them more time."""
        return int(np.sum(self._late)) if self.slowdown > BUSY else 0

    @property
    def _late(self) -> NDArray[np.bool_]:
        """Return which trials had not met the target when their seconds ran out."""
        reached, broken, _, timed = self.arrival_table[:, REACHED:].T == 1
        late: NDArray[np.bool_] = timed & ~reached & ~broken
        return late

    @property
    def at_start(self) -> int:
        """Return how many trials start at the target, which makes a ratio of arrivals meaningless."""
        _, _, iterations, _, reached, *_ = self.arrival_table.T
        return int(np.sum(reached * (iterations == 0)))

    def comparable(self, reference: Sample, quantity: str) -> bool:
        """Whether a quantity has a ratio to the reference's: an arrival at the start has none."""
        return quantity not in TO_TARGET or not (self.at_start or reference.at_start)

    def interval(self, quantity: str) -> Interval:
        """Return the quantity over the repetitions.

        Optimizers: to the target the geometric mean, so that ratios of rows are the ratios shown, with the
        lowest and the highest run, since an interval of that mean would not hold for skewed laws; the median
        of ends, as in the figures, and of arrivals where some run never arrives, or starts there.
        Kernels, and the times of estimators: the geometric mean.
        """
        values = list(self.values[quantity].values())
        if len(values) == 1 and quantity in self.within:
            return self._allow_for_bracket(quantity, next(iter(self.within[quantity].values())))
        estimate: Callable[[Values], Interval] = geometric_interval
        if self.kind == "optimizer":
            arrived = quantity in TO_TARGET and np.all(np.isfinite(values)) and not self.at_start
            estimate = _range if arrived else _median
        if self.is_gain(quantity):
            return estimate(values).negated()
        found = _not_below_zero(estimate(values), values)
        if quantity not in self.brackets:
            return found
        low, high = zip(*self.find_brackets(quantity).values(), strict=True)
        least, most = _not_below_zero(estimate(low), low), estimate(high)
        return replace(found, low=min(found.low, least.low), high=max(found.high, most.high))

    def _allow_for_bracket(self, quantity: str, found: Interval) -> Interval:
        """Return what one trial says, with ends that allow for the bracket of its value."""
        ((repetition, value),) = self.values[quantity].items()
        low, high = self.find_brackets(quantity)[repetition]
        if not 0 < value < math.inf:
            return found
        return replace(found, low=found.low * low / value, high=found.high * high / value)

    def fact_intervals(self) -> Iterator[tuple[str, Interval]]:
        for name, found in self.facts.items():
            values = list(found.values())
            mean = _not_below_zero(mean_interval(values), values)
            yield name, self._shorter(mean) if name == "prepare_seconds" else mean

    def _shorter(self, time: Interval) -> Interval:
        """Return the interval of a time that may be too long by the slow-down of the machine."""
        return replace(time, low=time.low / self.slowdown)

    def arrival_intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the expected running times."""
        if not self.arrivals:
            return
        seconds, costs, _, _, reached, _, counted, _ = self.arrival_table.T
        yield EXPECTED[0], self._shorter(expected_running_time(seconds, reached))
        if np.all(counted):
            yield EXPECTED[1], expected_running_time(costs, reached)

    def evidence(self, reference: Sample, quantity: str) -> Evidence | None:
        """Return what the repetitions that both have say about the ratio to the reference."""
        shared, *pairs = pair_values(self.values[quantity], reference.values[quantity])
        return pair_brackets(*self.pair_ends(reference, quantity, shared), (pairs[0], pairs[1]))

    def pair_ends(
        self, reference: Sample, quantity: str, shared: Sequence[int]
    ) -> tuple[list[float], list[float], list[float], list[float]]:
        """Return the low and high ends of both over the repetitions that they share."""
        low, high, start, end = (
            [found[repetition][side] for repetition in shared]
            for found in (self.find_brackets(quantity), reference.find_brackets(quantity))
            for side in (0, 1)
        )
        return low, high, start, end

    def find_brackets(self, quantity: str) -> dict[int, tuple[float, float]]:
        """Return between which two numbers each value is known to lie: twice the value where it was seen.

        A run that ended before the target would have arrived later than that; one that broke, never.
        """
        values = self.values[quantity]
        found = {repetition: (value, value) for repetition, value in values.items()}
        if quantity in TO_TARGET:
            column = TO_TARGET.index(quantity)
            for repetition, arrival in zip(self.arrivals, self.arrival_table.tolist(), strict=True):
                if repetition in found and not (arrival[REACHED] or arrival[BROKEN]):
                    found[repetition] = arrival[column], math.inf
        return found | dict(self.brackets.get(quantity, {}).items())

    def ratio(self, reference: Sample, quantity: str, level: float = LEVEL) -> Interval | None:
        """Return the ratio to the reference over the repetitions that both have; None where there is none."""
        shared, *pairs = pair_values(self.values[quantity], reference.values.get(quantity, {}))
        if not shared or not self.comparable(reference, quantity):
            return None
        if not self.has_ratio(quantity, [*pairs[0], *pairs[1]]):
            return None
        above, below = np.array(pairs)
        own, other = self.within.get(quantity, {}), reference.within.get(quantity, {})
        if len(shared) == 1 and shared[0] in own and shared[0] in other:
            ratio = independent_ratio(own[shared[0]], other[shared[0]], level)
        else:
            ratio = censored_ratio_interval(above, below, level)
        if math.isnan(ratio.estimate):
            return None
        if quantity not in self.brackets and quantity not in reference.brackets:
            return ratio
        low, high, start, end = self.pair_ends(reference, quantity, shared)
        least, most = censored_ratio_interval(low, end, level), censored_ratio_interval(high, start, level)
        return replace(ratio, low=min(ratio.low, least.low), high=max(ratio.high, most.high))


def _range(values: Values) -> Interval:
    """Return the geometric mean between the lowest and the highest value."""
    return Interval(geometric_interval(values).estimate, float(min(values)), float(max(values)), len(values))


def _median(values: Values) -> Interval:
    """Return the median; fewer than five values have no interval that holds for every law."""
    found = median_interval(values)
    return found if found.count >= FEWEST_FOR_MEDIAN else replace(found, low=-math.inf, high=math.inf)


def sure_arrivals(one: Sample, other: Sample) -> tuple[int, int]:
    """Return how many trials of each met the target.

    Of the one that did so more often only those count that would have on a quiet machine, too.
    """
    (mine, runs), (theirs, their_runs) = one.reached, other.reached
    if mine * their_runs > theirs * runs:
        mine = max(one.reached_before(other), round(theirs * runs / their_runs))
    elif mine * their_runs < theirs * runs:
        theirs = max(other.reached_before(one), round(mine * their_runs / runs))
    return mine, theirs


def _not_below_zero(interval: Interval, values: Sequence[float]) -> Interval:
    return replace(interval, low=max(interval.low, 0.0)) if min(values) >= 0 else interval
