"""What a run and its executor tell while they work, and the queue that executors take trials from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from benchfw.backends import is_on_device
from benchfw.records import Cell, Outcome, Trial


@dataclass(frozen=True)
class Started:
    """A trial was handed to a worker."""

    trial: Trial


@dataclass(frozen=True)
class Finished:
    """A trial ended, well or not."""

    trial: Trial
    outcome: Outcome


@dataclass(frozen=True)
class Waiting:
    """For a while nothing has happened."""


Event = Started | Finished

Phase = Literal["tuning", "verdict"]
"""What the trials of a part of a run are for."""


@dataclass(frozen=True)
class Begun:
    """The first event of a part of a run: how many trials of each cell are to do, what the store has already.

    `outdated` counts trials that run again though the store has them, by what has changed since. A trial may
    take so many `seconds`, if there is a limit. A run that tunes begins more than once: its `phase` says so.
    """

    run: int
    reused: int
    by_cell: Mapping[Cell, int]
    jobs: int = 1
    outdated: Mapping[str, int] = field(default_factory=dict)
    seconds: float | None = None
    phase: Phase = "verdict"

    @property
    def pending(self) -> int:
        """Return the trials to run."""
        return sum(self.by_cell.values())

    @property
    def total(self) -> int:
        """Return the trials that were asked for."""
        return self.reused + self.pending


@dataclass(frozen=True)
class Awaited:
    """Nothing is left to do but what other runs on the same store are at."""

    trials: int
    runs: tuple[int, ...]


@dataclass(frozen=True)
class TakenOver:
    """Another run on the same store has ended trials that were to run here: so many of each cell."""

    by_cell: Mapping[Cell, int]


@dataclass(frozen=True)
class Replaying:
    """All trials have ended; so many of them are run a second time."""

    trials: int


Advance = Begun | TakenOver | Event
"""What changes how far a run is."""

Told = Advance | Awaited | Replaying
Listener = Callable[[Told], None]


class Executor(Protocol):
    """Runs trials in any order and number at once."""

    def run(self, trials: Sequence[Trial]) -> Iterator[Event | Waiting]:
        """Yield what happens to the trials, and now and then that nothing does."""
        ...

    def close(self) -> None:
        """Stop whatever still runs; no process is left behind."""
        ...


def needs_device(trial: Trial) -> bool:
    """Return whether a trial must have a device to itself."""
    return is_on_device(trial.backend)


class TrialQueue:
    """Trials in the order given; a worker without a device passes over those that need one.

    Only what was passed over or put back is held: the others are made when it is their turn.
    """

    def __init__(self, trials: Sequence[Trial], needs_device: Callable[[Trial], bool] = needs_device) -> None:
        self._trials, self._next = trials, 0
        self._needs_device = needs_device
        self._held: dict[bool, deque[tuple[int, Trial]]] = {False: deque(), True: deque()}
        self._front = 0

    def __len__(self) -> int:
        return len(self._trials) - self._next + sum(map(len, self._held.values()))

    def take(self, *, has_device: bool) -> Trial | None:
        """Return the first trial that a worker with or without a device can run, and forget it."""
        able = [queue for needs, queue in self._held.items() if queue and (has_device or not needs)]
        if able:
            return min(able, key=lambda queue: queue[0][0]).popleft()[1]
        while self._next < len(self._trials):
            number, trial = self._next, self._trials[self._next]
            self._next += 1
            if has_device or not self._needs_device(trial):
                return trial
            self._held[True].append((number, trial))
        return None

    def put_back(self, trial: Trial) -> None:
        """Let a trial be the next."""
        self._front -= 1
        self._held[self._needs_device(trial)].appendleft((self._front, trial))
