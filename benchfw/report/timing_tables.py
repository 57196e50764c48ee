"""Timings of kernels as people read them: a table and a sentence a kernel, and as rows for other programs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from benchfw.analysis.intervals import Interval, median_interval
from benchfw.analysis.timings import Timing, break_evens, reference_of, speedup
from benchfw.report.numbers import figures, interval_text, ratio_text, time_unit
from benchfw.report.tables import Table
from benchfw.summary.model import Method

CAPTION = (
    "Median over blocks of calls [95 % interval]; rates from the operations and bytes that a kernel "
    "declares; the limit is the time of these at the highest rates seen in this run."
)
_INTERVALS = ("seconds", "device_seconds", "copy_seconds", "fraction_of_limit", "times_faster")
EXPORT_COLUMNS = (
    *("kernel", "size", "backend", "dtype", "status", "reason"),
    *(f"{name}{end}" for name in _INTERVALS for end in ("", "_low", "_high")),
    *("flops", "bytes", "flops_per_second", "bytes_per_second", "floor_seconds", "limited_by"),
    *("argument_bytes", "peak_bytes"),
)


def by_kernel(timings: Sequence[Timing]) -> dict[str, list[Timing]]:
    """Return the timings of each kernel, backend after backend."""
    backends = list(dict.fromkeys(timing.backend for timing in timings))
    groups: dict[str, list[Timing]] = {}
    for timing in sorted(timings, key=lambda each: (backends.index(each.backend), each.size)):
        groups.setdefault(timing.kernel, []).append(timing)
    return groups


def heading(timings: Sequence[Timing]) -> str:
    """Return a kernel's name with the type that it was timed in."""
    dtypes = dict.fromkeys(each.dtype for each in timings if each.dtype)
    return f"{timings[0].kernel} ({', '.join(dtypes)})" if dtypes else timings[0].kernel


def kernel_table(timings: Sequence[Timing]) -> Table:
    """Return the table of one kernel's timings in one unit of time; columns that say nothing are left out."""
    times = [time for each in timings for time in (*each.seconds, *each.device_seconds, *each.copy_seconds)]
    scale, unit = time_unit(times)
    columns = {
        "backend": [each.backend for each in timings],
        "size": [f"{each.size:,}" for each in timings],
        f"time a call, {unit}": [_time(each.seconds, scale) or each.status.value for each in timings],
        f"by the device, {unit}": [_time(each.device_seconds, scale) for each in timings],
        f"copies in, {unit}": [_time(each.copy_seconds, scale) for each in timings],
        "GB/s": [_rate(each, each.moved) for each in timings],
        "Gflop/s": [_rate(each, each.flops) for each in timings],
        "of the limit": [_share(each) for each in timings],
        "memory, MB": [_memory(each) for each in timings],
        "times faster": [_ratio(speedup(each, timings)) for each in timings],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    rows = zip(*([cell or "—" for cell in cells] for cells in shown.values()), strict=True)
    return Table(tuple(shown), tuple(rows), tuple(Method(each.backend, "") for each in timings))


def sentence(timings: Sequence[Timing]) -> str:
    """Return what one kernel's timings say: how near the limit, and from what size on a backend is faster."""
    largest = {each.backend: each for each in timings if each.measured}
    said = []
    for each in largest.values():
        fraction, floor = each.fraction, each.floor
        if fraction is not None and floor is not None:
            said.append(
                f"{each.backend} reaches {_percent(fraction.estimate)} of the {floor[1]} limit "
                f"at size {each.size:,}"
            )
    reference = reference_of(timings)
    for (_, backend), size in break_evens(timings).items():
        if not math.isnan(size):
            said.append(_break_even_text(backend, reference, size, timings))
    return f"{'; '.join(said)}." if said else "Nothing was measured."


def _break_even_text(backend: str, reference: str, size: float, timings: Sequence[Timing]) -> str:
    ratios = {each.size: speedup(each, timings) for each in timings if each.backend == backend}
    last, ratio = max((size, ratio) for size, ratio in ratios.items() if ratio is not None)
    if math.isinf(size):
        return (
            f"{backend} is no faster than {reference} at size {last:,}, the largest that both were timed at"
        )
    start = "at every size" if size == 0 else f"from size {float(f'{size:.3g}'):,.0f} on"
    return f"{backend} is faster than {reference} {start}, {ratio_text(ratio)} times at size {last:,}"


def ceiling_sentences(timings: Sequence[Timing]) -> Iterator[str]:
    """Yield a line on each backend and type: the highest rates that were seen."""
    for backend, ceilings in dict.fromkeys((each.backend, each.ceilings) for each in timings):
        if ceilings is not None:
            memory, cache = ceilings.bandwidths[-1] / 1e9, max(ceilings.bandwidths) / 1e9
            yield (
                f"{backend}: memory {figures(memory)} GB/s (smaller working sets up to {figures(cache)}), "
                f"products of {ceilings.dtype} matrices {figures(ceilings.flop_rate / 1e9)} Gflop/s"
            )


def missing_sentences(timings: Sequence[Timing]) -> list[str]:
    """Return a line on each timing that is missing, with its reason."""
    return [
        f"{each.kernel}, size {each.size:,} ({each.backend}): {each.status.value}: {each.reason}"
        for each in timings
        if not each.measured
    ]


def export_rows(timings: Sequence[Timing]) -> Iterator[tuple[Any, ...]]:
    """Yield every number in the order of EXPORT_COLUMNS; None where there is none."""
    for each in timings:
        time = each.time.estimate
        seconds = [_interval(values) for values in (each.seconds, each.device_seconds, each.copy_seconds)]
        shares = [_ends(each.fraction if each.measured else None), _ends(speedup(each, timings))]
        floor, limit = each.floor if each.floor is not None else (None, None)
        numbers = (each.flops, each.moved, each.flops / time, each.moved / time)
        yield (
            *(each.kernel, each.size, each.backend, each.dtype, each.status.value, each.reason),
            *(end for ends in (*seconds, *shares) for end in ends),
            *(number if math.isfinite(number) else None for number in numbers),
            *(floor, limit, each.argument_bytes, each.peak_bytes),
        )


def _time(seconds: Sequence[float], scale: float) -> str:
    return interval_text(median_interval(seconds).scaled(1 / scale)) if seconds else ""


def _rate(timing: Timing, count: float) -> str:
    known = timing.measured and math.isfinite(count)
    return figures(count / timing.time.estimate / 1e9) if known else ""


def _share(timing: Timing) -> str:
    fraction, floor = timing.fraction, timing.floor
    if not timing.measured or fraction is None or floor is None:
        return ""
    return f"{_percent(fraction.estimate)} ({floor[1]})"


def _percent(fraction: float) -> str:
    return f"{figures(100 * fraction, 2)} %"


def _memory(timing: Timing) -> str:
    return "" if timing.memory is None else figures(timing.memory / 1e6)


def _ratio(ratio: Interval | None) -> str:
    return "" if ratio is None else ratio_text(ratio)


def _interval(values: Sequence[float]) -> tuple[float | None, ...]:
    return _ends(median_interval(values) if values else None)


def _ends(interval: Interval | None) -> tuple[float | None, ...]:
    if interval is None:
        return None, None, None
    return tuple(x if math.isfinite(x) else None for x in (interval.estimate, interval.low, interval.high))
