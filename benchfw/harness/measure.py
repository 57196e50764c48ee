"""Measures one built method on one built problem, and says how it ended."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from time import perf_counter
from typing import Any

import numpy as np

from benchfw.analysis.variance import DrawStatistics
from benchfw.backends import Backend, Rng
from benchfw.contract import Bounded
from benchfw.errors import BenchfwError
from benchfw.harness.clock import Clock
from benchfw.records import BOUND_PREFIX, Budget, Record, Status, Trial

Emit = Callable[[Sequence[Record]], None]
Ending = tuple[Status, str]

GROWTH = 1.05  # metrics are taken 5 % apart: a time to target is at most that much too late
FEWEST_DRAWS = 100  # before this many, the spread of the squared deviations is not trusted to stop early
KERNEL_BLOCKS = 30
KERNEL_BLOCK_SECONDS = 2e-3  # long enough for the clock's own cost not to matter


def next_look(iteration: int) -> int:
    """Return the iteration at which metrics are taken after this one."""
    return max(iteration + 1, math.ceil(iteration * GROWTH))


class Meter:
    """What a method has used so far: its clock and its share of the problem's oracle calls."""

    def __init__(self, problem: Any, budget: Budget) -> None:
        self.clock = Clock(problem.backend)
        self._problem = problem
        self._uncounted = float(problem.cost)  # what building the problem, metrics and the harness used
        self._budget = budget

    @property
    def cost(self) -> float:
        """Return the oracle calls that the method made."""
        return float(self._problem.cost) - self._uncounted

    def off_the_record(self, call: Callable[[], Any]) -> Any:
        """Return what the call returns, and charge none of its oracle calls to the method."""
        before = float(self._problem.cost)
        result = call()
        self._uncounted += float(self._problem.cost) - before
        return result

    def advance(self, answers: Iterator[Any], iteration: int, until: int) -> tuple[int, Any]:
        """Take answers, on the clock, up to an iteration or the end of the budget; return number and answer.

        A fault of the method carries the last good answer in the attributes of `Interrupted`.
        """
        limits = self._budget
        cost_limit = math.inf if limits.cost is None else limits.cost + self._uncounted
        until = until if limits.iterations is None else min(until, limits.iterations)
        problem, answer = self._problem, None
        try:
            with self.clock as clock:
                deadline = math.inf if limits.seconds is None else clock.deadline(limits.seconds)
                while iteration < until:
                    answer = next(answers)
                    iteration += 1
                    if problem.cost >= cost_limit or perf_counter() >= deadline:
                        break
        except Exception as fault:
            raise Interrupted(iteration, answer) from fault
        return iteration, answer

    def spent(self, iteration: int) -> str:
        """Return which limit is used up, or nothing."""
        limits = self._budget
        if limits.iterations is not None and iteration >= limits.iterations:
            return f"budget of {limits.iterations:,} iterations"
        if limits.cost is not None and self.cost >= limits.cost:
            return f"budget of {limits.cost:,g} {getattr(self._problem, 'cost_unit', 'gradients')}"
        if limits.seconds is not None and self.clock.seconds >= limits.seconds:
            return f"budget of {limits.seconds:g} seconds"
        return ""


class Interrupted(Exception):
    """A method raised after `iteration` answers, the last of which is `answer` (None: already measured)."""

    def __init__(self, iteration: int, answer: Any) -> None:
        super().__init__(iteration)
        self.iteration = iteration
        self.answer = answer


def measure_optimizer(trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit) -> Ending:
    """Follow an optimizer's answers until the budget ends, the target is met, or it diverges."""
    meter = Meter(problem, trial.budget)
    answers: Iterator[Any] = iter(method.run(problem, rng))
    taken: list[Record] = []

    def look(iteration: int, answer: Any) -> Ending | None:
        metrics = meter.off_the_record(lambda: problem.metrics(answer))
        records = [
            Record(name, iteration, meter.clock.seconds, meter.cost, float(value))
            for name, value in metrics.items()
        ]
        emit(records)
        taken.extend(records)
        return _diverged(records) or _reached(trial.target, metrics, iteration)

    try:
        ending = _follow(meter, answers, look)
    except Exception:
        with contextlib.suppress(Exception):  # the method's own fault is the one to tell
            emit(_bound_records(method, problem, taken))
        raise
    finally:
        if hasattr(answers, "close"):
            answers.close()
    emit(_bound_records(method, problem, taken))
    return ending


def _follow(meter: Meter, answers: Iterator[Any], look: Callable[[int, Any], Ending | None]) -> Ending:
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
                return Status.FAILED, "the method yielded no answer; run() must yield the start first"
            return verdict or (Status.DONE, f"method ended by itself after {stop.iteration} iterations")
        verdict = look(iteration, answer)
        ending = meter.spent(iteration)
        if verdict or ending:
            return verdict or (Status.DONE, ending)
        until = next_look(iteration)


def _diverged(records: Sequence[Record]) -> Ending | None:
    for each in records:
        if not math.isfinite(each.value):
            return Status.DIVERGED, f"{each.metric} became {each.value} at iteration {each.iteration}"
    return None


def _reached(target: Mapping[str, float], metrics: Mapping[str, float], iteration: int) -> Ending | None:
    if not target:
        return None
    for name in target:
        if name not in metrics:
            raise BenchfwError(
                f"target '{name}' is no metric of this problem, which has {', '.join(metrics)}"
            )
    if all(metrics[name] <= value for name, value in target.items()):
        goals = ", ".join(f"{name} ≤ {value:g}" for name, value in target.items())
        return Status.REACHED, f"{goals} at iteration {iteration}"
    return None


def _bound_records(method: Any, problem: Any, taken: Sequence[Record]) -> list[Record]:
    """Return the theorem's curve at the measured points, where the method has one."""
    if not isinstance(method, Bounded):
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
        Record(BOUND_PREFIX + each.metric, each.iteration, each.seconds, each.cost, float(value))
        for each, value in zip(points, values, strict=True)
        if math.isfinite(value)
    ]


def measure_estimator(trial: Trial, problem: Any, method: Any, rng: Rng, emit: Emit) -> Ending:
    """Draw at one point until the variance is known to the precision asked for, or the budget ends."""
    meter = Meter(problem, trial.budget)
    params = meter.off_the_record(lambda: _place(trial, problem))
    statistics = DrawStatistics(meter.off_the_record(lambda: _exact(method, problem, params)))
    to_numpy = problem.backend.to_numpy
    look = 2  # one draw has no variance
    for draws in count(1):
        with meter.clock:
            draw = method.draw(problem, rng)(params)
        sample = np.asarray(to_numpy(draw), dtype=np.float64)
        if not np.isfinite(sample).all():
            return Status.DIVERGED, f"draw {draws:,} is not finite"
        statistics.add(sample)
        ending = meter.spent(draws) if draws > 1 else ""  # one draw has no variance
        if draws < look and not ending:
            continue
        look = next_look(draws)
        emit(
            [
                Record(name, draws, meter.clock.seconds, meter.cost, value)
                for name, value in statistics.metrics().items()
                if math.isfinite(value)
            ]
        )
        if trial.precision and draws >= FEWEST_DRAWS and statistics.relative_half_width() <= trial.precision:
            ending = f"variance known to {trial.precision:.0%} after {draws:,} draws"
        if ending:
            return Status.DONE, ending
    raise AssertionError("unreachable: the loop above has no end of its own")


def _place(trial: Trial, problem: Any) -> Any:
    if trial.at == "optimum":
        if getattr(problem, "optimum", None) is None:
            raise BenchfwError(f"at = \"optimum\": problem '{trial.problem.use}' does not know its optimum")
        return problem.optimum
    return problem.start() if hasattr(problem, "start") else None


def _exact(method: Any, problem: Any, params: Any) -> Any:
    oracle = getattr(problem, method.estimates, None)
    return None if oracle is None else np.asarray(problem.backend.to_numpy(oracle(params)), dtype=np.float64)


def measure_kernel(
    trial: Trial, backend: Backend, kernel: Any, arguments: Sequence[Any], emit: Emit
) -> Ending:
    """Time a kernel in blocks of calls; a block is one record, beside the bytes that a call must move."""
    single = Clock(backend)
    with single:
        kernel(*arguments)
    calls = max(1, math.ceil(KERNEL_BLOCK_SECONDS / max(single.seconds, 1e-7)))
    blocks = min(trial.budget.iterations or KERNEL_BLOCKS, KERNEL_BLOCKS)
    counts = getattr(kernel, "counts", None)
    sizes = {"bytes_per_call": counts(*arguments)[1]} if counts is not None else {}
    total, block = 0.0, 0
    while block < blocks and total < (trial.budget.seconds or math.inf):
        clock = Clock(backend)
        with clock:
            for _ in range(calls):
                kernel(*arguments)
        total += clock.seconds
        block += 1
        measured = {"seconds_per_call": clock.seconds / calls, **sizes}
        emit([Record(name, block, total, float(block * calls), value) for name, value in measured.items()])
    return Status.DONE, f"{block} blocks of {calls:,} calls"
