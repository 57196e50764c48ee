"""Measured calls of kernels, and what follows from them: intervals, rates, the share of the limit, ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.analysis.intervals import Interval, independent_ratio, median_interval
from benchfw.analysis.roofline import Ceilings, Limit, break_even, fraction_of_limit
from benchfw.records import Status


@dataclass(frozen=True)
class Timing:
    """One kernel at one size on one backend; seconds are those of a call, one number a block of calls."""

    kernel: str
    size: int
    backend: str
    status: Status
    reason: str
    dtype: str = ""
    seconds: tuple[float, ...] = ()
    device_seconds: tuple[float, ...] = ()  # by the device's own events; none on the host
    copy_seconds: tuple[float, ...] = ()  # of bringing the arguments from the host; none on it
    flops: float = math.nan  # of a call, as the kernel declares them
    moved: float = math.nan  # bytes of a call, likewise
    argument_bytes: int = 0
    result_bytes: int = 0
    peak_bytes: int | None = None  # the most held at once in a call, beside its arguments
    ceilings: Ceilings | None = None

    @property
    def measured(self) -> bool:
        """Whether there is a time."""
        return bool(self.seconds)

    @property
    def time(self) -> Interval:
        """The median of the blocks with its interval."""
        return median_interval(self.seconds)

    @property
    def floor(self) -> tuple[float, Limit] | None:
        """The seconds that the hardware needs at least, and why; None where nothing was declared."""
        if self.ceilings is None or not math.isfinite(self.flops + self.moved):
            return None
        return self.ceilings.floor(self.flops, self.moved, self.argument_bytes + self.result_bytes)

    @property
    def fraction(self) -> Interval | None:
        """The share of the hardware's limit that was reached."""
        return None if self.floor is None else fraction_of_limit(self.time, self.floor[0])

    @property
    def memory(self) -> int | None:
        """The bytes that a call needs: its arguments, and what it holds beside them."""
        return None if self.peak_bytes is None else self.argument_bytes + self.peak_bytes


def reference_of(timings: Sequence[Timing]) -> str:
    """Return the backend that others are compared with: numpy, or the first."""
    backends = [timing.backend for timing in timings]
    return "numpy" if "numpy" in backends or not backends else backends[0]


def speedup(timing: Timing, timings: Sequence[Timing]) -> Interval | None:
    """Return how many times faster than the reference this backend is at the same kernel and size."""
    reference = reference_of(timings)
    if timing.backend == reference or not timing.measured:
        return None
    for other in timings:
        if (other.kernel, other.size, other.backend) == (timing.kernel, timing.size, reference):
            return independent_ratio(other.time, timing.time) if other.measured else None
    return None


def break_evens(timings: Sequence[Timing]) -> dict[tuple[str, str], float]:
    """Return, by kernel and backend, the size from which on the backend is faster than the reference.

    0, infinity and NaN mean always, never and not known, as in `break_even`.
    """
    reference = reference_of(timings)
    times = {(each.kernel, each.backend, each.size): each.time.estimate for each in timings if each.measured}
    found = {}
    for kernel, backend in dict.fromkeys((each.kernel, each.backend) for each in timings):
        if backend == reference:
            continue
        sizes = sorted(
            size
            for name, other, size in times
            if (name, other) == (kernel, backend) and (kernel, reference, size) in times
        )
        mine = [times[kernel, reference, size] for size in sizes]
        theirs = [times[kernel, backend, size] for size in sizes]
        found[kernel, backend] = break_even(sizes, mine, theirs)
    return found
