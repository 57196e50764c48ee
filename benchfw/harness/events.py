"""What a run and its executor tell while they work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

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
