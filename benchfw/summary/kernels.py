"""What follows from the seconds and the facts of a kernel: rates, share of the limit, break-even sizes.

The limit is the roofline of Williams, Waterman & Patterson 2009: no computation takes less than its
operations at the highest rate of operations, nor than its bytes at the highest rate of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

from benchfw.analysis.intervals import Interval
from benchfw.records import Cell
from benchfw.summary.model import Comparison
from benchfw.summary.quantities import Sample

Limit = Literal["memory", "arithmetic"]


class Floor(NamedTuple):
    """The seconds that a call takes at least, and what they are needed for."""

    seconds: float
    limit: Limit


def rate_intervals(sample: Sample) -> Iterator[tuple[str, Interval]]:
    """Yield operations and bytes a second, the share of the hardware's limit, and the bytes held."""
    if "seconds_per_call" not in sample.values:
        return
    seconds = sample.interval("seconds_per_call")
    facts = {name: interval.estimate for name, interval in sample.fact_intervals()}
    for count in ("flops", "bytes"):
        if f"{count}_per_call" in facts:
            yield f"{count}_per_second", seconds.inverted().scaled(facts[f"{count}_per_call"])
    floor = _floor(facts)
    if floor is not None:
        yield "floor_seconds", _exact(floor.seconds)
        yield "fraction_of_limit", seconds.inverted().scaled(floor.seconds)
    if "peak_bytes" in facts:
        yield "bytes_held", _exact(facts["argument_bytes"] + facts["peak_bytes"])


def floor_of(comparison: Comparison, cell: Cell) -> Floor | None:
    """Return the seconds that a call of a kernel takes at least, and why; None where that is not known."""
    return _floor({row.quantity: row.interval.estimate for row in comparison.rows if row.cell == cell})


def floor_seconds(flops: float, moved: float, flop_rate: float, bandwidth: float) -> Floor:
    """Return the seconds that so many operations and bytes take at least, and which of them says so."""
    arithmetic, memory = flops / flop_rate, moved / bandwidth
    return Floor(memory, "memory") if memory >= arithmetic else Floor(arithmetic, "arithmetic")


def _floor(facts: Mapping[str, float]) -> Floor | None:
    names = ("flops_per_call", "bytes_per_call", "ceiling_flops_per_second", "ceiling_bytes_per_second")
    return floor_seconds(*(facts[name] for name in names)) if all(name in facts for name in names) else None


def _exact(value: float) -> Interval:
    return Interval(value, value, value, 1)


def break_evens(comparison: Comparison) -> dict[str, float]:
    """Return, by backend, the size from which on it is faster than the first one: of a kernel at its sizes.

    0 and infinity mean always and never; a backend that was timed at no size of the first is left out.
    """
    seconds: dict[str, dict[int, float]] = {}
    for cell in comparison.cells:
        row = comparison.row(cell, "seconds_per_call")
        if row is not None:
            seconds.setdefault(cell.backend, {})[comparison.size(cell)] = row.interval.estimate
    first = seconds.pop(comparison.cells[0].backend, {})
    shared = {backend: sorted(first.keys() & found.keys()) for backend, found in seconds.items()}
    return {
        backend: break_even(
            sizes, [first[size] for size in sizes], [seconds[backend][size] for size in sizes]
        )
        for backend, sizes in shared.items()
        if sizes
    }


def break_even(sizes: Sequence[float], seconds: Sequence[float], other: Sequence[float]) -> float:
    """Return the size from which on `other` takes less time than `seconds`; sizes ascend.

    Between two sizes the logarithm of the ratio is taken as linear in that of the size, which is exact for
    powers of the size. 0: less at every size measured; infinity: not at the largest; NaN: no size at all.
    """
    gains = [math.log(mine / theirs) for mine, theirs in zip(seconds, other, strict=True)]
    if not gains:
        return math.nan
    losing = [number for number, gain in enumerate(gains) if gain <= 0]
    if not losing:
        return 0.0
    last = losing[-1]
    if last == len(gains) - 1:
        return math.inf
    share = gains[last] / (gains[last] - gains[last + 1])
    return float(sizes[last] * (sizes[last + 1] / sizes[last]) ** share)
