"""The memory that the trial of a worker holds, as the parent sees it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

SCAN_SHARE = 100.0  # looks for processes that a trial has started take at most a hundredth of the time


class Memory:
    """Measures what a worker's trial holds; a worker that forks holds none of it itself."""

    def __init__(self, *, forks: bool) -> None:
        self._forks = forks
        self._descendants: list[psutil.Process] = []
        self._next_scan = 0.0

    def held(self, worker: int, limit: float) -> int:
        """Return the bytes that the trial holds now, with the processes that it has started.

        Pages that several of them share count once where the sum of all is beyond the limit.
        """
        import psutil

        try:
            began = monotonic()
            if began >= self._next_scan:  # it reads all processes of the system
                process = psutil.Process(worker)
                self._descendants = process.children(recursive=True)
                if not self._forks or not self._descendants:
                    self._descendants.append(process)
                self._next_scan = monotonic() + SCAN_SHARE * (monotonic() - began)
        except psutil.Error:
            return 0
        total = sum(_resident(each) for each in self._descendants)
        if total > limit and len(self._descendants) > 1:
            return sum(_proportional(each) for each in self._descendants)
        return total


def _resident(process: psutil.Process) -> int:
    return _ask(lambda: int(process.memory_info().rss))


def _proportional(process: psutil.Process) -> int:
    """Return the memory of a process, of shared pages its share; all that it holds where nobody knows."""
    return _ask(lambda: int(getattr(process.memory_full_info(), "pss", process.memory_info().rss)))


def _ask(read: Callable[[], int]) -> int:
    import psutil

    try:
        return read()
    except psutil.Error:  # ended meanwhile
        return 0
