"""The clock of a trial: it runs only inside the method, and waits for the device before it stops."""

from __future__ import annotations

from time import perf_counter
from typing import Self

from benchfw.backends import Backend


class Clock:
    """A stopwatch used as a context manager; `seconds` is the sum of all its intervals."""

    def __init__(self, backend: Backend) -> None:
        self._synchronize = backend.synchronize
        self._started = 0.0
        self.seconds = 0.0

    def __enter__(self) -> Self:
        self._synchronize()  # work queued before, such as metrics, is not the method's
        self._started = perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._synchronize()
        self.seconds += perf_counter() - self._started

    def deadline(self, seconds: float) -> float:
        """Return when, on perf_counter, a running clock will show this many seconds."""
        return self._started + seconds - self.seconds
