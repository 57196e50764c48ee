"""From trials to samples: what one repetition says about each quantity."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from benchfw.analysis.convergence import Curve
from benchfw.analysis.draws import Moments, pool_moments, spread_interval
from benchfw.analysis.intervals import Interval, Values, median_interval
from benchfw.records import MethodKind, Outcome
from benchfw.summary.arrivals import sample_optimizer
from benchfw.summary.columns import Columns, numbers
from benchfw.summary.draws import DrawSample
from benchfw.summary.histories import History
from benchfw.summary.model import Target
from benchfw.summary.quantities import Sample

DRAW_COSTS = frozenset({"cost_per_draw", "setup_cost"})
INFINITE_VARIANCE = "infinite_variance"  # the fact by which an estimator says that its own is


def sample_trials(
    kind: MethodKind,
    histories: Sequence[History],
    targets: Sequence[Target],
    metrics: Sequence[str] = (),
    by: float = 1.0,
    cpu_by: float = 1.0,
) -> Sample:
    """Return the sample of one method's trials on one problem.

    `metrics` are those that a trial should have given. Ends of a budget of seconds allow for a machine that
    was slower by these factors, in time and in CPU seconds; for times that is `allow_for_noise`.
    """
    if kind == "estimator":
        sample = _sample_draws(histories)
    elif kind == "kernel":
        sample = _sample_kernel(histories)
    else:
        sample = sample_optimizer(histories, targets, metrics, by, cpu_by)
    facts: dict[str, Columns[float]] = defaultdict(numbers)
    for outcome, alike in groupby(histories, lambda each: each.outcome):  # most share it
        known = {**outcome.facts, **prepared_facts(outcome)}
        for history in alike if known else ():
            for name, value in known.items():
                facts[name].add(history.repetition, value)
    on_device = any(each.outcome.device for each in histories)
    return replace(sample, facts=dict(facts), on_device=on_device)


def prepared_facts(outcome: Outcome) -> dict[str, float]:
    """Return what `prepare` used, by the name of the quantity; empty where there was nothing to prepare."""
    found = {"prepare_seconds": outcome.prepare_seconds, "prepare_cost": outcome.prepare_cost}
    return {name: value for name, value in found.items() if value is not None}


def _sample_draws(histories: Sequence[History]) -> Sample:
    values: dict[str, Columns[float]] = defaultdict(numbers)
    moments: dict[int, Moments] = {}
    for history in histories:
        if not history.finished:
            continue
        found = _estimator_values(history.curves)
        if not history.outcome.counting.measures:
            found = {name: value for name, value in found.items() if name not in DRAW_COSTS}
        _add(values, history.repetition, found)
        seen = _moments(history.curves, finite=not history.outcome.facts.get(INFINITE_VARIANCE))
        if seen is not None:
            moments[history.repetition] = seen
    within = {
        "variance": {
            repetition: spread_interval([seen.variance], pool_moments([seen]))
            for repetition, seen in moments.items()
        }
    }
    return DrawSample("estimator", dict(values), within if moments else {}, moments=moments)


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


def _moments(curves: Mapping[str, Curve], *, finite: bool) -> Moments | None:
    """Return what one trial recorded about the squares of its draws; None with too few draws to know."""
    if any(name not in curves for name in ("variance", "variance_std_error", "variance_skewness")):
        return None
    last = curves["variance"]
    return Moments(
        last.final,
        curves["variance_std_error"].final,
        curves["variance_skewness"].final,
        int(last.iterations[-1]),
        finite,
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
