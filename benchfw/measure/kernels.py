"""Measures a kernel: the time of a call, and the bytes that it must move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from benchfw.backends import Backend
from benchfw.measure.clock import Clock, DeviceClock
from benchfw.measure.meter import Emit, Ending
from benchfw.records import Budget, Record, Status, Trial

BLOCKS = 30
BLOCK_SECONDS = 2e-3  # long enough for the clock's own cost not to matter


class Block(NamedTuple):
    """Calls that were timed together; `device_seconds` is NaN where the device has no clock of its own."""

    calls: int
    seconds: float
    device_seconds: float


def timed_blocks(
    backend: Backend, kernel: Callable[..., Any], arguments: Sequence[Any], budget: Budget
) -> Iterator[Block]:
    """Yield blocks of calls until the budget's seconds or iterations end, or there are enough of them."""
    single = Clock(backend)
    with single:
        kernel(*arguments)
    calls = max(1, math.ceil(BLOCK_SECONDS / max(single.seconds, 1e-7)))
    left = budget.seconds or math.inf
    for _ in range(min(budget.iterations or BLOCKS, BLOCKS)):
        clock = DeviceClock(backend)
        with clock:
            for _ in range(calls):
                kernel(*arguments)
        yield Block(calls, clock.seconds, clock.device_seconds)
        left -= clock.seconds
        if left <= 0:
            return


def measure_kernel(
    trial: Trial, backend: Backend, kernel: Any, arguments: Sequence[Any], emit: Emit
) -> Ending:
    """Time a kernel in blocks of calls; a block is one record, beside the bytes that a call must move."""
    counts = getattr(kernel, "counts", None)
    sizes = {"bytes_per_call": counts(*arguments)[1]} if counts is not None else {}
    total, number, calls = 0.0, 0, 0
    for calls, seconds, device_seconds in timed_blocks(backend, kernel, arguments, trial.budget):
        total += seconds
        number += 1
        measured = {"seconds_per_call": seconds / calls, **sizes}
        if math.isfinite(device_seconds):
            measured["device_seconds_per_call"] = device_seconds / calls
        emit([Record(name, number, total, float(number * calls), value) for name, value in measured.items()])
    return Status.DONE, f"{number} blocks of {calls:,} calls"
