"""What a method has used so far, and when to look at it."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from benchfw.callbacks import copy_answer
from benchfw.contract import cost_unit_of, pass_cost_of
from benchfw.counting import check_counted
from benchfw.errors import BenchfwError, Untrue
from benchfw.measure.clock import Clock, is_device
from benchfw.records import (
    LONGEST_NAME,
    Budget,
    Counting,
    Ending,
    Outcome,
    Record,
    Role,
    Status,
    shorten_name,
)
from benchfw.system import has_processes

Emit = Callable[[Sequence[Record]], None]

FREE_RIDE = 1_000_000  # iterations after which a budget of cost alone must have been touched
GROWTH = 1.05  # metrics are taken 5 % apart
CLOSE = 0.01  # and 1 % apart where the target is near
MARGIN = 2.0  # the target is near if a fall of so many times the largest of late would reach it
LATE = 3  # intervals between looks


def next_look(iteration: int) -> int:
    """Return the iteration at which metrics are taken after this one."""
    return max(iteration + 1, math.ceil(iteration * GROWTH))


class Looks:
    """When metrics are taken of an optimizer's answers: 5 % apart, and 1 % apart where the target is near.

    Values decide that, never times: equal seeds look at equal iterations. Those 5 % apart are the same with
    any target or none.
    """

    def __init__(self, target: Mapping[str, float]) -> None:
        self._target = target
        self._planned = 0
        self._values: dict[str, deque[float]] = (
            {name: deque(maxlen=LATE + 1) for name in target} if target else {}
        )
        self._near = False

    def next(self, iteration: int, aims: Mapping[str, float]) -> int:
        """Return the iteration of the look after this one, which saw this of the target's metrics.

        Lower is better in all of them.
        """
        if iteration >= self._planned:
            self._planned = next_look(iteration)
            for name, value in aims.items():
                self._values[name].append(float(value))
            self._near = bool(aims) and all(
                _is_near(values, self._target[name]) for name, values in self._values.items()
            )
        step = max(1, int(CLOSE * iteration)) if self._near else self._planned
        return min(self._planned, iteration + step)


def _is_near(values: Sequence[float], target: float) -> bool:
    """Return whether the next value may be at the target, judging by the last ones."""
    pairs = list(pairwise(values))
    if target > 0 and all(value > 0 for value in values):
        # errors fall by factors
        fall = max((math.log(before / after) for before, after in pairs), default=0.0)
        return math.log(values[-1] / target) <= MARGIN * max(fall, 0.0)
    fall = max((before - after for before, after in pairs), default=0.0)
    return values[-1] - target <= MARGIN * max(fall, 0.0)


class Meter:
    """What a method has used so far: its clock and its share of the problem's oracle calls."""

    def __init__(self, problem: Any, budget: Budget) -> None:
        check_counted(type(problem))
        self.clock = Clock(problem.backend)
        self.on_device = is_device(problem.backend)
        self._problem = problem
        self._uncounted = float(problem.cost)  # what building the problem, metrics and the harness used
        self._declared = float(getattr(problem, "declared_cost", 0.0))
        self._budget = budget
        self._pass_cost = pass_cost_of(problem)
        self._looked = -1
        self._known_threads = frozenset(threading.enumerate())
        self.seconds_beside = 0.0
        """CPU seconds of the method's own threads while its clock stood still."""
        self._last = self._seconds = 0.0
        self._moved = 0
        self._moves = self._free_moves = 0
        self._grew = True
        self._restarted = False

    @property
    def cost(self) -> float:
        """Return the oracle calls that the method made."""
        return float(self._problem.cost) - self._uncounted

    def restart(self) -> None:
        """Count seconds and cost from zero again: what follows is a call of its own."""
        self.clock = Clock(self._problem.backend)
        self._uncounted = float(self._problem.cost)
        self._last = self._seconds = 0.0
        self._restarted = True

    def records(
        self, iteration: int, metrics: Mapping[str, float], gains: Collection[str] = ()
    ) -> list[Record]:
        """Return a record of each metric, with what was used up to now; more is better of the `gains`."""
        clock, cost, found = self.clock, self.cost, []
        seconds = clock.seconds
        # what other processes do for a method on a device would pass for waiting
        cpu_seconds = None if self.on_device and has_processes() else clock.cpu_seconds
        for name, value in metrics.items():
            metric = str(name)
            if len(metric) > LONGEST_NAME:
                metric = shorten_name(metric)
            role: Role = "gain" if name in gains else "metric"
            found.append(Record(metric, iteration, seconds, cost, float(value), role, cpu_seconds))
        return found

    def note_move(self) -> None:
        """Note that the method got on from the last look to the one that was checked now."""
        self._moves += 1
        self._free_moves += not self._grew

    def counting(self) -> Counting:
        """Return how the cost came about; `UNCOUNTED` if the method mostly got on without a counted call."""
        if float(getattr(self._problem, "declared_cost", 0.0)) > self._declared:
            return Counting.DECLARED
        if getattr(self._problem, "unknown_oracles", ()):
            return Counting.UNKNOWN
        if self._restarted and not self._moves and not self.cost:  # one call, which asked for nothing
            return Counting.UNCOUNTED
        return Counting.UNCOUNTED if 2 * self._free_moves > self._moves else Counting.COUNTED

    def check(self, iteration: int) -> None:
        """Raise unless the problem's count is a number that has only grown since the last look."""
        cost = self.cost
        self._grew = cost > self._last
        self._moved = iteration if self._grew else self._moved
        if not cost >= self._last:  # also false for NaN
            raise Untrue(
                f"problem.cost went from {self._last:g} to {cost:g}; it counts calls and must only grow"
            )
        if not self.clock.seconds >= self._seconds:
            raise Untrue(f"the clock went from {self._seconds:g} to {self.clock.seconds:g} seconds")
        self._last, self._seconds, self._looked = cost, self.clock.seconds, iteration

    def off_the_record(self, call: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the call returns, and charge none of its oracle calls to the method."""
        before = float(self._problem.cost)
        if threading.active_count() > len(self._known_threads):
            beside = self._thread_seconds()
            result = call(*arguments)
            self.seconds_beside += max(0.0, self._thread_seconds() - beside)
        else:
            result = call(*arguments)
        self._uncounted += float(self._problem.cost) - before
        return result

    def _thread_seconds(self) -> float:
        """Return the CPU seconds so far of threads that the method has started, where the system tells."""
        if not hasattr(time, "pthread_getcpuclockid"):
            return 0.0
        total = 0.0
        for thread in frozenset(threading.enumerate()) - self._known_threads:
            with contextlib.suppress(OSError, OverflowError):  # it has ended meanwhile
                total += time.clock_gettime(time.pthread_getcpuclockid(thread.ident or 0))
        return total

    def limits(self, until: int) -> tuple[int, float]:
        """Return the iteration at which to look next, and what the problem's cost is when the budget ends."""
        budget = self._budget
        until = until if budget.iterations is None else min(until, budget.iterations)
        return until, math.inf if budget.cost is None else budget.cost + self._uncounted

    def waits(self, iteration: int, until: int) -> bool:
        """Return whether a look, due at `until`, waits for the first answer with which a pass has ended.

        In the first pass it does not, nor for ever where calls are no longer counted.
        """
        length = self._pass_cost
        if length is None or iteration == self._budget.iterations or (cost := self.cost) <= length:
            return False
        an_iteration = (cost - self._last) / (iteration - self._looked)
        return cost % length >= an_iteration and iteration - until < length

    def deadline(self) -> float:
        """Return what the running clock will show when the budget ends."""
        seconds = self._budget.seconds
        return math.inf if seconds is None else self.clock.deadline(seconds)

    def advance(
        self, answers: Iterator[Any], iteration: int, until: int, *, overwritten: bool = False
    ) -> tuple[int, Any]:
        """Take answers, on the clock, up to an iteration or the end of the budget; return number and answer.

        Where the problem has passes, the look after the first one is at the end of the pass under way.

        Each answer may be the last one, of which the metrics are wanted. If the method overwrites them, they
        are copied, off the clock; not on a device, where each copy would wait for all work.

        A fault of the method carries the last good answer in the attributes of `Interrupted`.
        """
        until, cost_limit = self.limits(until)
        problem, answer = self._problem, None
        overwritten = overwritten and not self.on_device
        try:
            with self.clock as clock:
                deadline = self.deadline()
                while iteration < until or self.waits(iteration, until):
                    answer = next(answers)
                    iteration += 1
                    if problem.cost >= cost_limit or clock.now() >= deadline:
                        break
                    if overwritten:
                        answer = clock.leave_out(copy_answer, answer)
                        deadline = self.deadline()
        except Exception as fault:
            raise Interrupted(iteration, answer) from fault
        return iteration, answer

    def spent(self, iteration: int) -> Outcome | None:
        """Return which limit ends the trial, or nothing while none is used up."""
        limits = self._budget
        if limits.iterations is not None and iteration >= limits.iterations:
            return Outcome(Status.DONE, Ending.ITERATIONS, f"budget of {limits.iterations:,} iterations")
        if limits.cost is not None and self.cost >= limits.cost:
            reason = f"budget of {limits.cost:,g} {cost_unit_of(self._problem)}"
            return Outcome(Status.DONE, Ending.COST, reason)
        if limits.seconds is not None and self.clock.seconds >= limits.seconds:
            return Outcome(Status.DONE, Ending.SECONDS, f"budget of {limits.seconds:g} seconds")
        alone = limits.iterations is None and limits.seconds is None
        if alone and iteration - self._moved >= FREE_RIDE:
            raise BenchfwError(
                f"{iteration - self._moved:,} iterations without a counted oracle call: a budget of cost "
                "alone never ends; add iterations or seconds to it"
            )
        return None


class Interrupted(Exception):
    """A method raised after `iteration` answers, the last of which is `answer` (None: already measured)."""

    def __init__(self, iteration: int, answer: Any) -> None:
        super().__init__(iteration)
        self.iteration = iteration
        self.answer = answer
