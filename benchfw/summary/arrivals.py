"""Where the trials of an optimizer end, and when they met the target: many trials at a time."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np

from benchfw.analysis.convergence import Floats, has_begun, value_range
from benchfw.analysis.stacks import Booleans, Integers, Stack, first_hits, place_arrivals
from benchfw.records import Cell, Ending, Status
from benchfw.summary.columns import Columns, numbers, pairs
from benchfw.summary.histories import (
    History,
    budgeted_curves,
    find_ends,
    in_batches,
    last_seconds,
    stack_curves,
    stack_spent,
)
from benchfw.summary.model import Target
from benchfw.summary.noise import quiet_seconds
from benchfw.summary.quantities import BROKEN, COUNTED, REACHED, TIMED, TO_TARGET, Arrival, Sample

# more time would not have helped: a run that timed out was merely cut short
_BROKEN = frozenset({Status.DIVERGED, Status.OUT_OF_MEMORY, Status.CRASHED, Status.FAILED})

_SPENT, _POINT = [1, 2, 0, 3], [1, 2, 0, 4]  # where seconds, cost, iterations and CPU seconds are


class _Found(NamedTuple):
    """What is collected from one batch of trials after another."""

    values: dict[str, Columns[float]]
    to_target: dict[str, Columns[float]]
    brackets: dict[str, Columns[tuple[float, float]]]
    arrivals: Columns[Arrival]


def sample_optimizer(
    histories: Sequence[History],
    targets: Sequence[Target],
    metrics: Sequence[str],
    by: float = 1.0,
    cpu_by: float = 1.0,
) -> Sample:
    """Return ends and arrivals. A trial that broke has no end and, unless it had been there, no arrival.

    One whose records are untrue has neither. Leaving them out would flatter the method: both are infinite.
    On a machine that was slower `by` a factor, the end of a budget of seconds is one of those values between
    which it would be on a quiet machine.
    """
    if not any(history.metrics for history in histories):
        return Sample("optimizer")  # it gave no number at all: its faults say why
    found = _Found(
        defaultdict(numbers),
        {quantity: numbers() for quantity in TO_TARGET},
        defaultdict(pairs),
        Columns(Arrival.of, len(Arrival._fields)),
    )
    for some in in_batches(each for each in histories if not each.skipped):
        if targets:
            _add_arrivals(found, some, targets)
        layouts = {id(each.layout): each.metrics for each in some}
        for metric in dict.fromkeys(
            (*some[0].metrics, *metrics, *(name for each in layouts.values() for name in each))
        ):
            _add_ends(found, some, metric, by, cpu_by, asked=metric in metrics)
    seen = {quantity: each for quantity, each in {**found.values, **found.to_target}.items() if each}
    gains = next(frozenset(each.gains) for each in histories if each.metrics)
    return Sample("optimizer", seen, brackets=dict(found.brackets), arrivals=found.arrivals, gains=gains)


def first_to_arrive(
    groups: Mapping[Cell, Sequence[History]], wanted: Cell, targets: Sequence[Target]
) -> Cell:
    """Return the wanted reference, or, where it never meets the target and several others do, one of those.

    The first in the suite's order that always does, or that ever does: ratios to the fastest, which chance
    helped to be it, would be too large.
    """

    def arrivals(cell: Cell) -> Iterator[bool]:
        for some in in_batches(each for each in groups[cell] if each.metrics and not each.skipped):
            whole = [each for each in some if _measured(each, targets)]
            yield from [False] * (len(some) - len(whole))
            if whole:
                yield from _first_hits(_budgeted(whole, targets), targets)[0].tolist()

    if not targets or len(groups) < 3 or any(arrivals(wanted)):
        return wanted
    found = [cell for cell in groups if any(arrivals(cell))]
    if len(found) < 2:
        return wanted
    return next((cell for cell in found if all(arrivals(cell))), found[0])


def _measured(history: History, targets: Sequence[Target]) -> bool:
    """Return whether a history tells when a trial met the targets."""
    return not history.untrue and all(target.metric in history.layout["metric"] for target in targets)


def _budgeted(histories: Sequence[History], targets: Sequence[Target]) -> list[Stack]:
    return [budgeted_curves(histories, target.metric) for target in targets]


def _first_hits(stacks: Sequence[Stack], targets: Sequence[Target]) -> tuple[Booleans, Integers]:
    return first_hits(stacks, [target.level for target in targets])


def _add_arrivals(found: _Found, histories: Sequence[History], targets: Sequence[Target]) -> None:
    """Add when runs met the target within their budget, also where they broke later.

    Where it was reached between two looks, also the two numbers between which each of its own lies.
    """
    repetitions = np.array([each.repetition for each in histories])
    arrivals = np.zeros((len(histories), len(Arrival._fields)))
    arrivals[:, :4] = stack_spent(histories)[:, _SPENT]
    arrivals[:, BROKEN] = [each.outcome.status in _BROKEN for each in histories]
    arrivals[:, COUNTED] = [each.outcome.counting.measures for each in histories]
    arrivals[:, TIMED] = [each.outcome.ending is Ending.SECONDS for each in histories]
    ends = np.full((len(histories), 4, 2), math.nan)
    between = np.zeros(len(histories), dtype=np.bool_)
    measured = np.flatnonzero([_measured(each, targets) for each in histories])
    if len(measured):
        whole = [histories[each] for each in measured.tolist()]
        stacks = _budgeted(whole, targets)
        hit, at = _first_hits(stacks, targets)
        late = ~hit & _first_hits([stack_curves(whole, each.metric) for each in targets], targets)[0]
        arrivals[measured[late], :4] = stacks[0].lasts[_POINT][:, late].T  # what came later did not count
        places = place_arrivals(stacks, [target.level for target in targets], at[hit])
        arrived, axes = measured[hit], stacks[0].points[_POINT]
        arrivals[arrived, :4] = np.transpose([places.values(along) for along in axes])
        arrivals[arrived, REACHED], arrivals[arrived, BROKEN] = True, False
        ends[arrived] = np.transpose([places.brackets(along) for along in axes], (2, 0, 1))
        between[arrived] = places.earliest != 1
    found.arrivals.extend(repetitions, arrivals)
    reached, counted = arrivals[:, REACHED] == 1, arrivals[:, COUNTED] == 1
    unknown = {"cost_to_target": ~counted, "cpu_seconds_to_target": np.isnan(arrivals[:, 3])}
    for number, quantity in enumerate(TO_TARGET):
        known = ~unknown.get(quantity, np.zeros_like(reached))
        values = np.where(reached, arrivals[:, number], math.inf)
        found.to_target[quantity].extend(repetitions[known], values[known])
        _add_brackets(found, quantity, repetitions, ends[:, number], known & between)


def _add_brackets(found: _Found, quantity: str, repetitions: Integers, ends: Floats, which: Booleans) -> None:
    if np.any(which):
        found.brackets[quantity].extend(repetitions[which], ends[which])


def _add_ends(
    found: _Found,
    histories: Sequence[History],
    metric: str,
    by: float,
    cpu_by: float,
    *,
    asked: bool,
) -> None:
    """Add where runs end; infinity where it is unknown. One below a floor lies between 0 and that."""
    has = np.array([metric in each.layout["metric"] for each in histories])
    finished = np.array([each.finished for each in histories])
    last, floors = np.full(len(histories), math.inf), np.zeros(len(histories))
    if np.any(has):
        _, last[has], floors[has] = find_ends(list(compress(histories, has)), metric)
    repetitions, given = np.array([each.repetition for each in histories]), has | asked
    last = np.where(finished, last, math.inf)
    if not np.any(given):
        return
    found.values[metric].extend(repetitions[given], last[given])
    ranges = [_range_at_end(each, metric, by, cpu_by) if by > 1 else None for each in histories]
    ends = np.array([each or (value, value) for each, value in zip(ranges, last, strict=True)])
    tiny = (last >= 0) & (last < floors)
    ends[tiny] = np.transpose([np.zeros_like(floors), np.maximum(floors, ends[:, 1])])[tiny]
    _add_brackets(found, metric, repetitions, ends, given & (ends[:, 0] < ends[:, 1]))


def _range_at_end(history: History, metric: str, by: float, cpu_by: float) -> tuple[float, float] | None:
    """Return the least and the greatest value since the time that the run had for sure, if that ended it."""
    curve = history.budgeted(metric)
    if curve is None or history.outcome.ending is not Ending.SECONDS:
        return None
    used = curve.cpu_seconds if history.outcome.device else None
    end = float(curve.seconds[-1])
    return value_range(curve, quiet_seconds(end, None if used is None else float(used[-1]), by, cpu_by), end)


def others_have_begun(groups: Mapping[Cell, Sequence[History]], reference: Cell) -> bool:
    """Return whether the reference ends by itself, and another method has an answer by then."""
    ends = last_seconds(groups[reference])
    for cell, group in groups.items():
        for each in group if ends and cell != reference else ():
            curve = each.budgeted(each.metrics[0]) if each.metrics else None
            if curve is not None and has_begun(curve, ends.get(each.repetition, -math.inf)):
                return True
    return False
