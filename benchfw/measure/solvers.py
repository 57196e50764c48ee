"""Follows solvers that do not yield: those that call back, and those that are called again and again."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from benchfw.backends import Rng
from benchfw.callbacks import Stopped, copy_answer, is_overwritten
from benchfw.errors import PluginError
from benchfw.measure.meter import Looks, Meter
from benchfw.measure.observer import Observer
from benchfw.measure.seeding import seed_global_generators
from benchfw.records import Budget, Ending, Outcome, Status

GROWTH = 1.5
CLOSE = 0.05  # the share of an effort that may lie between the last that is too little and the first enough
STILL = 4  # an answer that stays the same while the effort grows by this factor is the last
MOST_BUDGETS = 6.0  # of seconds that the calls may take together; the harness allows ten, metrics included

REFINED = frozenset({Ending.TARGET, Ending.COST, Ending.SECONDS})
NO_CALLBACK = "the solver ended without calling back; call callback(answer) once an iteration"


def efforts_of(method: Any) -> Iterator[int]:
    """Yield the efforts that a solver is called with: its own `efforts`, or 1, 2, 3, 4, 6, 9, … for ever.

    One whose `first` answer is its start begins at 0.
    """
    own, first = getattr(method, "efforts", None), first_of(method)
    if own is None:
        effort = first
        while True:
            yield effort
            effort = max(effort + 1, int(effort * GROWTH))
    last = first - 1
    name = type(method).__name__
    if not isinstance(own, Iterable):
        raise PluginError(f"efforts of {name} must be whole numbers in growing order, got {own!r}")
    for effort in own:
        if not isinstance(effort, int) or isinstance(effort, bool) or effort <= last:
            raise PluginError(
                f"efforts of {name} must be whole numbers from {first} in growing order; {effort!r} comes "
                f"after {last}"
            )
        last = effort
        yield effort


def first_of(method: Any) -> int:
    """Return the number of a method's first answer: 0 where that is its start, else 1."""
    first = getattr(method, "first", 1)
    if type(first) is not int or first not in {0, 1}:
        raise PluginError(f"first of {type(method).__name__} must be 0 or 1, got {first!r}")
    return first


def solve_afresh(method: Any, problem: Any, rng: Rng | None, effort: int) -> Any:
    """Return the answer of one call from scratch: on numbers that are the same in every call."""
    return method.solve(problem, None if rng is None else problem.backend.rng(rng.seed), effort)


def follow_calls(
    method: Any, problem: Any, rng: Rng, meter: Meter, observer: Observer, budget: Budget
) -> Outcome:
    """Call a solver with growing effort until one call meets the target or uses up the budget.

    Then efforts in between are tried, as long as more than a twentieth of them lies between: the first that
    is enough is where the target was met. Together the growing calls may take six budgets of seconds.
    """
    found = observer.look_at_start() if first_of(method) else None
    return found or _Calls(method, problem, rng, meter, observer, budget).search()


class _Calls:
    """The calls of a solver; `short` is the greatest effort that was too little to end the search."""

    def __init__(
        self, method: Any, problem: Any, rng: Rng, meter: Meter, observer: Observer, budget: Budget
    ) -> None:
        self._method, self._problem, self._rng = method, problem, rng
        self._meter, self._observer, self._budget = meter, observer, budget
        self._free = getattr(method, "efforts", None) is None
        self._seconds = 0.0
        self._short = self._moved = 0
        self._before: Any = None

    def search(self) -> Outcome:
        for each in efforts_of(self._method):
            effort = each if self._budget.iterations is None else min(each, self._budget.iterations)
            found = self._call(effort)
            if found is not None:
                return self._refine(effort, found)
            self._short = effort
            found = self._find_end()
            if found is not None:
                return found
        if self._before is None:
            raise PluginError(f"efforts of {type(self._method).__name__} are empty; name at least one")
        return Outcome(Status.DONE, Ending.BY_ITSELF, f"the last of its efforts is {self._short}")

    def _refine(self, enough: int, found: Outcome) -> Outcome:
        """Return how the least effort ends that is enough, up to a twentieth of it."""
        while self._free and found.ending in REFINED and enough - self._short > max(1, int(CLOSE * enough)):
            middle = (self._short + enough) // 2
            earlier = self._call(middle)
            if earlier is None:
                self._short = middle
            else:
                enough, found = middle, earlier
        return found

    def _call(self, effort: int) -> Outcome | None:
        if self._rng is not None:
            seed_global_generators(self._rng.seed)
        if hasattr(self._method, "prepare_call"):
            self._meter.off_the_record(self._method.prepare_call, self._problem, effort)
        self._meter.restart()
        with self._meter.clock as clock:
            answer = solve_afresh(self._method, self._problem, self._rng, effort)
        self._seconds += clock.seconds
        if answer is None:
            raise PluginError(f"solve() of {type(self._method).__name__} returned None; return the answer")
        return self._observer.look(effort, answer) or self._meter.spent(effort)

    def _find_end(self) -> Outcome | None:
        """Return why no greater effort is tried, if there is a reason."""
        now = dict(self._observer.metrics), self._meter.cost
        if now != self._before:
            self._moved, self._before = self._short, now
        if self._free and self._short >= STILL * max(1, self._moved):
            reason = f"the answer is the same from effort {self._moved} to {self._short}"
            return Outcome(Status.DONE, Ending.BY_ITSELF, reason)
        seconds = self._budget.seconds
        if seconds is not None and self._seconds >= MOST_BUDGETS * seconds:
            reason = f"{MOST_BUDGETS:g} times the budget of {seconds:g} seconds, all calls together"
            return Outcome(Status.DONE, Ending.SECONDS, reason)
        return None


def follow_callback(
    solve: Callable[..., Any],
    problem: Any,
    rng: Rng,
    meter: Meter,
    observer: Observer,
    looks: Looks,
    first: int = 1,
) -> Outcome:
    """Run a solver that calls back, and measure its answers inside of the callback, off the clock.

    `first` is the number of the first callback: 0 where it has the start of the solver.
    """
    found = observer.look_at_start() if first else None
    if found is not None:
        return found
    listener = _Listener(problem, meter, observer, looks, first)
    fault: Exception | None = None
    listener.start()
    try:
        solve(problem, rng, listener.hear)
    except Stopped:
        pass
    except Exception as raised:  # noqa: BLE001 - raised again when the last answer has been measured
        fault = raised
    return listener.end(fault)


class _Listener:
    """The other end of a callback; `hear` is what the solver calls."""

    def __init__(self, problem: Any, meter: Meter, observer: Observer, looks: Looks, first: int) -> None:
        self._problem, self._meter, self._observer, self._looks = problem, meter, observer, looks
        self._first = first
        self._iteration = self._looked = first - 1
        self._until = first
        self._cost_limit = self._deadline = math.inf
        self._now = meter.clock.now
        self._latest: Any = None
        self._overwritten = False  # whether the solver writes into answers that it has handed over
        self._ended: Outcome | BaseException | None = None

    def start(self) -> None:
        """Let the clock run, up to the next look."""
        until = self._looks.next(self._looked, self._observer.aims) if self._looked >= 0 else 0
        self._until, self._cost_limit = self._meter.limits(until)
        self._meter.clock.__enter__()
        self._deadline = self._meter.deadline()

    def hear(self, answer: Any, *_: Any, **__: Any) -> None:
        """Take an answer; raise Stopped if it is the last that is wanted."""
        if self._ended is not None:
            raise Stopped
        self._iteration += 1
        before, self._latest = self._latest, answer
        if (
            (self._iteration < self._until or self._meter.waits(self._iteration, self._until))
            and self._problem.cost < self._cost_limit
            and self._now() < self._deadline
        ):
            if self._overwritten:  # this answer may be the last one
                self._latest = self._meter.clock.leave_out(copy_answer, answer)
                self._deadline = self._meter.deadline()
            return
        self._meter.clock.__exit__()
        # on a device each copy would wait for all work
        self._overwritten = not self._meter.on_device and (
            self._overwritten or is_overwritten(before, answer)
        )
        try:
            self._ended = self._look() or self._meter.spent(self._iteration)
        except BaseException as fault:  # noqa: BLE001 - not the solver's: raised again when it has ended
            self._ended = fault
        if self._ended is not None:
            raise Stopped
        self.start()

    def end(self, fault: Exception | None) -> Outcome:
        """Return how the trial ended, now that the solver has: by itself, by a fault, or because of us."""
        if isinstance(self._ended, BaseException):
            raise self._ended
        if self._ended is not None:
            return self._ended
        self._meter.clock.__exit__()
        # the last good answer is always measured, also before a fault
        found = self._look() if self._iteration > self._looked else None
        if fault is not None:
            raise fault
        if self._iteration < self._first:
            return Outcome(Status.FAILED, Ending.FAULT, NO_CALLBACK)
        reason = f"method ended by itself after {self._iteration} iterations"
        return found or Outcome(Status.DONE, Ending.BY_ITSELF, reason)

    def _look(self) -> Outcome | None:
        self._looked = self._iteration
        return self._observer.look(self._iteration, copy_answer(self._latest))
