"""Measures an optimizer on a problem: every metric against iterations, seconds and cost."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from benchfw.backends import Rng
from benchfw.errors import BenchfwError, PluginError
from benchfw.measure.audit import (
    FLOORS,
    Rebuild,
    check_alike,
    find_below_floor,
    is_array,
    rounding_of,
    size_of_first,
)
from benchfw.measure.endings import facts_of_answer
from benchfw.measure.meter import Emit, Interrupted, Looks, Meter
from benchfw.records import Ending, Outcome, Record, Status, Trial, change, shorten_name

AFFORDABLE = 1.0  # seconds to build a problem once more and take its metrics
CHECKED = frozenset({Status.DONE, Status.REACHED})
MOST_BESIDE = 0.05  # of the method's seconds that its threads may work while metrics are taken
BESIDE = "its threads worked for {:.2g} s while metrics were taken, which is not in its time or its cost"
NO_ANSWER = "the method yielded no answer; run() must yield the start first"


def measure_optimizer(
    trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit, rebuild: Rebuild | None = None
) -> Outcome:
    """Follow an optimizer's answers until the budget ends, the target is met, or it diverges.

    With `rebuild`, metrics of the last answer are taken once more, on a problem that the method has not seen.
    """
    meter = Meter(problem, trial.budget)
    with meter.clock:  # a run() that is no generator works already here
        answers = checked_answers(method, problem, rng)
    taken: list[Record] = []
    floors = {**FLOORS, **getattr(problem, "floors", {})}
    last: Any = None
    start: Any = None
    metrics: Mapping[str, float] = {}
    size_at_start = slack = looking = 0.0

    def look(iteration: int, answer: Any) -> Outcome | None:
        nonlocal last, start, metrics, size_at_start, slack, looking
        last = answer
        meter.check(iteration)
        if not taken:
            start = meter.off_the_record(lambda: _start(problem, answer))
        check_alike(start, answer, iteration)
        began, before = perf_counter(), metrics
        metrics = meter.off_the_record(lambda: problem.metrics(answer))
        looking = perf_counter() - began
        if taken and metrics != before:
            meter.note_move()
        if not metrics:
            raise BenchfwError(f"metrics() of {type(problem).__name__} gave nothing to measure")
        records = [
            meter.record(shorten_name(str(name)), iteration, float(value)) for name, value in metrics.items()
        ]
        emit(records)
        taken.extend(records)
        size = size_of_first(records)
        size_at_start = size_at_start or size
        slack = rounding_of(problem, answer, size, size_at_start)
        below = find_below_floor(records, floors, slack)
        if below is not None:
            raise BenchfwError(below)
        return _find_divergence(records) or _check_target(trial.target, metrics, iteration)

    try:
        looks = Looks(trial.target)
        outcome = _follow(meter, answers, look, lambda iteration: looks.next(iteration, metrics))
    except Exception:
        with contextlib.suppress(Exception):  # the method's own fault is the one to tell
            emit(_bound_records(method, problem, taken))
        raise
    finally:
        if hasattr(answers, "close"):
            answers.close()
    emit(_bound_records(method, problem, taken))
    facts, caveats = facts_of_answer(last)
    if rebuild is not None and outcome.status in CHECKED and rebuild.seconds + looking < AFFORDABLE:
        caveats = (*caveats, *rebuild.check_metrics(last, metrics, slack))
    if meter.seconds_beside > MOST_BESIDE * meter.clock.seconds:
        caveats = (*caveats, BESIDE.format(meter.seconds_beside))
    return change(outcome, facts=facts, caveats=caveats, counting=meter.counting())


def _start(problem: Any, answer: Any) -> Any:
    """Return what answers must be like: the problem's start, where it and the first answer are arrays."""
    if is_array(answer) and hasattr(problem, "start"):
        start = problem.start()
        return start if is_array(start) else answer
    return answer


def _follow(
    meter: Meter,
    answers: Iterator[Any],
    look: Callable[[int, Any], Outcome | None],
    next_look: Callable[[int], int],
) -> Outcome:
    iteration, until = -1, 0
    while True:
        try:
            iteration, answer = meter.advance(answers, iteration, until)
        except Interrupted as stop:
            # the last good answer is always measured, also before a fault
            verdict = look(stop.iteration, stop.answer) if stop.iteration > iteration else None
            if not isinstance(stop.__cause__, StopIteration):
                raise stop.__cause__ or stop from None
            if stop.iteration < 0:
                return Outcome(Status.FAILED, Ending.FAULT, NO_ANSWER)
            reason = f"method ended by itself after {stop.iteration} iterations"
            return verdict or Outcome(Status.DONE, Ending.BY_ITSELF, reason)
        verdict = look(iteration, answer)
        outcome = verdict or meter.spent(iteration)
        if outcome is not None:
            return outcome
        until = next_look(iteration)


def _find_divergence(records: Sequence[Record]) -> Outcome | None:
    for each in records:
        if not math.isfinite(each.value):
            reason = f"{each.metric} became {each.value} at iteration {each.iteration}"
            return Outcome(Status.DIVERGED, Ending.NOT_FINITE, reason)
    return None


def _check_target(
    target: Mapping[str, float], metrics: Mapping[str, float], iteration: int
) -> Outcome | None:
    if not target:
        return None
    for name in target:
        if name not in metrics:
            raise BenchfwError(
                f"target '{name}' is not a metric of this problem, which has {', '.join(metrics)}"
            )
    if all(metrics[name] <= value for name, value in target.items()):
        goals = ", ".join(f"{name} ≤ {value:g}" for name, value in target.items())
        return Outcome(Status.REACHED, Ending.TARGET, f"{goals} at iteration {iteration}")
    return None


def _bound_records(method: Any, problem: Any, taken: Sequence[Record]) -> list[Record]:
    """Return the theorem's curve at the measured points, where the method has one."""
    if not (hasattr(method, "bounds") and callable(getattr(method, "bound", None))):  # Bounded, asked fast
        return []
    points = [each for each in taken if each.metric == method.bounds]
    values = (
        method.bound(problem, np.array([each.iteration for each in points], dtype=np.int64))
        if points
        else None
    )
    if values is None:
        return []
    return [
        replace(each, value=float(value), role="bound")
        for each, value in zip(points, values, strict=True)
        if math.isfinite(value)
    ]


def checked_answers(method: Any, problem: Any, rng: Rng) -> Iterator[Any]:
    """Return an optimizer's answers in turn, or explain why there are none."""
    answers: Iterator[Any] = method.run(problem, rng)
    if not hasattr(answers, "__next__"):
        raise PluginError(
            f"run() of {type(method).__name__} gave {type(answers).__name__}, not a generator; use yield"
        )
    return answers
