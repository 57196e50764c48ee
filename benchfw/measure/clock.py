"""The clocks of a trial: they run only inside the method, and wait for the device before they stop."""

from __future__ import annotations

from collections.abc import Callable
from math import nan
from time import perf_counter, process_time
from typing import Any, Self

from benchfw.backends import Backend

_host_timer: Callable[[], float] = perf_counter


def _reading_cost() -> float:
    """Return the CPU seconds that two readings of the clocks add to an interval of time between them."""

    def read() -> float:
        cpu, start = process_time(), perf_counter()
        lasted = perf_counter() - start
        return process_time() - cpu - lasted

    return max(0.0, min(read() for _ in range(5)))


READING_COST = _reading_cost()


def count_cpu_seconds() -> None:
    """Let all clocks of this process count the processor's time, all threads together, instead of time.

    A machine that others use too stops a process now and then, and that is not its fault. Work on a device is
    timed as before: the processor only waits for it.
    """
    global _host_timer  # noqa: PLW0603 - like the number of threads, a matter of the whole process
    _host_timer = process_time


def is_wall_time() -> bool:
    """Return whether clocks of this process count time itself."""
    return _host_timer is perf_counter


def is_device(backend: Backend) -> bool:
    """Return whether work on a backend goes on after a call has returned, so that it is waited for."""
    own_clock = getattr(type(backend), "stopwatch", Backend.stopwatch) is not Backend.stopwatch
    return own_clock or bool(getattr(backend, "on_device", False))


class Clock:
    """A stopwatch used as a context manager; `seconds` is the sum of all its intervals.

    `cpu_seconds` are the processor's in them, of all threads of this process; on a device without those in
    which it only waits for it in the end.
    """

    def __init__(self, backend: Backend) -> None:
        self._synchronize = backend.synchronize
        self._on_host = not is_device(backend)
        self.now = _host_timer if self._on_host else perf_counter
        self._started = self._cpu_started = 0.0
        self.seconds = self.cpu_seconds = 0.0

    def __enter__(self) -> Self:
        self._synchronize()  # work queued before, such as metrics, is not the method's
        self._cpu_started = process_time()  # outside the other clock: it takes longer to read
        self._started = self.now()
        return self

    def __exit__(self, *_: object) -> None:
        used = 0.0 if self._on_host else process_time()  # while the device still works
        self._wait()
        self.seconds += self.now() - self._started
        used = process_time() if self._on_host else used
        self.cpu_seconds += max(0.0, used - self._cpu_started - READING_COST)

    def _wait(self) -> None:
        self._synchronize()

    def leave_out(self, call: Callable[[Any], Any], argument: Any) -> Any:
        """Return what a short call on the host returns, and count none of its time on the running clock."""
        began, cpu = self.now(), process_time()
        result = call(argument)
        self._cpu_started += process_time() - cpu
        self._started += self.now() - began
        return result

    def deadline(self, seconds: float) -> float:
        """Return what `now` will be when a running clock shows this many seconds."""
        return self._started + seconds - self.seconds


class DeviceClock(Clock):
    """A clock that asks the device as well: `device_seconds`, NaN where it has no clock of its own."""

    def __init__(self, backend: Backend) -> None:
        super().__init__(backend)
        self._stopwatch = backend.stopwatch
        self._stop: Callable[[], float] | None = None
        self.device_seconds = 0.0

    def __enter__(self) -> Self:
        super().__enter__()
        self._stop = self._stopwatch()
        return self

    def _wait(self) -> None:
        self.device_seconds += nan if self._stop is None else self._stop()
        super()._wait()
