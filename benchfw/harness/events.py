"""What a run and its executor tell while they work, and the queue that executors take trials from."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from benchfw.backends import is_on_device
from benchfw.records import Outcome, Trial


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


@dataclass(frozen=True)
class Begun:
    """The first event of a run: what is to do, and what is in the store already.

    `outdated` counts trials that run again though the store has them, by what has changed since.
    """

    run: int
    reused: int
    pending: Sequence[Trial]
    jobs: int = 1
    outdated: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """Return the trials that were asked for."""
        return self.reused + len(self.pending)


@dataclass(frozen=True)
class Awaited:
    """Nothing is left to do but what other runs on the same store are at."""

    trials: int
    runs: tuple[int, ...]


@dataclass(frozen=True)
class Replaying:
    """All trials have ended; so many of them are run a second time."""

    trials: int


Listener = Callable[[Begun | Awaited | Replaying | Event], None]


class Executor(Protocol):
    """Runs trials in any order and number at once."""

    def run(self, trials: Iterable[Trial]) -> Iterator[Event | Waiting]:
        """Yield what happens to the trials, and now and then that nothing does."""
        ...

    def close(self) -> None:
        """Stop whatever still runs; no process is left behind."""
        ...


def needs_device(trial: Trial) -> bool:
    """Return whether a trial must have a device to itself."""
    return is_on_device(trial.backend)


class TrialQueue:
    """Trials in the order given; a worker without a device passes over those that need one."""

    def __init__(self, trials: Iterable[Trial], needs_device: Callable[[Trial], bool] = needs_device) -> None:
        self._trials: dict[bool, deque[tuple[int, Trial]]] = {False: deque(), True: deque()}
        self._needs_device = needs_device
        for number, trial in enumerate(trials):
            self._trials[needs_device(trial)].append((number, trial))
        self._front = 0

    def __len__(self) -> int:
        return sum(map(len, self._trials.values()))

    def take(self, *, has_device: bool) -> Trial | None:
        """Return the first trial that a worker with or without a device can run, and forget it."""
        able = [queue for needs, queue in self._trials.items() if queue and (has_device or not needs)]
        return min(able, key=lambda queue: queue[0][0]).popleft()[1] if able else None

    def put_back(self, trial: Trial) -> None:
        """Let a trial be the next."""
        self._front -= 1
        self._trials[self._needs_device(trial)].appendleft((self._front, trial))
