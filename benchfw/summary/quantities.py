"""What is measured of a method: targets, and samples with the interval of each quantity over repetitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchfw.analysis.convergence import automatic_target, curves_by_metric
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
from benchfw.records import BOUND_PREFIX, ENDED_BY_ITSELF, FACT_PREFIX, MethodKind, Result, Status
from benchfw.summary.arrivals import Arrival

TO_TARGET = ("seconds_to_target", "cost_to_target", "iterations_to_target")
WHEN_DONE = "_when_reference_is_done"
"""`loss_when_reference_is_done` is the loss at the second at which the reference method ended by itself."""

FINISHED = frozenset({Status.DONE, Status.REACHED})


@dataclass(frozen=True)
class Target:
    """The value of a metric that all methods are asked to reach; `automatic` when the suite names none."""

    metric: str
    value: float
    automatic: bool = False


@dataclass(frozen=True)
class Sample:
    """What the repetitions of one method gave: quantity -> repetition -> value.

    `within` holds intervals from inside each trial, for the quantities that have one: used when there is a
    single repetition. `arrivals` says of each repetition that counts how it went on the way to the target.
    """

    kind: MethodKind
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    within: Mapping[str, Mapping[int, Interval]] = field(default_factory=dict)
    arrivals: Mapping[int, Arrival] = field(default_factory=dict)

    @property
    def reached(self) -> tuple[int, int]:
        """Return (trials that met the target, trials that count)."""
        return sum(arrival.reached for arrival in self.arrivals.values()), len(self.arrivals)

    def positive(self, quantity: str) -> bool:
        """Whether some repetition saw the quantity above zero."""
        return any(value > 0 for value in self.values.get(quantity, {}).values())

    def interval(self, quantity: str) -> Interval:
        """Return the quantity over the repetitions.

        Optimizers: the median, as in the figures. Estimators and kernels: the geometric mean, so that
        variance times seconds is what it says; bias and facts: the mean.
        """
        values = list(self.values[quantity].values())
        if len(values) == 1 and quantity in self.within:
            return next(iter(self.within[quantity].values()))
        estimate: Callable[[Values], Interval] = geometric_interval
        if self.kind == "optimizer":
            estimate = median_interval
        if quantity == "bias" or quantity.startswith(FACT_PREFIX):
            estimate = mean_interval
        found = estimate(values)
        return replace(found, low=max(found.low, 0.0)) if quantity != "bias" and min(values) >= 0 else found

    def ratio(self, reference: Sample, quantity: str, level: float = LEVEL) -> Interval | None:
        """Return the ratio to the reference over the repetitions that both have; None where there is none."""
        mine, theirs = self.values[quantity], reference.values.get(quantity, {})
        shared = [repetition for repetition in mine if repetition in theirs]
        if quantity == "bias" or quantity.startswith(FACT_PREFIX) or not shared:
            return None
        above = np.array([mine[repetition] for repetition in shared])
        below = np.array([theirs[repetition] for repetition in shared])
        if np.any(above < 0) or np.any(below < 0):
            return None  # a quantity with a sign has no "times more"
        own, other = self.within.get(quantity, {}), reference.within.get(quantity, {})
        if len(shared) == 1 and shared[0] in own and shared[0] in other:
            ratio = independent_ratio(own[shared[0]], other[shared[0]], level)
        else:
            ratio = censored_ratio_interval(above, below, level)
        return None if math.isnan(ratio.estimate) else ratio


def finished_trials(results: Iterable[Result]) -> list[Result]:
    """Return the trials that ran to their end: those that estimates rest on."""
    return [result for result in results if result.outcome.status in FINISHED]


def metric_names(results: Iterable[Result]) -> tuple[str, ...]:
    """Return the measured metrics, the primary one first, without the bound curves."""
    names: dict[str, None] = {}
    for result in results:
        if not names or not result.outcome.status.faulty:
            names.update(dict.fromkeys(record.metric for record in result.outcome.records))
    return tuple(name for name in names if not name.startswith((BOUND_PREFIX, FACT_PREFIX)))


def choose_targets(reference: Sequence[Result]) -> tuple[Target, ...]:
    """Return the suite's targets, or one for the primary metric from where the reference method ends."""
    if not reference:
        return ()
    curves = [curves_by_metric(result.outcome.records) for result in reference]
    named = [(metric, value) for metric, value in reference[0].trial.target.items() if metric in curves[0]]
    if named:
        return tuple(Target(metric, value) for metric, value in named)
    primary = next((name for name in curves[0] if not name.startswith((BOUND_PREFIX, FACT_PREFIX))), None)
    if primary is None:
        return ()
    value = automatic_target([found[primary] for found in curves if primary in found])
    return () if math.isnan(value) else (Target(primary, value, automatic=True),)


def last_seconds(reference: Sequence[Result]) -> dict[int, float]:
    """Return when the reference ended, by repetition, where it did so by itself in all of its trials."""
    if not all(result.outcome.reason.startswith(ENDED_BY_ITSELF) for result in reference):
        return {}
    return {
        result.trial.repetition: max(record.seconds for record in result.outcome.records)
        for result in reference
    }
