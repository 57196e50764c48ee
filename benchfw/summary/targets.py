"""What a comparison of optimizers is about: its metrics, its targets, and when the reference was done."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, TypeAlias

import numpy as np

from benchfw.analysis.convergence import Curve, Floats, automatic_target, none_improves, rounding_floor
from benchfw.contract import clip_gap
from benchfw.records import GAP, OBJECTIVE, Cell, Ending, Trial
from benchfw.summary.histories import History
from benchfw.summary.model import Target

BestKnown: TypeAlias = Callable[[Trial], Mapping[int, float]]
"""Takes a trial; returns the lowest objective of its problem that a store has, by repetition."""


def metric_names(histories: Iterable[History]) -> tuple[str, ...]:
    """Return the measured metrics, the primary one first; those of faulty trials where no other has any."""
    names: dict[str, None] = {}
    for history in histories:
        if not names or not history.outcome.status.faulty:
            names.update(dict.fromkeys(history.metrics))
    return tuple(names)


def with_gaps(
    groups: Mapping[Cell, Sequence[History]], best_known: BestKnown
) -> tuple[dict[Cell, list[History]], Literal["", "given", "run", "store"]]:
    """Return the trials with the gap that their target names, where their problem does not know its optimum.

    It is then the distance to the best objective of the same repetition: the one that the suite gives, or the
    lowest that any trial has seen, in this run or, by `best_known`, in another one; the word says which.
    """
    trials = [each for group in groups.values() for each in group if OBJECTIVE in each.metrics]
    if not any(GAP in each.trial.target for each in trials) or any(GAP in each.metrics for each in trials):
        return {cell: list(group) for cell, group in groups.items()}, ""
    given, found = trials[0].trial.best, dict[int, float]()
    for each in trials:
        values = each.curves[OBJECTIVE].values
        lowest = float(np.min(values, where=np.isfinite(values), initial=math.inf))
        found[each.repetition] = min(lowest, found.get(each.repetition, math.inf))
    elsewhere = best_known(trials[0].trial) if given is None else {}
    lower = {one: value for one, value in elsewhere.items() if value < found.get(one, -math.inf)}
    best = dict.fromkeys(found, given) if given is not None else {**found, **lower}
    return {
        cell: [
            _with_gap(each, best[each.repetition]) if OBJECTIVE in each.metrics else each for each in group
        ]
        for cell, group in groups.items()
    }, "given" if given is not None else "store" if lower else "run"


def _with_gap(history: History, best: float) -> History:
    curve = history.curves[OBJECTIVE]
    gaps = np.array([clip_gap(value - best, best) for value in curve.values])
    gap = Curve(curve.iterations, curve.seconds, curve.cost, gaps, curve.cpu_seconds)
    return history.with_curve(GAP, gap)


def choose_targets(methods: Sequence[Sequence[History]]) -> tuple[Target, ...]:
    """Return the suite's targets, or one for the primary metric from where the methods' trials end."""
    first = next((each for group in methods for each in group if each.metrics), None)
    if first is None:
        return ()
    named = [(metric, value) for metric, value in first.trial.target.items() if metric in first.metrics]
    if named:
        return tuple(Target(metric, value) for metric, value in named)
    primary = first.metrics[0]
    ends = [_first_and_last(group, primary) for group in methods]
    floors = (find_floor(each, primary) for group in methods for each in group if each.finished)
    value = automatic_target(ends, max(floors, default=0.0))
    if math.isnan(value):
        return ()
    return (Target(primary, value, automatic=True, improved=not none_improves(ends)),)


def find_floor(history: History, metric: str) -> float:
    """Return the value of a metric below which rounding decides; a gap is a difference of objectives."""
    curve = history.budgeted(metric)
    if curve is None:
        return 0.0
    whole = history.budgeted(OBJECTIVE) if metric == GAP else None
    return rounding_floor(curve, 0.0 if whole is None else whole.final)


def _first_and_last(histories: Iterable[History], metric: str) -> Floats:
    """Return the first and the last value of a metric in each run that finished: (runs, 2)."""
    found = array("d")
    for history in histories:
        curve = history.budgeted(metric) if history.finished else None
        if curve is not None:
            found.extend((curve.values[0], curve.final))
    return np.array(found).reshape(-1, 2)


def last_seconds(reference: Sequence[History]) -> dict[int, float]:
    """Return when the reference ended, by repetition, where it did so by itself in all of its trials."""
    if not all(each.outcome.ending is Ending.BY_ITSELF for each in reference):
        return {}
    return {each.repetition: each.spent.seconds for each in reference}
