"""From trials to samples: what one repetition says about each quantity, and the interval over repetitions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from benchfw.analysis.convergence import (
    NEVER,
    Curve,
    Hit,
    automatic_target,
    curves_by_metric,
    time_to_all,
    value_at,
)
from benchfw.analysis.intervals import (
    LEVEL,
    Interval,
    Values,
    censored_ratio_interval,
    geometric_interval,
    independent_ratio,
    mean_interval,
    median_interval,
    std_error_interval,
)
from benchfw.analysis.variance import variance_interval
from benchfw.records import BOUND_PREFIX, ENDED_BY_ITSELF, FACT_PREFIX, MethodKind, Result, Status

TO_TARGET = ("seconds_to_target", "cost_to_target", "iterations_to_target")
WHEN_DONE = "_when_reference_is_done"
"""`loss_when_reference_is_done` is the loss at the second at which the reference method ended by itself."""

_FINISHED = frozenset({Status.DONE, Status.REACHED})
# the method was given its chance and did not get there: censored, not left out
_STOPPED = frozenset({Status.DIVERGED, Status.TIMEOUT, Status.OUT_OF_MEMORY})


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
    single repetition. `reached` is (trials that met the target, trials that count).
    """

    kind: MethodKind
    values: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    within: Mapping[str, Mapping[int, Interval]] = field(default_factory=dict)
    reached: tuple[int, int] | None = None

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
    return [result for result in results if result.outcome.status in _FINISHED]


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


def sample_trials(
    kind: MethodKind,
    results: Sequence[Result],
    targets: Sequence[Target],
    ends: Mapping[int, float] | None = None,
) -> Sample:
    """Return the sample of one method's trials on one problem; `ends` is when the reference was done."""
    if kind != "optimizer":
        sample = _sample_draws(kind, results)
    else:
        sample = _sample_optimizer(results, targets, ends or {})
    return replace(sample, values={**sample.values, **_facts(results)})


def _facts(results: Sequence[Result]) -> dict[str, dict[int, float]]:
    facts: dict[str, dict[int, float]] = {}
    for result in results:
        for record in result.outcome.records:
            if record.metric.startswith(FACT_PREFIX):
                facts.setdefault(record.metric, {})[result.trial.repetition] = record.value
    return facts


def _sample_draws(kind: MethodKind, results: Sequence[Result]) -> Sample:
    collect = _estimator_values if kind == "estimator" else _kernel_values
    values: dict[str, dict[int, float]] = {}
    within: dict[str, dict[int, Interval]] = {}
    for result in finished_trials(results):
        repetition = result.trial.repetition
        found, intervals = collect(curves_by_metric(result.outcome.records))
        for quantity, value in found.items():
            if not math.isnan(value):
                values.setdefault(quantity, {})[repetition] = value
        for quantity, interval in intervals.items():
            within.setdefault(quantity, {})[repetition] = interval
    return Sample(kind, values, within)


def _sample_optimizer(
    results: Sequence[Result], targets: Sequence[Target], ends: Mapping[int, float]
) -> Sample:
    values: dict[str, dict[int, float]] = {}
    counted: dict[int, Hit] = {}
    for result in results:
        status, repetition = result.outcome.status, result.trial.repetition
        if status not in _FINISHED | _STOPPED:
            continue
        curves = curves_by_metric(result.outcome.records)
        if targets:
            counted[repetition] = NEVER if status is Status.DIVERGED else _first_hit(curves, targets)
        for metric, curve in curves.items():
            if not metric.startswith((BOUND_PREFIX, FACT_PREFIX)):
                # a run that did not get to the end has no value there: leaving it out would flatter the rest
                final = curve.final if status in _FINISHED else math.inf
                values.setdefault(metric, {})[repetition] = final
                if repetition in ends:
                    then = value_at(curve, "seconds", np.array([ends[repetition]]))
                    values.setdefault(metric + WHEN_DONE, {})[repetition] = float(then[0])
    if not counted:
        return Sample("optimizer", values)
    values["seconds_to_target"] = {repetition: hit.seconds for repetition, hit in counted.items()}
    values["cost_to_target"] = {repetition: hit.cost for repetition, hit in counted.items()}
    values["iterations_to_target"] = {repetition: hit.iterations for repetition, hit in counted.items()}
    reached = sum(math.isfinite(hit.iterations) for hit in counted.values())
    return Sample("optimizer", values, reached=(reached, len(counted)))


def _first_hit(curves: Mapping[str, Curve], targets: Sequence[Target]) -> Hit:
    if any(target.metric not in curves for target in targets):
        return NEVER
    return time_to_all([curves[target.metric] for target in targets], [target.value for target in targets])


def _estimator_values(curves: Mapping[str, Curve]) -> tuple[dict[str, float], dict[str, Interval]]:
    """Return the final values of one trial and what it says about their intervals by itself."""
    found = {name: curves[name].final for name in ("bias", "variance", "mse") if name in curves}
    if "variance" not in curves or curves["variance"].iterations[-1] <= 0:
        return found, {}
    last = curves["variance"]
    seconds, setup_seconds = _a_draw(last.iterations, last.seconds)
    cost, setup_cost = _a_draw(last.iterations, last.cost)
    found |= {"seconds_per_draw": seconds, "cost_per_draw": cost, "setup_cost": setup_cost}
    found |= {"setup_seconds": setup_seconds, "variance_x_seconds": found["variance"] * seconds}
    if "variance_std_error" not in curves:
        return found, {}
    spread = curves["variance_std_error"].final
    if "variance_skewness" in curves:
        skewness, draws = curves["variance_skewness"].final, int(last.iterations[-1])
        interval = variance_interval(found["variance"], spread, skewness, draws)
    else:  # a store of before it was recorded
        interval = std_error_interval(found["variance"], spread)
    return found, {"variance": interval, "variance_x_seconds": interval.scaled(seconds)}


def _a_draw(draws: Values, spent: Values) -> tuple[float, float]:
    """Return what a further draw takes, and what was spent once, before or in the first draws.

    From the first measured point to the last: an estimator that prepares something for all its draws, such as
    the full gradient at an anchor, would otherwise look the dearer the fewer draws the suite asks for.
    """
    if len(draws) < 2 or draws[-1] == draws[0]:
        return float(spent[-1] / draws[-1]), 0.0
    each = float((spent[-1] - spent[0]) / (draws[-1] - draws[0]))
    return each, max(0.0, float(spent[0] - each * draws[0]))


def _kernel_values(curves: Mapping[str, Curve]) -> tuple[dict[str, float], dict[str, Interval]]:
    """Return the median over the blocks of one trial, with its interval."""
    if "seconds_per_call" not in curves:
        return {}, {}
    interval = median_interval(curves["seconds_per_call"].values)
    return {"seconds_per_call": interval.estimate}, {"seconds_per_call": interval}
