"""What is measured of a method: targets, and samples with the interval of each quantity over repetitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from benchfw.analysis.censored import expected_running_time, median_time
from benchfw.analysis.convergence import automatic_target, none_improves
from benchfw.analysis.draws import (
    Moments,
    Pool,
    bias_interval,
    length_interval,
    length_probability,
    pair_spreads,
    pool_moments,
    single_bias,
    single_probability,
    spread_interval,
    unbiased_probability,
)
from benchfw.analysis.evidence import Evidence, PairedLogs, pair_brackets
from benchfw.analysis.intervals import (
    LEVEL,
    Interval,
    Values,
    censored_ratio_interval,
    geometric_interval,
    independent_ratio,
    mean_interval,
    median_interval,
)
from benchfw.analysis.variance import FEWEST_DRAWS
from benchfw.records import Ending, MethodKind
from benchfw.summary.histories import History
from benchfw.summary.model import Target

_PRODUCTS = ("variance_x_seconds", "mse_x_seconds", "variance_x_cpu_seconds", "mse_x_cpu_seconds")
SPREADS = frozenset({"variance", "worst_variance", "mse", *_PRODUCTS})
"""What is proportional to the variance of an estimator's draws."""

_ROUNDING = 1e-9  # of moments of the same draws about different means

TO_TARGET = ("seconds_to_target", "cost_to_target", "iterations_to_target", "cpu_seconds_to_target")

WHEN_DONE = "_when_reference_is_done"
"""`loss_when_reference_is_done` is the loss at the second at which the reference method ended by itself."""

FEWEST_FOR_MEDIAN = 5
"""The range of four values covers their median in 7 of 8 samples only."""

EXPECTED = ("expected_seconds_to_target", "expected_cost_to_target")
"""All that the runs spent over the number of arrivals: what it takes if a failed run is started again."""

KAPLAN_MEIER = "kaplan_meier_seconds_to_target"
"""The median time, in which a run that was cut short counts as long as it ran."""


@dataclass(frozen=True)
class Arrival:
    """When a run met the target, or when it ended without; one that broke would never have met it.

    The cost means nothing unless it was `counted`. `brackets` has the two numbers between which each of the
    others lies for sure, where it was reached between two looks.
    """

    seconds: float
    cost: float
    iterations: float
    reached: bool
    cpu_seconds: float | None = None
    brackets: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    broken: bool = False
    counted: bool = True


@dataclass(frozen=True)
class Sample:
    """What the repetitions of one method gave: quantity -> repetition -> value; facts likewise.

    `within` holds intervals from inside each trial, for the quantities that have one: used when there is a
    single repetition. `brackets` has the two ends of a value that was not seen exactly. `arrivals` says of
    each repetition that counts how it went on the way to the target, `moments` of an estimator's repetitions
    what its draws were like. Times may be too long by the factor `slowdown`.
    """

    kind: MethodKind
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    within: Mapping[str, Mapping[int, Interval]] = field(default_factory=dict)
    brackets: Mapping[str, Mapping[int, tuple[float, float]]] = field(default_factory=dict)
    arrivals: Mapping[int, Arrival] = field(default_factory=dict)
    moments: Mapping[int, Moments] = field(default_factory=dict)
    facts: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    slowdown: float = 1.0

    @property
    def reached(self) -> tuple[int, int]:
        """Return (trials that met the target, trials that count)."""
        return sum(arrival.reached for arrival in self.arrivals.values()), len(self.arrivals)

    @cached_property
    def pool(self) -> Pool | None:
        """Return the draws of all repetitions together; None where some repetition had too few."""
        if not self.moments or len(self.moments) < len(self.values.get("variance", ())):
            return None
        return pool_moments(list(self.moments.values()))

    @property
    def scalar(self) -> bool:
        """Whether an estimator's draws are numbers."""
        return "worst_variance" not in self.values

    @property
    def repeats(self) -> bool:
        """Whether the draws vary within a run, and are the same in all runs, or the same but for a shift.

        The moments of their squares then agree; those of other draws differ even in another order.
        """
        found = list(self.moments.values())
        if len(found) < 2 or found[0].variance == 0 or found[0].draws < FEWEST_DRAWS:
            return False
        columns = [(each.variance, each.std_error, each.skewness, each.draws) for each in found]
        return bool(np.allclose(columns, columns[0], rtol=_ROUNDING, atol=0.0))

    def as_one_run(self) -> Sample:
        """Return the sample with the draws of its first run alone; times are still those of all runs."""
        first = min(self.moments)
        values = {
            name: {first: found[first]} if name in (*SPREADS, "bias") and first in found else found
            for name, found in self.values.items()
        }
        return replace(self, values=values, moments={first: self.moments[first]})

    def varies(self) -> bool:
        """Whether enough draws of an estimator differ to say something about its variance."""
        return self.pool is not None and bool(self.pool.decisive)

    def interval(self, quantity: str) -> Interval:
        """Return the quantity over the repetitions.

        Optimizers: to the target the geometric mean, so that ratios of rows are the ratios shown, with the
        lowest and the highest run, since an interval of that mean would not hold for skewed laws; the median
        of ends, as in the figures, and of arrivals where some run never arrives.
        Estimators: the mean of bias, variance and what is proportional to it; the geometric mean of times, as
        for kernels.
        """
        values = list(self.values[quantity].values())
        if self.kind == "estimator" and quantity in SPREADS:
            return self.spread_interval(quantity)
        if quantity == "bias":
            return self.bias_interval()
        if len(values) == 1 and quantity in self.within:
            return self._allow_for_bracket(quantity, next(iter(self.within[quantity].values())))
        estimate: Callable[[Values], Interval] = geometric_interval
        if self.kind == "optimizer":
            arrived = quantity in TO_TARGET and np.all(np.isfinite(values))
            estimate = _range if arrived else _median
        found = _not_below_zero(estimate(values), values)
        if quantity not in self.brackets:
            return found
        low, high = zip(*(self.bracket(quantity, each) for each in self.values[quantity]), strict=True)
        least, most = _not_below_zero(estimate(low), low), estimate(high)
        return replace(found, low=min(found.low, least.low), high=max(found.high, most.high))

    def _allow_for_bracket(self, quantity: str, found: Interval) -> Interval:
        """Return what one trial says, with ends that allow for the bracket of its value."""
        ((repetition, value),) = self.values[quantity].items()
        low, high = self.bracket(quantity, repetition)
        if not 0 < value < math.inf:
            return found
        return replace(found, low=found.low * low / value, high=found.high * high / value)

    def spread_interval(self, quantity: str, level: float = LEVEL) -> Interval:
        """Return the mean of an estimator's variance, or of what is proportional to it."""
        values = list(self.values[quantity].values())
        # one repetition knows its own variance, but not by how much its times vary from run to run
        if self.pool is None or (len(values) == 1 and quantity in _PRODUCTS):
            return Interval(float(np.mean(values)), 0.0, math.inf, len(values))
        found = spread_interval(values, self.pool, level)
        low, high = (
            np.mean([self.stretch(quantity, each)[side] for each in self.moments]) for side in (0, 1)
        )
        return replace(found, low=found.low * float(low), high=found.high * float(high))

    def stretch(self, quantity: str, repetition: int) -> tuple[float, float]:
        """Return by what factors a value may be off, where it is known between two numbers only."""
        value = self.values[quantity][repetition]
        low, high = self.bracket(quantity, repetition)
        return (low / value, high / value) if value else (1.0, 1.0)

    def bias_interval(self, level: float = LEVEL) -> Interval:
        """Return the mean bias of an estimator over the repetitions; of a vector, the length of the bias."""
        values = list(self.values["bias"].values())
        if self.pool is None:
            return Interval(float(np.mean(values)), -math.inf, math.inf, len(values))
        if self.scalar:
            return bias_interval(values, self.pool, level)
        return length_interval(self._squared_lengths(), self.pool, level)

    def unbiased_probability(self) -> float:
        """Return the p-value of 'there is no bias'; NaN where the draws cannot decide."""
        if self.pool is None:
            return math.nan
        if self.scalar:
            return float(unbiased_probability(list(self.values["bias"].values()), self.pool))
        return float(length_probability(self._squared_lengths(), self.pool))

    def _squared_lengths(self) -> list[float]:
        """Return by repetition an unbiased estimate of a vector's squared bias.

        The mean squared error is variance + |bias|², and both are recorded about the mean of the same draws.
        """
        variances = self.values["variance"]
        return [value - variances[each] for each, value in self.values["mse"].items()]

    def single_probability(self) -> float:
        """Return the p-value of 'no run has a bias' of numbers; NaN where the draws cannot decide."""
        if self.pool is None or not self.scalar:
            return math.nan
        return float(single_probability(*self._single_runs(), self.pool))

    def single_bias(self, level: float) -> float:
        """Return what the root mean square over the runs of a number's bias is at least."""
        return 0.0 if self.pool is None else single_bias(*self._single_runs(), self.pool, level)

    def _single_runs(self) -> tuple[list[float], list[float], list[int]]:
        found = list(self.moments.values())
        biases = [self.values["bias"][each] for each in self.moments]
        return biases, [each.variance for each in found], [each.draws for each in found]

    def fact_intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the mean of each fact."""
        for name, found in self.facts.items():
            values = list(found.values())
            mean = _not_below_zero(mean_interval(values), values)
            yield name, self._shorter(mean) if name == "prepare_seconds" else mean

    def _shorter(self, time: Interval) -> Interval:
        """Return the interval of a time that may be too long by the slow-down of the machine."""
        return replace(time, low=time.low / self.slowdown)

    def arrival_intervals(self) -> Iterator[tuple[str, Interval]]:
        """Yield the expected running times, and Kaplan & Meier's median where some runs did not arrive."""
        runs = list(self.arrivals.values())
        if not runs:
            return
        seconds, costs = (np.array([getattr(run, name) for run in runs]) for name in ("seconds", "cost"))
        reached = np.array([run.reached for run in runs])
        yield EXPECTED[0], self._shorter(expected_running_time(seconds, reached))
        if all(run.counted for run in runs):
            yield EXPECTED[1], expected_running_time(costs, reached)
        if 0 < sum(reached) < len(runs):
            lasting = np.where([run.broken for run in runs], np.max(seconds), seconds)
            yield KAPLAN_MEIER, self._shorter(median_time(lasting, reached))

    def evidence(self, reference: Sample, quantity: str) -> Evidence | None:
        """Return what the repetitions that both have say about the ratio to the reference."""
        mine, theirs = self.values[quantity], reference.values[quantity]
        shared = [repetition for repetition in mine if repetition in theirs]
        if self.kind == "estimator" and quantity in SPREADS:
            return self._spread_evidence(reference, quantity, shared)
        pairs = [mine[each] for each in shared], [theirs[each] for each in shared]
        return pair_brackets(*self._pair_ends(reference, quantity, shared), pairs)

    def _pair_ends(
        self, reference: Sample, quantity: str, shared: Sequence[int]
    ) -> tuple[list[float], list[float], list[float], list[float]]:
        """Return the low and high ends of both over the repetitions that they share."""
        low, high, start, end = (
            [sample.bracket(quantity, repetition)[side] for repetition in shared]
            for sample in (self, reference)
            for side in (0, 1)
        )
        return low, high, start, end

    def _spread_evidence(self, reference: Sample, quantity: str, shared: Sequence[int]) -> Evidence | None:
        if self.pool is None or reference.pool is None or not shared:
            return None
        (mine, errors), (theirs, their_errors) = (
            (
                [each.values[quantity][one] for one in shared],
                [each.relative_error(quantity, one) for one in shared],
            )
            for each in (self, reference)
        )
        found = pair_spreads(mine, errors, self.pool, theirs, their_errors, reference.pool)
        if found is None:
            return None
        own, other = (np.log([each.stretch(quantity, one) for one in shared]).T for each in (self, reference))
        return PairedLogs(found.low + own[0] - other[1], found.high + own[1] - other[0], found.middle)

    def relative_error(self, quantity: str, repetition: int) -> float:
        """Return the standard error of one repetition's variance over the variance, or over the mse."""
        seen = self.moments[repetition]
        around = self.values["mse"][repetition] if quantity.startswith("mse") else seen.variance
        return seen.std_error / around if around else 0.0

    def bracket(self, quantity: str, repetition: int) -> tuple[float, float]:
        """Return between which two numbers a value is known to lie: twice the value where it was seen.

        A run that ended before the target would have arrived later than that; one that broke, never.
        """
        if repetition in self.brackets.get(quantity, {}):
            return self.brackets[quantity][repetition]
        value = self.values[quantity][repetition]
        arrival = self.arrivals.get(repetition) if quantity in TO_TARGET else None
        if arrival is None or arrival.reached or arrival.broken:
            return value, value
        return float(getattr(arrival, quantity.removesuffix("_to_target"))), math.inf

    def ratio(self, reference: Sample, quantity: str, level: float = LEVEL) -> Interval | None:
        """Return the ratio to the reference over the repetitions that both have; None where there is none."""
        mine, theirs = self.values[quantity], reference.values.get(quantity, {})
        shared = [repetition for repetition in mine if repetition in theirs]
        if quantity == "bias" or not shared:
            return None
        above = np.array([mine[repetition] for repetition in shared])
        below = np.array([theirs[repetition] for repetition in shared])
        if np.any(above < 0) or np.any(below < 0):
            return None  # a quantity with a sign has no "times more"
        if self.kind == "estimator" and quantity in SPREADS:
            evidence = self._spread_evidence(reference, quantity, shared)
            return None if evidence is None else evidence.interval(level)
        own, other = self.within.get(quantity, {}), reference.within.get(quantity, {})
        if len(shared) == 1 and shared[0] in own and shared[0] in other:
            ratio = independent_ratio(own[shared[0]], other[shared[0]], level)
        else:
            ratio = censored_ratio_interval(above, below, level)
        if math.isnan(ratio.estimate):
            return None
        if quantity not in self.brackets and quantity not in reference.brackets:
            return ratio
        low, high, start, end = self._pair_ends(reference, quantity, shared)
        least, most = censored_ratio_interval(low, end, level), censored_ratio_interval(high, start, level)
        return replace(ratio, low=min(ratio.low, least.low), high=max(ratio.high, most.high))


def _range(values: Values) -> Interval:
    """Return the geometric mean between the lowest and the highest value."""
    return Interval(geometric_interval(values).estimate, float(min(values)), float(max(values)), len(values))


def _median(values: Values) -> Interval:
    """Return the median; fewer than five values have no interval that holds for every law."""
    found = median_interval(values)
    return found if found.count >= FEWEST_FOR_MEDIAN else replace(found, low=-math.inf, high=math.inf)


def _not_below_zero(interval: Interval, values: Sequence[float]) -> Interval:
    return replace(interval, low=max(interval.low, 0.0)) if min(values) >= 0 else interval


def metric_names(histories: Iterable[History]) -> tuple[str, ...]:
    """Return the measured metrics, the primary one first; those of faulty trials where no other has any."""
    names: dict[str, None] = {}
    for history in histories:
        if not names or not history.outcome.status.faulty:
            names.update(dict.fromkeys(history.curves))
    return tuple(names)


def choose_targets(methods: Sequence[Sequence[History]]) -> tuple[Target, ...]:
    """Return the suite's targets, or one for the primary metric from where the methods' trials end."""
    measured = [[each for each in group if each.curves] for group in methods]
    first = next((each for group in measured for each in group), None)
    if first is None:
        return ()
    named = [(metric, value) for metric, value in first.trial.target.items() if metric in first.curves]
    if named:
        return tuple(Target(metric, value) for metric, value in named)
    primary = next(iter(first.curves))
    curves = [
        [curve for each in group if each.finished and (curve := each.budgeted(primary))] for group in measured
    ]
    value = automatic_target(curves)
    if math.isnan(value):
        return ()
    return (Target(primary, value, automatic=True, improved=not none_improves(curves)),)


def last_seconds(reference: Sequence[History]) -> dict[int, float]:
    """Return when the reference ended, by repetition, where it did so by itself in all of its trials."""
    if not all(each.outcome.ending is Ending.BY_ITSELF for each in reference):
        return {}
    return {each.repetition: each.spent.seconds for each in reference}
