"""Looks at an optimizer's answers: takes their metrics, checks and records them, and sees the target met."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from time import perf_counter
from typing import Any

from benchfw.callbacks import CallbackRun
from benchfw.contract import clip_gap, gains_of
from benchfw.errors import BenchfwError, PluginError, Untrue
from benchfw.measure.audit import (
    LIMITS,
    check_alike,
    find_beyond_limit,
    is_array,
    rounding_of,
)
from benchfw.measure.meter import Emit, Meter
from benchfw.measure.metrics import take_metrics
from benchfw.records import GAP, OBJECTIVE, Ending, Outcome, Record, Status, Trial

ROUGH = 1e-2  # of a number: as far as the least precise kind of numbers may round it
MANY_TIMES = 10.0  # the second step that a first one may take, in which something was set up
NOTICEABLE = 0.1  # seconds
SLOW_FIRST = (
    "its first step took more than ten times as long as the second at no greater cost: what it compiles or "
    "loads there belongs into prepare(), which is off the clock"
)
OTHER_START = (
    "its iteration 0 is another point than the problem's start; yield the start first, as every run() should"
)


_value_of = attrgetter("value")


class Observer:
    """What was seen of one trial's answers; `last` and `metrics` are of the latest look.

    `finite` is the last answer whose metrics are finite; `size_at_start` is that of the first metrics.

    `counted_in` is what the answers are numbered by: iterations, or the effort of the call. `begun` is called
    once the first metrics are taken.
    """

    def __init__(
        self,
        problem: Any,
        meter: Meter,
        trial: Trial,
        emit: Emit,
        counted_in: str = "iteration",
        begun: Callable[[], None] | None = None,
    ) -> None:
        self._problem, self._meter, self._emit, self._begun = problem, meter, emit, begun
        self._target, self._best, self._budget = trial.target, trial.best, trial.budget
        self.counted_in = counted_in
        self.gains = gains_of(problem)
        usual = LIMITS
        if self.gains:
            usual = {name: limit for name, limit in LIMITS.items() if name not in self.gains}
        self.limits: Mapping[str, float] = {**usual, **getattr(problem, "limits", {})}
        self.size_at_start = 0.0
        self._like: Any = None
        self._compared = False
        self._starts_elsewhere = False
        self.taken: list[Record] = []
        self.last: Any = None
        self.finite: Any = None
        self.metrics: Mapping[str, float] = {}
        self.slack = self.looking = 0.0

    def look(self, iteration: int, answer: Any) -> Outcome | None:
        """Measure an answer; return how it ends the trial, if it does."""
        self._meter.check(iteration)
        if not self._compared:
            self._like = self._meter.off_the_record(like_start, self._problem, answer)
            self._compared = True
        check_alike(self._like, answer, iteration)
        if iteration == 0:
            self._starts_elsewhere = self._meter.off_the_record(_differs, self._like, answer)
        try:
            metrics = self._measure(answer)
        except BenchfwError:
            raise
        except Exception:
            if not self.taken:  # once answers were measured, their kind is not what is wrong
                check_kind(self._problem, answer, iteration)
            raise
        return self._note(iteration, answer, metrics)

    def look_at_start(self) -> Outcome | None:
        """Measure the problem's start as iteration 0, for a solver that does not hand it over.

        Nothing is measured where the problem has none, or its answers are of another kind than its start.
        """
        if not hasattr(self._problem, "start"):
            return None
        start = self._meter.off_the_record(self._problem.start)
        try:
            metrics = self._measure(start)
        except Exception:  # noqa: BLE001 - a real fault of metrics() shows again with the first answer
            return None
        return self._note(0, start, metrics)

    def _measure(self, answer: Any) -> Mapping[str, float]:
        if answer is None:
            raise PluginError("an answer is None; yield the parameters, as in `yield x`")
        began = perf_counter()
        metrics: Mapping[str, float] = self._meter.off_the_record(take_metrics, self._problem, answer)
        self.looking = perf_counter() - began
        return metrics

    def _note(self, iteration: int, answer: Any, metrics: Mapping[str, float]) -> Outcome | None:
        meter, problem = self._meter, self._problem
        if self.taken and metrics != self.metrics:
            meter.note_move()
        self.last, self.metrics = answer, metrics
        if not self.taken and self._begun is not None:
            self._begun()
        if not metrics:
            raise BenchfwError(f"metrics() of {type(problem).__name__} gave nothing to measure")
        if not self.taken and self.gains:
            self._check_gains(metrics)
        records = meter.records(iteration, metrics, self.gains)
        self._emit(records)
        self.taken += records
        values = list(map(_value_of, records))
        size = max(map(abs, filter(math.isfinite, values)), default=0.0)
        self.size_at_start = self.size_at_start or size
        self.slack = rounding_of(problem, answer, size, self.size_at_start)
        if not self.limits.keys().isdisjoint(metrics):
            beyond = find_beyond_limit(records, self.limits, self.slack)
            if beyond is not None:
                raise Untrue(beyond)
        if not all(map(math.isfinite, values)):
            return _describe_divergence(records, self.counted_in)
        self.finite = answer
        return self._check_target(iteration)

    def _check_gains(self, metrics: Mapping[str, float]) -> None:
        unknown = sorted(self.gains.difference(metrics))
        if unknown:  # one that is spelt wrong would turn the verdict around
            raise BenchfwError(
                f"higher_is_better of {type(self._problem).__name__} names {', '.join(unknown)}, and its "
                f"metrics are {', '.join(metrics)}"
            )

    def _as_loss(self, metrics: Mapping[str, float]) -> Mapping[str, float]:
        """Return metrics such that lower is better in all of them."""
        if not self.gains:
            return metrics
        return {name: -value if name in self.gains else value for name, value in metrics.items()}

    @property
    def goals(self) -> Mapping[str, float]:
        """What the metrics of `aims` must fall to."""
        return self._as_loss(self._target)

    @property
    def aims(self) -> Mapping[str, float]:
        """The target's metrics at the latest look, gains negated; none where the best objective is unknown.

        A problem that knows no optimum has no gap: it is the distance to the best objective, which the suite
        may give. Without it, whether a trial meets the target is known once all have run.
        """
        metrics = self.metrics
        if not self._target and self._best is None:
            return {}
        if self._best is not None:
            if GAP in metrics or OBJECTIVE not in metrics:
                raise BenchfwError(
                    f"best = {self._best:g} is for a problem with the metric {OBJECTIVE} and without {GAP}; "
                    f"this one has {', '.join(metrics)}"
                )
            apart = metrics[OBJECTIVE] - self._best
            gap = clip_gap(-apart if OBJECTIVE in self.gains else apart, self._best)
            if gap < 0:
                raise Untrue(
                    f"{OBJECTIVE} is {metrics[OBJECTIVE]:.17g}, better than best = {self._best:.17g}; "
                    "correct it"
                )
            metrics = {**metrics, GAP: gap}
        elif GAP in self._target and GAP not in metrics and OBJECTIVE in metrics:
            return {}
        for name in self._target:
            if name not in metrics:
                raise BenchfwError(
                    f"target '{name}' is not a metric of this problem, which has {', '.join(metrics)}"
                )
        return self._as_loss({name: metrics[name] for name in self._target})

    def _check_target(self, iteration: int) -> Outcome | None:
        """Return that the target is reached: at the first look, or within the budget, as in a report."""
        aims = self.aims
        if not aims:
            return None
        first, last = self.taken[0], self.taken[-1]
        if first.iteration != iteration and not self._budget.covers(last.seconds, last.cost):
            return None
        if all(aims[name] <= value for name, value in self.goals.items()):
            met = ", ".join(
                f"{name} {'≥' if name in self.gains else '≤'} {value:g}"
                for name, value in self._target.items()
            )
            return Outcome(Status.REACHED, Ending.TARGET, f"{met} at {self.counted_in} {iteration}")
        return None

    def find_other_start(self, method: Any) -> tuple[str, ...]:
        """Return a caveat if a method that yields did not begin at the start.

        A solver that calls back or is called again and again has a start of its own, or none.
        """
        yields = hasattr(method, "run") and not isinstance(method.run, CallbackRun)
        return (OTHER_START,) if self._starts_elsewhere and yields else ()

    def find_slow_start(self, *, from_scratch: bool) -> tuple[str, ...]:
        """Return a caveat if the first step set something up that the second did not need."""
        if not self.taken or (self.taken[-1].iteration < 2 and not from_scratch):
            return ()
        first_metric = self.taken[0].metric
        looks = {each.iteration: each for each in self.taken if each.metric == first_metric}
        one, two = looks.get(1), looks.get(2)
        if one is None or two is None:
            return ()
        seconds, cost = two.seconds, two.cost
        if not from_scratch:
            seconds, cost = seconds - one.seconds, cost - one.cost
        slow = one.seconds > MANY_TIMES * seconds and one.seconds - seconds > NOTICEABLE
        return (SLOW_FIRST,) if slow and one.cost <= 2 * cost else ()


def like_start(problem: Any, answer: Any) -> Any:
    """Return what answers must be like: the problem's start, where it and the first answer are arrays."""
    if hasattr(problem, "start") and is_array(answer):
        start = problem.start()
        return start if is_array(start) else answer
    return answer


def _differs(start: Any, answer: Any) -> bool:
    """Return whether an answer is another point than an array that it is like."""
    if start is answer or not is_array(answer):
        return False
    try:
        apart = start != answer
        if hasattr(apart, "nnz"):  # sparse
            return bool(apart.nnz > 0)
        apart = apart & ((start == start) | (answer == answer))  # noqa: PLR0124 - NaN is NaN
        if getattr(start, "dtype", None) != getattr(answer, "dtype", None):
            apart = apart & (abs(start - answer) > ROUGH * abs(start))
        return bool(apart.any() if hasattr(apart, "any") else apart)
    except Exception:  # noqa: BLE001 - what cannot be compared is not known to be another point
        return False


def check_kind(problem: Any, answer: Any, iteration: int) -> None:
    """Raise BenchfwError if an answer that cannot be measured is of another kind than the start, which can.

    Only metrics() knows what it takes: answers of another kind than the parameters are legitimate too.
    """
    try:
        start = problem.start()
        take_metrics(problem, start)
    except Exception:  # noqa: BLE001 - then the kind is not what is wrong
        return
    check_alike(start, answer, iteration)


def _describe_divergence(records: Sequence[Record], counted_in: str) -> Outcome:
    first = next(each for each in records if not math.isfinite(each.value))
    reason = f"{first.metric} became {first.value} at {counted_in} {first.iteration}"
    return Outcome(Status.DIVERGED, Ending.NOT_FINITE, reason)
