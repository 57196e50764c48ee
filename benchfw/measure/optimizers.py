"""Measures an optimizer on a problem: every metric against iterations, seconds and cost."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from benchfw.backends import Rng
from benchfw.callbacks import CallbackRun, copy_answer, is_overwritten
from benchfw.errors import PluginError, Untrue
from benchfw.measure.audit import Rebuild, rounding_of
from benchfw.measure.divergence import judge_divergence
from benchfw.measure.endings import Caveats, facts_of_answer, outcome_of
from benchfw.measure.files import keep_answer
from benchfw.measure.meter import Emit, Interrupted, Looks, Meter
from benchfw.measure.observer import Observer
from benchfw.measure.solvers import efforts_of, first_of, follow_callback, follow_calls, solve_afresh
from benchfw.records import Ending, Outcome, Record, Status, Trial, change

AFFORDABLE = 1.0  # seconds to build a problem once more and take its metrics
FINISHED = frozenset({Status.DONE, Status.REACHED})
MOST_BESIDE = 0.05  # of the method's seconds that its threads may work while metrics are taken
BESIDE = "its threads worked for {:.2g} s while metrics were taken, which is not in its time or its cost"
NO_ANSWER = "the method yielded no answer; run() must yield the start first"


def measure_optimizer(
    trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit, rebuild: Rebuild | None = None
) -> Outcome:
    """Follow an optimizer's answers until the budget ends, the target is met, or it diverges.

    With `rebuild`, metrics are taken once more at the end, on a problem that the method has not seen.
    """
    meter = Meter(problem, trial.budget)
    from_scratch = not hasattr(method, "run")
    noun = "effort" if from_scratch else "iteration"
    observer = Observer(problem, meter, trial, emit, noun, rebuild.remember if rebuild else None)
    try:
        outcome = _follow(trial, problem, method, rng, meter, observer)
    except (Exception, SystemExit) as fault:
        with contextlib.suppress(Exception):  # the method's own fault is the one to tell
            emit(_bound_records(method, problem, observer.taken))
        try:
            _check_problem(problem, observer, rebuild, finished=False)
        except Untrue as found:
            raise Untrue(f"{found}; and then: {outcome_of(fault).reason}") from fault
        raise
    counting = meter.counting()
    emit(_bound_records(method, problem, observer.taken) if hasattr(method, "bounds") else ())
    facts, caveats = facts_of_answer(observer.last)
    keep_answer(observer.last)
    finished = outcome.status in FINISHED
    caveats = (*caveats, *_check_problem(problem, observer, rebuild, finished=finished))
    if meter.seconds_beside > MOST_BESIDE * meter.clock.seconds:
        caveats = (*caveats, BESIDE.format(meter.seconds_beside))
    caveats = (*caveats, *observer.find_slow_start(from_scratch=from_scratch))
    caveats = (*caveats, *observer.find_other_start(method))
    looks = observer.taken, observer.limits, observer.gains, observer.counted_in
    outcome, rise = judge_divergence(outcome, *looks)
    caveats = (*caveats, *rise)
    return change(outcome, facts=facts, caveats=caveats, counting=counting, from_scratch=from_scratch)


def _check_problem(problem: Any, observer: Observer, rebuild: Rebuild | None, *, finished: bool) -> Caveats:
    """Raise Untrue if a problem built again has other metrics; return a caveat if it cannot be built.

    A method that broke or diverged may have written into its last finite answer since. So metrics are taken
    now, on both problems: of that answer, or of the start if they are not finite.
    """
    if rebuild is None or observer.finite is None or rebuild.seconds + observer.looking >= AFFORDABLE:
        return ()
    if finished:
        return rebuild.check_metrics(observer.last, observer.metrics, observer.slack)
    answers = {"the last finite answer": observer.finite}
    with contextlib.suppress(Exception):  # not every problem has one
        answers["the start"] = problem.start()
    for name, answer in answers.items():
        metrics: dict[str, float] = {}
        with contextlib.suppress(Exception):  # metrics() may be what broke
            metrics = {metric: float(value) for metric, value in problem.metrics(answer).items()}
        if metrics and all(map(math.isfinite, metrics.values())):
            size = max(map(abs, metrics.values()))
            slack = rounding_of(problem, answer, size, observer.size_at_start)
            return rebuild.check_metrics(answer, metrics, slack, name)
    return ()


def _follow(trial: Trial, problem: Any, method: Any, rng: Rng, meter: Meter, observer: Observer) -> Outcome:
    """Follow a method in the way in which it gives its answers."""
    run = getattr(method, "run", None)
    if run is None:
        return follow_calls(method, problem, rng, meter, observer, trial.budget)
    looks = Looks(observer.goals)
    if isinstance(run, CallbackRun):
        return follow_callback(run.solve, problem, rng, meter, observer, looks, first_of(method))
    with meter.clock:  # a run() that is not a generator does its work here
        answers = checked_answers(method, problem, rng)
    try:
        return _follow_answers(meter, answers, observer, looks)
    finally:
        if hasattr(answers, "close"):
            answers.close()


def _follow_answers(
    meter: Meter,
    answers: Iterator[Any],
    observer: Observer,
    looks: Looks,
) -> Outcome:
    iteration, until, look = -1, 0, observer.look
    before, overwritten = None, False
    while True:
        looked = iteration
        try:
            iteration, answer = meter.advance(answers, iteration, until, overwritten=overwritten)
        except Interrupted as stop:
            # the last good answer is always measured, also before a fault
            verdict = look(stop.iteration, stop.answer) if stop.iteration > iteration else None
            if not isinstance(stop.__cause__, StopIteration):
                raise stop.__cause__ or stop from None
            if stop.iteration < 0:
                return Outcome(Status.FAILED, Ending.FAULT, NO_ANSWER)
            reason = f"method ended by itself after {stop.iteration} iterations"
            return verdict or Outcome(Status.DONE, Ending.BY_ITSELF, reason)
        # the first looks are at one answer after the other
        overwritten = overwritten or (iteration == looked + 1 and is_overwritten(before, answer))
        before = answer
        verdict = look(iteration, copy_answer(answer) if overwritten else answer)
        outcome = verdict or meter.spent(iteration)
        if outcome is not None:
            return outcome
        until = looks.next(iteration, observer.aims)


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
        each._replace(value=float(value), role="bound")
        for each, value in zip(points, values, strict=True)
        if math.isfinite(value)
    ]


def checked_answers(method: Any, problem: Any, rng: Rng) -> Iterator[Any]:
    """Return an optimizer's answers in turn, or explain why there are none."""
    if not hasattr(method, "run"):
        return (answer for _, answer in _solved_answers(method, problem, rng))
    answers: Iterator[Any] = method.run(problem, rng)
    if not hasattr(answers, "__next__"):
        name = getattr(method.run, "__name__", "run")
        call, advice = f"run() of {type(method).__name__}", "use yield"
        if name != "run":  # a function that was made a method
            call, advice = f"{name}()", "use yield, or take `effort` as a parameter and return one answer"
        raise PluginError(f"{call} returned {type(answers).__name__}, not a generator; {advice}")
    return answers


def numbered_answers(method: Any, problem: Any, rng: Rng) -> Iterator[tuple[int, Any]]:
    """Return an optimizer's answers with their iteration numbers, or their efforts."""
    if hasattr(method, "run"):
        return enumerate(checked_answers(method, problem, rng))
    return _solved_answers(method, problem, rng)


def _solved_answers(method: Any, problem: Any, rng: Rng) -> Iterator[tuple[int, Any]]:
    """Yield the problem's start, where it has one, and what a solver answers to growing efforts."""
    if hasattr(problem, "start") and first_of(method):
        yield 0, problem.start()
    for effort in efforts_of(method):
        yield effort, solve_afresh(method, problem, rng, effort)
