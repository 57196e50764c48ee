"""What tuning tried, how well each setting did, and which one is chosen."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, Literal, NamedTuple, get_args

from benchfw.analysis.convergence import time_to_all
from benchfw.records import GAP, OBJECTIVE, Status
from benchfw.summary.histories import History, add_gap

Axis = Literal["cost", "seconds", "iterations"]
TO_TARGET = " to target"
OF_TEST_ROWS = ("test_", "heldout_")
"""How the names of metrics begin that are measured on rows which a method does not train on."""


class Score(NamedTuple):
    """How well a tuning run did; scores sort from the best to the worst, and gains are negated.

    `standing` is 0 where the target was reached, and `value` what that took; 1 where it was not, and `value`
    is the metric at the end; 2 where the run broke.
    """

    standing: int
    value: float


BROKEN = Score(2, math.inf)


@dataclass(frozen=True)
class Aim:
    """What tuning minimizes: what it takes to the target along an axis, or a metric at the end.

    `metric` is then the first of the target; empty is the gap, the objective, or whatever there is.
    """

    axis: Axis | None = None
    metric: str = ""

    @classmethod
    def of(cls, name: str, target: Mapping[str, float]) -> Aim:
        """Return the aim that a suite names; by default the cost to its target, if it has one."""
        if not name:
            return cls("cost", next(iter(target))) if target else cls()
        axis = name.removesuffix(TO_TARGET)
        if name.endswith(TO_TARGET) and axis in get_args(Axis) and target:
            return cls(axis, next(iter(target)))  # type: ignore[arg-type]
        return cls(None, name)

    def is_of_test_rows(self, target: Mapping[str, float]) -> bool:
        """Return whether a metric of test rows has a part in it, by its name."""
        return any(name.startswith(OF_TEST_ROWS) for name in (self.metric, *target))

    def measure_gap(self, run: History) -> History:
        """Return a run with its gap to the best objective that the suite gives, if the aim is about a gap.

        As in the verdict, of a problem that does not know its optimum.
        """
        best, wanted = run.trial.best, GAP in run.trial.target or self.metric == GAP
        if not wanted or best is None or GAP in run.metrics or OBJECTIVE not in run.metrics:
            return run
        return add_gap(run, -best if OBJECTIVE in run.gains else best)

    def score(self, run: History) -> Score:
        """Return the score of one tuning run; failures come last."""
        if run.outcome.status.faulty or run.outcome.status in {Status.SKIPPED, Status.DIVERGED}:
            return BROKEN
        target = run.trial.target
        if self.axis and target and all(name in run.metrics for name in target):
            curves = [curve for name in target if (curve := run.budgeted(name)) is not None]
            # the curves of gains are negated
            values = [-value if name in run.gains else value for name, value in target.items()]
            hit = time_to_all(curves, values)
            if math.isfinite(hit.iterations):
                return Score(0, float(getattr(hit, self.axis_of(run) or "cost")))
        curve = run.budgeted(self.metric_of(run))
        end = math.nan if curve is None else curve.final
        return Score(1, end) if math.isfinite(end) else BROKEN

    def axis_of(self, run: History) -> Axis | None:
        """Return the axis; seconds stand in for a cost that is not counted."""
        unknown = self.axis == "cost" and not run.outcome.counting.measures
        return "seconds" if unknown else self.axis

    def metric_of(self, run: History) -> str:
        """Return the metric at the end; of a problem that does not know its optimum the objective."""
        wanted = (self.metric, *((GAP, OBJECTIVE) if self.metric in {"", GAP} else ()), *run.metrics)
        return next((name for name in wanted if name in run.metrics), "")


class Attempt(NamedTuple):
    """A setting that was tried, the score of each of its runs, and what they spent together.

    Where the target is a gap to an optimum that nobody knows yet, ends that differ by no more than this
    `margin` are alike, and `approaches` has what it took each run to come so near to its own end. So many
    runs are `faulty`: they may have been well without the fault.
    """

    setting: Mapping[str, Any]
    scores: tuple[Score, ...]
    cost: float = 0.0
    seconds: float = 0.0
    margin: float = 0.0
    approaches: tuple[float, ...] = ()
    faulty: int = 0

    @property
    def score(self) -> Score:
        """The median score; of an even number the worse of the two in the middle."""
        return sorted(self.scores)[len(self.scores) // 2] if self.scores else BROKEN


def attempt_of(setting: Mapping[str, Any], runs: Sequence[History], aim: Aim) -> Attempt:
    """Return the attempt that the runs of one setting make."""
    spent = [each.spent for each in runs]
    return Attempt(
        setting,
        tuple(aim.score(each) for each in runs),
        sum(each.cost for each in spent if math.isfinite(each.cost)),
        sum(each.seconds for each in spent),
        *_approaches(runs, aim),
        sum(each.outcome.status.faulty for each in runs),
    )


def _approaches(runs: Sequence[History], aim: Aim) -> tuple[float, tuple[float, ...]]:
    """Return the gap that is the target, if it is not known, and what it took each run to its own end."""
    margin = runs[0].trial.target.get(GAP, 0.0) if runs else 0.0
    if not (aim.axis and margin) or any(GAP in each.metrics for each in runs):
        return 0.0, ()
    found = []
    for each in runs:
        curve = each.budgeted(OBJECTIVE)
        hit = None if curve is None else time_to_all([curve], [curve.final + margin])
        found.append(math.inf if hit is None else float(getattr(hit, aim.axis_of(each) or "cost")))
    return margin, tuple(found)


def choose(attempts: Sequence[Attempt]) -> int:
    """Return which attempt is chosen: the best, and of equals the first."""
    order = _order(attempts)
    return order.index(min(order))


def _order(attempts: Sequence[Attempt]) -> list[tuple[Score, float]]:
    """Return what attempts are sorted by: scores, and of ends that are alike what it took to get there."""
    best = min((each.score for each in attempts), default=BROKEN)
    return [
        (best, sorted(each.approaches)[len(each.approaches) // 2])
        if each.margin
        and each.score.standing == best.standing == 1
        and each.score.value <= best.value + each.margin
        else (each.score, 0.0)
        for each in attempts
    ]


def choose_across(problems: Sequence[Sequence[Attempt]]) -> int:
    """Return the attempt with the best mean rank over problems, all of which tried the same settings.

    One that breaks anywhere comes after all that do not, then one that misses a target somewhere.
    """

    def standing(number: int) -> tuple[int, float]:
        scores = [attempts[number].score for attempts in problems]
        return max(each.standing for each in scores), fmean(ranks[number] for ranks in ranked)

    ranked = [rank_attempts(attempts) for attempts in problems]
    return min(range(min(map(len, problems))), key=standing)


def rank_attempts(attempts: Sequence[Attempt]) -> list[int]:
    """Return the rank of each attempt; equals share the better rank."""
    order = _order(attempts)
    in_order = sorted(order)
    return [bisect_left(in_order, place) for place in order]
