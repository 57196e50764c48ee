"""How far a run is: the trials that are done, broken, running and left, and how long the rest may take."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from statistics import fmean
from time import monotonic
from typing import TypeAlias

from benchfw.harness.events import Event, Finished, Started
from benchfw.harness.run import Begun
from benchfw.records import Status, Trial

Group: TypeAlias = tuple[str, str, str]
"""Problem, method and backend: its trials take about the same time."""


class Pace:
    """Counts a run's events and estimates the time left from what each method has taken so far."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.total = self.done = self.failed = 0
        self.began = clock()
        self.running: dict[str, tuple[Trial, float]] = {}
        """The trials now running by their names, each with the moment of its start."""
        self._clock = clock
        self._jobs = 1
        self._waiting: Counter[Group] = Counter()
        self._budget: float | None = None
        self._taken: dict[Group, list[float]] = {}

    @property
    def ended(self) -> int:
        """Return the trials that have ended, well or not."""
        return self.done + self.failed

    @property
    def left(self) -> int:
        """Return the trials that have not ended, the running ones among them."""
        return self.total - self.ended

    def hear(self, event: Begun | Event) -> None:
        """Take in one event."""
        if isinstance(event, Begun):
            self.total, self._jobs = len(event.pending), event.jobs
            self._waiting = Counter(map(_group, event.pending))
            self._budget = event.pending[0].budget.seconds if event.pending else None
        elif isinstance(event, Started):
            if str(event.trial) not in self.running:  # else its worker did not start, and another tries
                self._waiting[_group(event.trial)] -= 1
            self.running[str(event.trial)] = event.trial, self._clock()
        elif isinstance(event, Finished):
            self._end(event)

    def _end(self, event: Finished) -> None:
        group, outcome = _group(event.trial), event.outcome
        if self.running.pop(str(event.trial), None) is None:
            self._waiting[group] -= 1  # skipped, never started
        if outcome.status is not Status.SKIPPED:
            self._taken.setdefault(group, []).append(outcome.seconds)
        if outcome.status.faulty:
            self.failed += 1
        else:
            self.done += 1

    def elapsed(self, since: float) -> float:
        """Return the seconds since a moment."""
        return self._clock() - since

    def seconds_left(self) -> float:
        """Return the seconds that the rest may take with all jobs busy; infinity while nothing is known."""
        # copies: the display asks from a thread of its own
        rest = [
            max(0.0, self._expected(_group(trial)) - self.elapsed(began))
            for trial, began in list(self.running.values())
        ]
        waiting = [(group, count) for group, count in list(self._waiting.items()) if count]
        work = sum(rest) + sum(self._expected(group) * count for group, count in waiting)
        return max(work / self._jobs, *rest, 0.0)

    def _expected(self, group: Group) -> float:
        """Return the seconds of one trial: as its method took so far, else the budget, else as any took."""
        if group in self._taken:
            return fmean(self._taken[group])
        if self._budget is not None:
            return self._budget
        means = [fmean(each) for each in list(self._taken.values())]
        return fmean(means) if means else math.inf


def _group(trial: Trial) -> Group:
    return trial.problem.label, trial.method.label, trial.backend


def duration(seconds: float) -> str:
    """Return a time as a person would say it: 41 s, 3 min, 2.5 h."""
    if seconds < 100:
        return f"{round(seconds)} s"
    return f"{round(seconds / 60)} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
