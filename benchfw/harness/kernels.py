"""Measures a kernel: the time of a call, and the bytes that it must move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from benchfw.backends import Backend
from benchfw.harness.clock import Clock
from benchfw.harness.meter import Emit, Ending
from benchfw.records import Record, Status, Trial

BLOCKS = 30
BLOCK_SECONDS = 2e-3  # long enough for the clock's own cost not to matter


def measure_kernel(
    trial: Trial, backend: Backend, kernel: Any, arguments: Sequence[Any], emit: Emit
) -> Ending:
    """Time a kernel in blocks of calls; a block is one record, beside the bytes that a call must move."""
    single = Clock(backend)
    with single:
        kernel(*arguments)
    calls = max(1, math.ceil(BLOCK_SECONDS / max(single.seconds, 1e-7)))
    blocks = min(trial.budget.iterations or BLOCKS, BLOCKS)
    counts = getattr(kernel, "counts", None)
    sizes = {"bytes_per_call": counts(*arguments)[1]} if counts is not None else {}
    total, block = 0.0, 0
    while block < blocks and total < (trial.budget.seconds or math.inf):
        clock = Clock(backend)
        with clock:
            for _ in range(calls):
                kernel(*arguments)
        total += clock.seconds
        block += 1
        measured = {"seconds_per_call": clock.seconds / calls, **sizes}
        emit([Record(name, block, total, float(block * calls), value) for name, value in measured.items()])
    return Status.DONE, f"{block} blocks of {calls:,} calls"
