"""Trials as a summary keeps them: curves in the place of records, and how many ended how."""

from __future__ import annotations

import math
import struct
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import accumulate, compress, islice
from operator import attrgetter
from statistics import median
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchfw.analysis.convergence import Curve, Floats, curve_within, curves_by_metric, time_to_all
from benchfw.analysis.stacks import Stack
from benchfw.contract import clip_gap
from benchfw.records import (
    GAP,
    OBJECTIVE,
    Cell,
    Counting,
    Ending,
    Outcome,
    Record,
    Result,
    Role,
    Status,
    Trial,
    change,
)

_OWN = ("records", "seconds", "reads", "facts")
_shared = attrgetter("problem", "method", "seed", "budget", "target", "precision", "at", "best")
_alike = attrgetter(*(each.name for each in fields(Outcome) if each.name not in _OWN))
_SPENT = struct.Struct("4d")
MOST_ALIKE = 100  # outcomes and layouts that are remembered, for others that are equal

AT_ONCE = 1000  # trials in a batch

FINISHED = frozenset({Status.DONE, Status.REACHED})


class Spent(NamedTuple):
    """The largest position of any record of a trial, and the CPU seconds of its last one."""

    iterations: float = 0.0
    seconds: float = 0.0
    cost: float = 0.0
    cpu_seconds: float | None = None


class Place(NamedTuple):
    """Where the curve of a metric lies among the numbers of a trial: so many rows of so many points."""

    start: int
    rows: int
    points: int


Layout: TypeAlias = Mapping[Role, Mapping[str, Place]]


@dataclass(frozen=True, eq=False, slots=True)
class History:
    """A trial with curves in the place of its records, which would take several times the memory.

    `numbers` are what it spent and its curves, the theorem's among them, in one piece of memory; a curve is
    made when it is asked for. Those of gains are negated, so that lower is better in every curve. `trial` is
    the first of its cell, `outcome` that of a trial that ended alike, without records and seconds, and
    `layout` that of one with as many points: all three are shared.
    """

    repetition: int
    trial: Trial
    outcome: Outcome
    layout: Layout
    numbers: bytes

    @property
    def metrics(self) -> Sequence[str]:
        """Return the metrics that were measured, in the order in which they first appear."""
        return tuple(self.layout["metric"])

    @property
    def gains(self) -> Collection[str]:
        """Return the metrics of which higher is better."""
        return self.layout["gain"].keys()

    @property
    def bounded(self) -> Sequence[str]:
        """Return the metrics that a theorem is about."""
        return tuple(self.layout["bound"])

    def curve(self, metric: str, role: Role = "metric") -> Curve | None:
        """Return the curve of a metric, or the theorem's; None where there is none."""
        place = self.layout[role].get(metric)
        return None if place is None else Curve.of_block(self.numbers, *place)

    @property
    def curves(self) -> dict[str, Curve]:
        return {name: Curve.of_block(self.numbers, *place) for name, place in self.layout["metric"].items()}

    def with_curve(self, metric: str, curve: Curve) -> History:
        """Return the history with the curve of a further metric, which comes first."""
        place = Place(len(self.numbers), *curve.shape)
        layout: Layout = {**self.layout, "metric": {metric: place, **self.layout["metric"]}}
        return History(self.repetition, self.trial, self.outcome, layout, self.numbers + curve.block)

    @property
    def spent(self) -> Spent:
        iterations, seconds, cost, used = _SPENT.unpack_from(self.numbers)
        return Spent(iterations, seconds, cost, None if math.isnan(used) else used)

    @property
    def finished(self) -> bool:
        """Whether the trial ran to its end: estimates rest on those."""
        return self.outcome.status in FINISHED

    @property
    def untrue(self) -> bool:
        """Whether what the trial recorded is known to be untrue."""
        return self.outcome.ending is Ending.UNTRUE

    @property
    def diverged(self) -> bool:
        """Whether the trial ended because its answer was not finite."""
        return self.outcome.status is Status.DIVERGED

    @property
    def skipped(self) -> bool:
        """Whether the trial was never started, which says nothing about its method."""
        return self.outcome.status is Status.SKIPPED

    def budgeted(self, metric: str) -> Curve | None:
        """Return a metric's curve up to the trial's budget, without what a last step overspent."""
        budget, curve = self.trial.budget, self.curve(metric)
        return None if curve is None else curve_within(curve, budget.seconds, budget.cost)


def add_gap(history: History, best: float) -> History:
    """Return a trial that has an objective with its distance to the best one, as gains are negated."""
    curve = history.curves[OBJECTIVE]
    gaps = np.array([clip_gap(value - best, best) for value in curve.values])
    gap = Curve(curve.iterations, curve.seconds, curve.cost, gaps, curve.cpu_seconds)
    return history.with_curve(GAP, gap)


def in_batches(histories: Iterable[History]) -> Iterator[list[History]]:
    """Yield the trials in batches, whose curves are put end to end."""
    waiting = iter(histories)
    while some := list(islice(waiting, AT_ONCE)):
        yield some


def stack_curves(histories: Sequence[History], metric: str, role: Role = "metric") -> Stack:
    """Return the curves of a metric, or the theorem's, which all of the trials must have."""
    starts = accumulate((len(each.numbers) for each in histories), initial=0)
    places = [
        (before + place.start, place.rows, place.points)
        for before, place in zip(starts, (each.layout[role][metric] for each in histories), strict=False)
    ]
    return Stack.of_blocks(b"".join(each.numbers for each in histories), places)


def budgeted_curves(histories: Sequence[History], metric: str) -> Stack:
    """Return the curves of a metric up to the trials' budgets; all of the trials must have it."""
    budgets = [each.trial.budget for each in histories]
    return stack_curves(histories, metric).within(
        [each.seconds for each in budgets], [each.cost for each in budgets]
    )


def find_ends(histories: Sequence[History], metric: str) -> Floats:
    """Return the first and the last value of a metric, which all have, and its floor: (3, trials).

    Below the floor rounding decides; a gap is a difference of objectives. Gains have none.
    """
    curves = budgeted_curves(histories, metric)
    if metric in histories[0].gains:
        return np.array([curves.firsts[3], curves.lasts[3], np.zeros(len(histories))])
    sizes = np.zeros(len(histories))
    whole = [OBJECTIVE in each.layout["metric"] for each in histories] if metric == GAP else [False]
    if any(whole):
        measured = list(compress(histories, whole))
        sizes[np.array(whole)] = budgeted_curves(measured, OBJECTIVE).lasts[3]
    return np.array([curves.firsts[3], curves.lasts[3], curves.floors(sizes)])


def last_seconds(histories: Iterable[History]) -> dict[int, float]:
    """Return when the runs that finished ended, by repetition; empty unless all did so by themselves."""
    finished = [each for each in histories if each.finished]
    if not all(each.outcome.ending is Ending.BY_ITSELF for each in finished):
        return {}
    return {each.repetition: each.spent.seconds for each in finished}


def stack_spent(histories: Sequence[History]) -> Floats:
    """Return what trials spent, with NaN for CPU seconds that are not known: (trials, 4)."""
    return np.frombuffer(b"".join(each.numbers[: _SPENT.size] for each in histories)).reshape(-1, 4)


class Reader:
    """Makes histories of results, with what those of a cell have in common kept once."""

    def __init__(self) -> None:
        self._trials: dict[Cell, Trial] = {}
        self._outcomes: dict[tuple[Any, ...], Outcome] = {}
        self._layouts: dict[tuple[Any, ...], Layout] = {}

    def read(self, result: Result) -> History:
        """Return the history of a result; its metrics are in the order in which they first appear."""
        trial, gains = result.trial, gains_in(result.outcome.records)
        records = _up_to_arrival(result, gains)
        _, iterations, seconds, costs, _, roles, _ = zip(*records, strict=True) if records else [()] * 7
        curves: dict[Role, Mapping[str, Curve]] = {
            "metric": curves_by_metric(records, gains),
            "bound": curves_by_metric(records, gains, bounds=True) if "bound" in roles else {},
        }
        blocks = (each.block for some in curves.values() for each in some.values())
        spent = [max(each, default=0.0) for each in (iterations, seconds, costs)]
        last = records[-1].cpu_seconds if records else None
        return History(
            trial.repetition,
            self._share_trial(trial),
            self._share_outcome(result.outcome),
            self._share_layout(curves, gains),
            b"".join([_SPENT.pack(*spent, math.nan if last is None else last), *blocks]),
        )

    def _share_trial(self, trial: Trial) -> Trial:
        first = self._trials.setdefault(trial.cell, trial)
        return first if _shared(first) == _shared(trial) else trial

    def _share_outcome(self, outcome: Outcome) -> Outcome:
        key = (*_alike(outcome), *outcome.facts.items())
        if key not in self._outcomes:
            if len(self._outcomes) >= MOST_ALIKE:
                self._outcomes.clear()
            self._outcomes[key] = change(outcome, records=(), seconds=0.0, reads={})
        return self._outcomes[key]

    def _share_layout(self, curves: Mapping[Role, Mapping[str, Curve]], gains: frozenset[str]) -> Layout:
        shapes = [(role, name, *each.shape) for role, some in curves.items() for name, each in some.items()]
        key = (*shapes, gains)
        if key not in self._layouts:
            if len(self._layouts) >= MOST_ALIKE:
                self._layouts.clear()
            start = _SPENT.size
            layout: dict[Role, dict[str, Place]] = {role: {} for role in curves}
            for role, name, rows, points in shapes:
                layout[role][name] = Place(start, rows, points)
                start += 8 * rows * points
            layout["gain"] = {name: place for name, place in layout["metric"].items() if name in gains}
            self._layouts[key] = layout
        return self._layouts[key]


def histories_by_cell(results: Iterable[Result]) -> dict[Cell, list[History]]:
    """Return the trials of each cell, in the order of first appearance; without those that tuned."""
    groups: dict[Cell, list[History]] = {}
    reader = Reader()
    for result in results:
        if result.trial.tuning:
            continue
        groups.setdefault(result.trial.cell, []).append(reader.read(result))
    return groups


def gains_in(records: Iterable[Record]) -> frozenset[str]:
    """Return the metrics of which higher is better."""
    return frozenset([each.metric for each in records if each.role == "gain"])


def as_losses(target: Mapping[str, float], gains: Collection[str]) -> dict[str, float]:
    """Return what the curves of a target's metrics must fall to."""
    return {name: -value if name in gains else value for name, value in target.items()}


def _up_to_arrival(result: Result, gains: Collection[str]) -> Sequence[Record]:
    """Return a trial's records; of calls from scratch, which overshoot, those up to the first arrival."""
    outcome = result.outcome
    if not (outcome.from_scratch and outcome.status is Status.REACHED):
        return outcome.records
    target = as_losses(result.trial.target, gains)
    curves = curves_by_metric(outcome.records, gains)
    last = time_to_all([curves[name] for name in target], [*target.values()]).iterations
    return [each for each in outcome.records if each.iteration <= last]


@dataclass(frozen=True)
class Tally:
    """How many trials of a method there were, how many of them ended well or not, and the first of them.

    `cost` is what they spent in the median, None where it was not counted; so many `diverged`. `by_itself`
    says that all that finished ended by themselves, with what was left of their budget.
    """

    trials: int
    started: int
    unfinished: int
    declares_cost: bool
    from_scratch: bool
    first: Trial
    cost: float | None = None
    diverged: int = 0
    by_itself: bool = False

    @classmethod
    def of(cls, histories: Sequence[History]) -> Tally:
        """Return the tally of one cell's trials."""
        started = [each for each in histories if not each.skipped]
        return cls(
            len(histories),
            len(started),
            sum(not each.finished for each in started),
            any(each.outcome.counting is Counting.DECLARED for each in histories),
            any(each.outcome.from_scratch for each in histories),
            histories[0].trial,
            _median_cost([each for each in histories if each.finished]),
            sum(each.outcome.status is Status.DIVERGED for each in started),
            bool(last_seconds(histories)),
        )


def _median_cost(histories: Sequence[History]) -> float | None:
    if not histories or not all(each.outcome.counting.measures for each in histories):
        return None
    return median(each.spent.cost for each in histories)
