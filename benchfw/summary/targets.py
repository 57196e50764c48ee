"""What a comparison of optimizers is about: its metrics and its targets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from benchfw.analysis.convergence import Floats, automatic_target, none_improves
from benchfw.records import GAP, OBJECTIVE, Cell, Ending, Trial
from benchfw.summary.histories import History, add_gap, find_ends, in_batches
from benchfw.summary.model import Target

BestKnown: TypeAlias = Callable[[Trial], Mapping[int, float]]
"""Takes a trial; returns the best objective of its problem that a store has, by repetition."""


def metric_names(histories: Iterable[History]) -> tuple[str, ...]:
    """Return the measured metrics, the primary one first; those of faulty trials where no other has any."""
    names: dict[str, None] = {}
    for history in histories:
        if not names or not history.outcome.status.faulty:
            names.update(dict.fromkeys(history.metrics))
    return tuple(names)


class Gaps(NamedTuple):
    """Trials with gaps: where the best objective comes from, and which methods ended there while it fell."""

    groups: dict[Cell, list[History]]
    source: Literal["", "given", "run", "store"] = ""
    falling: tuple[Cell, ...] = ()


def with_gaps(groups: Mapping[Cell, Sequence[History]], best_known: BestKnown) -> Gaps:
    """Return the trials with the gap that their target names, where their problem does not know its optimum.

    It is then the distance to the best objective of the same repetition: the one that the suite gives, or the
    best that any trial has seen, in this run or, by `best_known`, in another one; the source says which.
    """
    measured = (each for group in groups.values() for each in group if not each.untrue)
    trials = [each for each in measured if OBJECTIVE in each.metrics]
    if not any(GAP in each.trial.target for each in trials) or any(GAP in each.metrics for each in trials):
        return Gaps({cell: list(group) for cell, group in groups.items()})
    sign = -1 if OBJECTIVE in trials[0].gains else 1
    given, found, lowest = trials[0].trial.best, dict[int, float](), dict[int, History]()
    for each in trials:
        least = lowest_objective(each)
        if least < found.get(each.repetition, math.inf):
            lowest[each.repetition] = each
        found[each.repetition] = min(least, found.get(each.repetition, math.inf))
    elsewhere = best_known(trials[0].trial) if given is None else {}
    lower = {
        one: sign * value for one, value in elsewhere.items() if sign * value < found.get(one, -math.inf)
    }
    best = dict.fromkeys(found, sign * given) if given is not None else {**found, **lower}
    falling = {each.trial.cell for one, each in lowest.items() if best[one] == found[one] and _falls(each)}
    return Gaps(
        {
            cell: [
                add_gap(each, best[each.repetition])
                if each.repetition in best and OBJECTIVE in each.metrics
                else each
                for each in group
            ]
            for cell, group in groups.items()
        },
        "given" if given is not None else "store" if lower else "run",
        tuple(cell for cell in groups if cell in falling) if given is None else (),
    )


def lowest_objective(history: History) -> float:
    """Return the lowest finite objective of a trial that has one, infinity without; gains are negated."""
    values = history.curves[OBJECTIVE].values
    return float(np.min(values, where=np.isfinite(values), initial=math.inf))


def _falls(history: History) -> bool:
    """Return whether a trial that did not end by itself was still falling.

    It was if its last tenth of looks, at least one, lowered the objective by more than the target's gap.
    """
    values = history.curves[OBJECTIVE].values
    before = values[-1 - max(1, len(values) // 10)] if len(values) > 1 else math.nan
    ended = history.outcome.ending is Ending.BY_ITSELF
    return not ended and bool(before - values[-1] > history.trial.target[GAP])


def choose_targets(methods: Sequence[Sequence[History]]) -> tuple[Target, ...]:
    """Return the suite's targets, or one for the primary metric from where the methods' trials end."""
    first = next((each for group in methods for each in group if each.metrics), None)
    if first is None:
        return ()
    named = [(metric, value) for metric, value in first.trial.target.items() if metric in first.metrics]
    if named:
        return tuple(Target(metric, value, gain=metric in first.gains) for metric, value in named)
    primary = first.metrics[0]
    gain = primary in first.gains
    found = [_first_and_last(group, primary) for group in methods]
    ends = [each for each, _ in found]
    floor = max(floor for _, floor in found)
    level = automatic_target(ends, None if gain else floor)
    if math.isnan(level):
        return ()
    value, improved = -level if gain else level, not none_improves(ends)
    floored = automatic_target(ends, None) < level
    return (Target(primary, value, automatic=True, improved=improved, floored=floored, gain=gain),)


def _first_and_last(histories: Iterable[History], metric: str) -> tuple[Floats, float]:
    """Return the first and the last value of a metric in each run that finished, (runs, 2), and its floor."""
    ended = (each for each in histories if each.finished and metric in each.layout["metric"])
    found = [np.zeros((3, 0)), *(find_ends(some, metric) for some in in_batches(ended))]
    *ends, floors = np.concatenate(found, axis=1)
    return np.array(ends).T, float(np.max(floors, initial=0.0))
