"""A check: a named statement about a plugin, what it raises, and the limit of its time."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from benchfw.system import ALARM, set_alarm

DRAWING_ROLES = ("problem", "estimator", "optimizer", "distribution", "kernel")
"""What is given a generator, or arguments that were drawn."""
ROLES = (*DRAWING_ROLES, "backend")
METHODS = ("estimator", "optimizer")

Body = Callable[[Any], str | None]
"""Takes a Subject, which is built on this file."""


class CheckFailed(AssertionError):
    """What a check raises: the message says what was seen, in one sentence.

    `advice` says what to do, where that is another thing than the check's own advice.
    """

    def __init__(self, message: str, advice: str = "") -> None:
        super().__init__(message)
        self.advice = advice


class NotApplicable(Exception):
    """What a check raises where it has nothing to say, with the reason."""


@dataclass(frozen=True)
class Check:
    """One statement; `body(subject)` raises CheckFailed or returns what more there is to say."""

    name: str
    roles: tuple[str, ...]
    statement: str
    advice: str
    body: Body


def define_check(*roles: str, advice: str, name: str = "") -> Callable[[Body], Check]:
    """Make a check of a function: its name with hyphens, the first line of its docstring the statement."""

    def make(body: Body) -> Check:
        statement = (body.__doc__ or "").strip().partition("\n")[0]
        return Check(name or body.__name__.replace("_", "-"), roles, statement, advice, body)

    return make


def require(condition: bool, why: str, advice: str = "") -> None:
    """Raise CheckFailed unless the condition holds."""
    if not condition:
        raise CheckFailed(why, advice)


LONGEST = 1e6  # seconds: timers do not take any number
_limits: list[float] = []  # of the blocks that we are in, the innermost last
_watchers: list[Callable[[float], None]] = []


class OutOfTime(BaseException):
    """Raised where the code stands when its time is up; a plugin's `except Exception` does not catch it."""


FAULTS = (Exception, SystemExit, OutOfTime)  # what a stranger's code may end with


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime within the block after so many seconds.

    A limit around this one starts over afterwards. There is no limit where Python cannot interrupt itself:
    in any thread but the main one.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seconds = min(LONGEST, seconds)
    _limits.append(seconds)
    began, handler = perf_counter(), signal.signal(ALARM, _stop)
    before = _begin(seconds)
    try:
        yield
    finally:
        set_alarm(0)
        signal.signal(ALARM, handler)
        _limits.pop()
        restart_limit()
        if before and not _limits:  # somebody else's alarm
            left = before - (perf_counter() - began)
            set_alarm(max(left, 1e-6))  # 0 would be never


def restart_limit() -> None:
    """Begin the limit of the innermost block anew.

    Checks do so with every problem and every run: only so long may a plugin take for one of them.
    """
    if _limits:
        _begin(_limits[-1])


def watch_limits(watch: Callable[[float], None]) -> None:
    """Call this with the seconds of every limit that begins, from now on.

    Compiled code does not hear the alarm: another process must end it.
    """
    _watchers.append(watch)


def _begin(seconds: float) -> float:
    """Set the alarm, and return the seconds that were left of another."""
    left = set_alarm(seconds)
    for watch in _watchers:
        watch(seconds)
    return left


def _stop(*_: Any) -> None:
    raise OutOfTime(f"{_limits[-1]:g} s")
