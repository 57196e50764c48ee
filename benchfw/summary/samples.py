"""From trials to samples: what one repetition says about each quantity."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from benchfw.analysis.bias import Scatter, batch_scatter
from benchfw.analysis.convergence import (
    NEVER,
    Curve,
    Hit,
    place_arrival,
    time_to_all,
    value_at,
)
from benchfw.analysis.draws import Moments, pool_moments, spread_interval
from benchfw.analysis.intervals import Interval, Values, median_interval
from benchfw.records import Cell, Counting, MethodKind, Outcome, Status
from benchfw.summary.columns import Columns, numbers, pairs
from benchfw.summary.draws import DrawSample
from benchfw.summary.histories import History, Spent
from benchfw.summary.model import Target
from benchfw.summary.quantities import TO_TARGET, WHEN_DONE, Arrival, Sample
from benchfw.summary.targets import find_floor

# more time would not have helped: a run that timed out was merely cut short
_BROKEN = frozenset({Status.DIVERGED, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED})

Brackets: TypeAlias = Mapping[str, tuple[float, float]]

DRAW_COSTS = frozenset({"cost_per_draw", "setup_cost"})


def sample_trials(
    kind: MethodKind,
    histories: Sequence[History],
    targets: Sequence[Target],
    ends: Mapping[int, float] | None = None,
    metrics: Sequence[str] = (),
) -> Sample:
    """Return the sample of one method's trials on one problem.

    `ends` is when the reference was done, `metrics` are those that a trial should have given.
    """
    if kind == "estimator":
        sample = _sample_draws(histories)
    elif kind == "kernel":
        sample = _sample_kernel(histories)
    else:
        sample = _sample_optimizer(histories, targets, ends or {}, metrics)
    facts: dict[str, Columns[float]] = defaultdict(numbers)
    for history in histories:
        outcome = history.outcome
        for name, value in {**outcome.facts, **prepared_facts(outcome)}.items():
            facts[name].add(history.repetition, value)
    return replace(sample, facts=dict(facts))


def prepared_facts(outcome: Outcome) -> dict[str, float]:
    """Return what `prepare` used, by the name of the quantity; empty where there was nothing to prepare."""
    found = {"prepare_seconds": outcome.prepare_seconds, "prepare_cost": outcome.prepare_cost}
    return {name: value for name, value in found.items() if value is not None}


def _sample_draws(histories: Sequence[History]) -> Sample:
    values: dict[str, Columns[float]] = defaultdict(numbers)
    moments: dict[int, Moments] = {}
    scatters: dict[int, Scatter] = {}
    for history in histories:
        if not history.finished:
            continue
        found = _estimator_values(history.curves)
        if history.outcome.counting is Counting.UNCOUNTED:
            found = {name: value for name, value in found.items() if name not in DRAW_COSTS}
        _add(values, history.repetition, found)
        seen = _moments(history.curves)
        if seen is not None:
            moments[history.repetition] = seen
        if "bias" in history.metrics and "worst_variance" not in history.metrics:
            running = history.curves["bias"]
            scatters[history.repetition] = batch_scatter(running.iterations, running.values)
    within = {
        "variance": {
            repetition: spread_interval([seen.variance], pool_moments([seen]))
            for repetition, seen in moments.items()
        }
    }
    return DrawSample(
        "estimator", dict(values), within if moments else {}, moments=moments, scatters=scatters
    )


def _sample_kernel(histories: Sequence[History]) -> Sample:
    values: dict[str, Columns[float]] = defaultdict(numbers)
    within: dict[str, dict[int, Interval]] = {}
    for history in histories:
        if history.finished:
            intervals = _kernel_intervals(history.curves)
            _add(values, history.repetition, {name: each.estimate for name, each in intervals.items()})
            for name, interval in intervals.items():
                within.setdefault(name, {})[history.repetition] = interval
    return Sample("kernel", dict(values), within)


def _add(values: dict[str, Columns[float]], repetition: int, found: Mapping[str, float]) -> None:
    for quantity, value in found.items():
        if not math.isnan(value):
            values[quantity].add(repetition, value)


def _sample_optimizer(
    histories: Sequence[History],
    targets: Sequence[Target],
    ends: Mapping[int, float],
    metrics: Sequence[str],
) -> Sample:
    """Return ends and arrivals. A trial that broke has no end and, unless it had been there, no arrival.

    Leaving it out would flatter the method: both are infinite.
    """
    if not any(history.metrics for history in histories):
        return Sample("optimizer")  # it gave no number at all: its faults say why
    values: dict[str, Columns[float]] = defaultdict(numbers)
    brackets: dict[str, Columns[tuple[float, float]]] = defaultdict(pairs)
    to_target: dict[str, Columns[float]] = {quantity: numbers() for quantity in TO_TARGET}
    arrivals = Columns(Arrival.of, len(Arrival._fields))
    for history in histories:
        repetition = history.repetition
        if history.skipped:
            continue
        if targets:
            arrival, between = _arrival(history, targets)
            arrivals.add(repetition, *arrival.numbers)
            for quantity, value in _to_target(arrival):
                to_target[quantity].add(repetition, value)
                if between:
                    brackets[quantity].add(repetition, *between[quantity])
        for metric in dict.fromkeys((*history.metrics, *metrics)):
            floor = find_floor(history, metric)
            for quantity, value in _ends(history, metric, ends.get(repetition)):
                values[quantity].add(repetition, value)
                if 0 <= value < floor:
                    brackets[quantity].add(repetition, 0.0, floor)
    seen = {quantity: found for quantity, found in {**values, **to_target}.items() if found}
    return Sample("optimizer", seen, brackets=dict(brackets), arrivals=arrivals)


def _ends(history: History, metric: str, done: float | None) -> Iterator[tuple[str, float]]:
    """Yield where a run ends, and where it was when the reference was done; infinity where it is unknown."""
    curve = history.budgeted(metric)
    yield metric, curve.final if curve is not None and history.finished else math.inf
    if done is not None:
        then = value_at(curve, "seconds", np.array([done])) if curve is not None else [math.inf]
        yield metric + WHEN_DONE, float(then[0])


def _to_target(arrival: Arrival) -> Iterator[tuple[str, float]]:
    """Yield what a run took to the target, as far as it is known; infinity where it never arrived."""
    for quantity in TO_TARGET:
        name = quantity.removesuffix("_to_target")
        value = getattr(arrival, name)
        if value is not None and (name != "cost" or arrival.counted):
            yield quantity, value if arrival.reached else math.inf


def first_to_arrive(
    groups: Mapping[Cell, Sequence[History]], wanted: Cell, targets: Sequence[Target]
) -> Cell:
    """Return the wanted reference, or, where it never meets the target and several others do, one of those.

    The first in the suite's order that always does, or that ever does: ratios to the fastest, which chance
    helped to be it, would be too large.
    """
    if not targets:
        return wanted

    def arrivals(cell: Cell) -> Iterator[bool]:
        return (
            _arrival(each, targets)[0].reached for each in groups[cell] if each.metrics and not each.skipped
        )

    if len(groups) < 3 or any(arrivals(wanted)):
        return wanted
    found = [cell for cell in groups if any(arrivals(cell))]
    if len(found) < 2:
        return wanted
    return next((cell for cell in found if all(arrivals(cell))), found[0])


def _arrival(history: History, targets: Sequence[Target]) -> tuple[Arrival, Brackets]:
    """Return when a run met the target within its budget, also where it broke later.

    With it, where it was reached between two looks, the two numbers between which each of its own lies.
    """
    outcome, spent = history.outcome, history.spent
    counted = outcome.counting is not Counting.UNCOUNTED
    curves = {metric: curve for metric in history.metrics if (curve := history.budgeted(metric))}
    hit = _first_hit(curves, targets)
    if math.isfinite(hit.iterations):
        return _place(curves, targets, hit, counted=counted)
    if math.isfinite(_first_hit(history.curves, targets).iterations):
        spent = _last_look(curves[targets[0].metric])  # what came later did not count
    broken = outcome.status in _BROKEN
    ended = Arrival(
        spent.seconds, spent.cost, spent.iterations, spent.cpu_seconds, False, broken=broken, counted=counted
    )
    return ended, {}


def _last_look(curve: Curve) -> Spent:
    used = None if curve.cpu_seconds is None else float(curve.cpu_seconds[-1])
    return Spent(float(curve.iterations[-1]), float(curve.seconds[-1]), float(curve.cost[-1]), used)


def _place(
    curves: Mapping[str, Curve], targets: Sequence[Target], hit: Hit, *, counted: bool
) -> tuple[Arrival, Brackets]:
    """Return an arrival that was seen at a look, placed between this and the one before."""
    found = [curves[target.metric] for target in targets]
    place = place_arrival(found, [target.value for target in targets], hit.iterations)
    first = found[0]
    axes = {"seconds": first.seconds, "cost": first.cost, "iterations": first.iterations}
    if first.cpu_seconds is not None:
        axes["cpu_seconds"] = first.cpu_seconds
    at = {name: place.value(along) for name, along in axes.items()}
    ends = {} if place.earliest == 1 else {name: place.bracket(along) for name, along in axes.items()}
    between = {f"{name}_to_target": each for name, each in ends.items()}
    used = at.get("cpu_seconds")
    return Arrival(at["seconds"], at["cost"], at["iterations"], used, True, counted=counted), between


def _first_hit(curves: Mapping[str, Curve], targets: Sequence[Target]) -> Hit:
    if any(target.metric not in curves for target in targets):
        return NEVER
    return time_to_all([curves[target.metric] for target in targets], [target.value for target in targets])


def _estimator_values(curves: Mapping[str, Curve]) -> dict[str, float]:
    """Return the final values of one trial."""
    named = ("bias", "variance", "worst_variance", "mse")
    found = {name: curves[name].final for name in named if name in curves}
    if found.get("variance") == 0 and found.get("bias") == 0:
        found["mse"] = 0.0  # what is left is rounding, as in the other two, and would have ratios
    if "variance" not in curves or curves["variance"].iterations[-1] <= 0:
        return found
    last = curves["variance"]
    seconds, setup_seconds = _a_draw(last.iterations, last.seconds)
    cost, setup_cost = _a_draw(last.iterations, last.cost)
    found |= {"seconds_per_draw": seconds, "cost_per_draw": cost, "setup_cost": setup_cost}
    found["setup_seconds"] = setup_seconds
    found |= {f"{name}_x_seconds": found[name] * seconds for name in ("variance", "mse") if name in found}
    if last.cpu_seconds is not None:
        used, setup_used = _a_draw(last.iterations, last.cpu_seconds)
        found |= {"cpu_seconds_per_draw": used, "setup_cpu_seconds": setup_used}
        found |= {
            f"{name}_x_cpu_seconds": found[name] * used for name in ("variance", "mse") if name in found
        }
    return found


def _moments(curves: Mapping[str, Curve]) -> Moments | None:
    """Return what one trial recorded about the squares of its draws; None with too few draws to know."""
    if any(name not in curves for name in ("variance", "variance_std_error", "variance_skewness")):
        return None
    last = curves["variance"]
    return Moments(
        last.final,
        curves["variance_std_error"].final,
        curves["variance_skewness"].final,
        int(last.iterations[-1]),
    )


def _a_draw(draws: Values, spent: Values) -> tuple[float, float]:
    """Return what a further draw takes, and what was spent once, before or in the first draws.

    From the first measured point to the last: an estimator that prepares something for all its draws, such as
    the full gradient at an anchor, would otherwise look the dearer the fewer draws the suite asks for.
    """
    if len(draws) < 2 or draws[-1] == draws[0]:
        return float(spent[-1] / draws[-1]), 0.0
    each = float((spent[-1] - spent[0]) / (draws[-1] - draws[0]))
    return each, max(0.0, float(spent[0] - each * draws[0]))


def _kernel_intervals(curves: Mapping[str, Curve]) -> dict[str, Interval]:
    """Return the medians over the blocks of one trial, with their intervals."""
    intervals = {name: median_interval(curve.values) for name, curve in curves.items()}
    calls = curves.get("seconds_per_call")
    if calls is not None and calls.cpu_seconds is not None:
        used = np.diff(calls.cpu_seconds, prepend=0.0) / np.diff(calls.cost, prepend=0.0)
        intervals["cpu_seconds_per_call"] = median_interval(used)
    return intervals
