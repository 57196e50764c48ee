"""From samples and curves to the numbers that claims are about; a text says why there is none."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from benchfw.analysis.convergence import ROUNDING, has_begun, value_at, value_range
from benchfw.analysis.estimates import Estimate, Largest, Mean, Measured, Runs, Share
from benchfw.analysis.evidence import PairedLogs, PairedSigns
from benchfw.analysis.intervals import Floats, Interval
from benchfw.analysis.pairing import pair_brackets, pair_differences
from benchfw.analysis.rates import Law, fit_law
from benchfw.claims import Looks, Range
from benchfw.summary.columns import pair_values
from benchfw.summary.draws import SPREADS, DrawSample
from benchfw.summary.histories import History, find_ends
from benchfw.summary.quantities import Sample

Found: TypeAlias = Estimate | str

FEW_DRAWS = "too few of its draws carry the variance"


def estimate_ratio(mine: Sample, theirs: Sample, quantity: str) -> Found:
    """Return the ratio of a quantity of two methods, run by run."""
    missing = _missing(mine, theirs, quantity)
    if missing:
        return missing
    shared, *pairs = pair_values(mine.values[quantity], theirs.values[quantity])
    if not mine.has_ratio(quantity, [*pairs[0], *pairs[1]]):
        return "it can be negative, and so has no ratio; claim a difference"
    if quantity in SPREADS and isinstance(mine, DrawSample):
        evidence = mine.evidence(theirs, quantity)
        if not isinstance(evidence, PairedLogs):
            return FEW_DRAWS
    else:
        evidence = pair_brackets(*mine.pair_ends(theirs, quantity, shared), (pairs[0], pairs[1]))
    if not isinstance(evidence, PairedLogs | PairedSigns):
        return "in no run does either of the two get there"
    middle = _middle(evidence.low, evidence.high) if evidence.middle is None else evidence.middle
    whole = len(shared) == evidence.count
    return Runs(evidence.low, evidence.high, middle, repetitions=tuple(shared) if whole else ())


def estimate_difference(mine: Sample, theirs: Sample, quantity: str) -> Found:
    """Return the difference of a quantity of two methods, run by run, as it was measured."""
    missing = _missing(mine, theirs, quantity)
    if missing:
        return missing
    shared, *pairs = pair_values(mine.values[quantity], theirs.values[quantity])
    found = pair_differences(*pairs)
    if found is None:
        return "some run has no value"
    own_low, own_high, low, high = map(np.array, mine.pair_ends(theirs, quantity, shared))
    ends = np.minimum(own_low - high, found.low), np.maximum(own_high - low, found.high)
    middle = (found.low + found.high) / 2
    # numbers that are known exactly differ by nothing more than rounding
    seen = (own_low == own_high) & (low == high)
    least, most = (np.where(seen, middle, each) for each in ends)
    if mine.is_gain(quantity):
        least, most, middle = -most, -least, -middle
    return Runs(least, most, middle, logs=False, repetitions=tuple(shared))


def sample_at(sample: Sample, trials: Sequence[History], metric: str, seconds: Mapping[int, float]) -> Sample:
    """Return a sample of the values that a metric had at some second of each repetition.

    A run that has made no step by then has nothing but the start, which is everybody's, and does not count.
    Where the machine was slower by a factor, so much earlier or later may the other run have come there.
    """
    values: dict[int, float] = {}
    brackets: dict[int, tuple[float, float]] = {}
    for each in trials:
        second, curve = seconds.get(each.repetition), each.budgeted(metric)
        if second is None or each.skipped or (curve is not None and not has_begun(curve, second)):
            continue
        if curve is None:  # it broke before it gave a value
            values[each.repetition] = math.inf
            continue
        value = float(value_at(curve, "seconds", np.array([second]))[0])
        slower = 1.0 if each.spent.seconds == second else sample.slowdown  # at its own end it ended
        low, high = value_range(curve, second / slower, second * slower)
        floor = float(find_ends([each], metric)[2, 0])
        low, high = (0.0, max(floor, high)) if 0 <= value < floor else (low, high)
        values[each.repetition], brackets[each.repetition] = value, (low, high)
    return replace(sample, values={metric: values} if values else {}, brackets={metric: brackets})


def estimate_value(sample: Sample, quantity: str) -> Found:
    """Return a quantity of one method over its runs."""
    if quantity not in sample.values:
        return _lacks(sample, quantity)
    if isinstance(sample, DrawSample) and quantity in SPREADS:
        return Measured(lambda level: sample.spread_interval(quantity, level), len(sample.values[quantity]))
    if isinstance(sample, DrawSample) and quantity == "bias":
        return Measured(sample.bias_interval, len(sample.values["bias"]))
    ends = sample.find_brackets(quantity)
    values = dict(sample.values[quantity].items())
    low, high, middle = (
        np.array(each, dtype=np.float64)
        for each in zip(*((*ends[one], value) for one, value in values.items()), strict=True)
    )
    if sample.is_gain(quantity):
        low, high, middle = -high, -low, -middle
    logs = bool(np.all(low >= 0)) and bool(np.any(high > 0)) and not sample.is_gain(quantity)
    if logs:
        with np.errstate(divide="ignore"):
            low, high, middle = np.log(low), np.log(high), np.log(middle)
    return Runs(low, high, middle, logs=logs, repetitions=tuple(values))


def estimate_bias(sample: Sample) -> Found:
    """Return the bias of an estimator in standard deviations of one draw."""
    if not isinstance(sample, DrawSample) or "bias" not in sample.values or sample.pool is None:
        return "its bias is not known; the problem must know the exact value"
    deviation = math.sqrt(float(sample.pool.variance))
    biases = np.array(list(sample.values["bias"].values()))
    if deviation == 0:
        size = math.copysign(math.inf, float(np.sum(biases))) if np.any(biases) else 0.0
        return Measured(lambda _: Interval(size, size, size, len(biases)), len(biases))
    if not sample.pool.broad:
        return FEW_DRAWS

    return Measured(lambda level: sample.bias_interval(level).scaled(1 / deviation), len(biases))


def estimate_arrivals(sample: Sample, *, every: bool, wanted: bool) -> Found:
    """Return the share of runs that reach the target; those cut short on a busy machine might have."""
    some, runs = sample.reached
    return Share(some, runs, every, wanted, sample.unsure) if runs else "no run of it was started"


def find_bounded(trials: Sequence[History]) -> str:
    """Return the first metric that a theorem bounds; nothing where there is none."""
    return next((name for each in trials for name in each.bounded), "")


def estimate_bound(trials: Sequence[History], metric: str, *, every: bool) -> tuple[Found, Looks | None]:
    """Return how runs keep to their theorem's bound, and how many of their looks are above it.

    In every run: the share of runs that do. In the mean: the largest ratio to the bound that the mean of the
    runs has at some look. A run that was cut short by a fault may break the bound, and does not show that it
    is kept; one whose values are not finite is above it.
    """
    started = [each for each in trials if not each.skipped]
    curves = {
        each.repetition: _ratios_to_bound(each, metric)
        for each in started
        if metric in each.bounded and metric in each.metrics and not each.untrue
    }
    curves = {repetition: found for repetition, found in curves.items() if found}
    broken = _unfinished(started)
    if not curves:
        return broken or "no theorem bounds it here", None
    if every:
        kept = sum(max(found.values()) <= 1 for found in curves.values())
        if kept == len(curves) and broken:
            return broken, None
        ratios = [ratio for found in curves.values() for ratio in found.values()]
        return Share(kept, len(curves), every=True), _count_looks(ratios)
    if broken:
        return broken, None
    shared = set.intersection(*(set(found) for found in curves.values()))
    parts = []
    for look in sorted(shared):
        values = np.array([found[look] for found in curves.values()])
        parts.append(Mean(values, values, values, logs=False))
    if not parts:
        return "its runs have no look in common", None
    return Largest(tuple(parts)), _count_looks([float(np.mean(each.middle)) for each in parts])


def _count_looks(ratios: Sequence[float]) -> Looks:
    return Looks(sum(ratio > 1 for ratio in ratios), len(ratios), max(ratios))


def _ratios_to_bound(history: History, metric: str) -> dict[int, float]:
    """Return the ratio of a metric to its bound at each look; 1 at most where rounding decides.

    The start is not looked at: theorems are about what comes after it.
    """
    curve, bound = history.curve(metric), history.curve(metric, "bound")
    if curve is None or bound is None:
        return {}
    limits = dict(zip(bound.iterations.tolist(), bound.values.tolist(), strict=True))
    floor = ROUNDING * float(np.max(np.abs(curve.values[np.isfinite(curve.values)]), initial=0.0))
    found: dict[int, float] = {}
    for look, value in zip(curve.iterations.tolist(), curve.values.tolist(), strict=True):
        limit = limits.get(look, math.nan)
        if look > 0 and math.isfinite(limit):
            kept = value - limit <= floor
            ratio = value / limit if limit > 0 else 0.0 if kept else math.inf
            found[int(look)] = min(ratio, 1.0) if kept else ratio
    if found and history.diverged:  # where it was not finite it has no value
        found[max(found) + 1] = math.inf
    return found


def estimate_rate(trials: Sequence[History], metric: str, law: Law, inside: Range) -> Found:
    """Return the exponent of a power of the iterations, or the factor that an iteration brings.

    Where the curve bends, it lies between the slopes of its two halves; then the law does not apply, and
    it may be below or above something, but not within two ends.
    """
    started = [each for each in trials if not each.skipped]
    broken = _unfinished(started)
    if broken:
        return broken
    fit = fit_law(filter(None, (each.curve(metric) for each in started)), law)
    if not fit.runs:
        return f"the curves of {metric or 'its metrics'} are too short for a slope"
    short = len(started) - len(fit.slopes)
    if short:  # often those of the fastest runs: the others alone would mislead
        return f"{short} of its {len(started)} curves of {metric} are too short for a slope"
    slopes = np.array(fit.slopes)
    low = high = 0.0
    if fit.bends():
        if inside.two_ended:
            return f"the curve bends: its slope goes from {fit.halves[0]:.2g} to {fit.halves[1]:.2g}"
        mean = fit.slope.estimate
        low, high = min(*fit.halves, mean) - mean, max(*fit.halves, mean) - mean
    order = tuple(each.repetition for each in started)
    return Runs(slopes + low, slopes + high, slopes, law == "linear", repetitions=order)


def _unfinished(trials: Sequence[History]) -> str:
    """Return that some runs were cut short: the others alone would flatter their method."""
    broken = sum(not each.finished for each in trials)
    return f"{broken} of its {len(trials)} runs did not finish" if broken else ""


def average(parts: Mapping[str, Runs]) -> Found:
    """Return the mean over problems of what each run gave, on the scale on which runs are judged."""
    given = list(parts.values())
    if not all(each.repetitions for each in given):
        return "on some problem, some run has no value"
    shared = set.intersection(*(set(each.repetitions) for each in given))
    order = tuple(one for one in given[0].repetitions if one in shared)

    def mean(pick: Callable[[Runs], Floats]) -> Floats:
        rows = [dict(zip(each.repetitions, pick(each).tolist(), strict=True)) for each in given]
        with np.errstate(invalid="ignore"):
            found: Floats = np.mean([[row[one] for one in order] for row in rows], axis=0)
        return found

    low, high, middle = (
        mean(lambda each: each.low),
        mean(lambda each: each.high),
        mean(lambda each: each.middle),
    )
    if len({each.logs for each in given}) > 1 or np.any(np.isnan([low, high])):
        return "the values on some problem cannot be averaged with the others"
    return Runs(low, high, middle, given[0].logs, order)


def _missing(mine: Sample, theirs: Sample, quantity: str) -> str:
    lacking = next((each for each in (mine, theirs) if quantity not in each.values), None)
    return "" if lacking is None else _lacks(lacking, quantity)


def _lacks(sample: Sample, quantity: str) -> str:
    if not sample.values:
        return "no run of it gave a number"
    if sample.on_device and "cpu_seconds" in quantity:
        return "on a device, CPU seconds are those of the host and are not compared; claim seconds"
    return f"no run gave its {quantity.replace('_', ' ')}"


def _middle(low: Floats, high: Floats) -> Floats:
    """Return the middle of brackets; of those with one end, that end."""
    with np.errstate(invalid="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(low) & ~np.isfinite(high), low, middle)
    middle = np.where(np.isfinite(high) & ~np.isfinite(low), high, middle)
    return np.where(np.isnan(middle), 0.0, middle)
