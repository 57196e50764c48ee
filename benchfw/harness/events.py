"""What an executor tells while it works."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
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


Event = Started | Finished


class Executor(Protocol):
    """Runs trials in any order and number at once."""

    def run(self, trials: Iterable[Trial]) -> Iterator[Event]: ...
    def close(self) -> None:
        """Stop whatever still runs; no process is left behind."""
        ...
