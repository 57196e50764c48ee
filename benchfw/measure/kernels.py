"""Measures a kernel: blocks of calls, and the facts beside them (counts, memory, the machine's ceilings)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchfw.backends import Backend, get_backend
from benchfw.measure.clock import Clock, DeviceClock, is_wall_time
from benchfw.measure.meter import Emit
from benchfw.records import Budget, Ending, Outcome, Record, Status, Trial
from benchfw.registry import Entry

BLOCKS = 30
BLOCK_SECONDS = 2e-3  # long enough for the clock's own cost not to matter

SMALLEST_PILOT = 1_000
PILOT_STEP = 10  # a call's fixed cost is taken for work, and overestimated by at most this factor
PILOT_CALLS = 3  # a busy machine stops a call now and then: the fastest counts

FOOTPRINTS = tuple(1 << power for power in range(16, 29, 3))  # 64 KiB, in a cache, to 256 MiB, in none
COLUMNS = 1024
SIDES = (512, 1024, 2048, 4096, 8192)
LONG_PRODUCT = 0.02  # seconds of a matrix product: a larger one would not be faster
CEILING_BUDGET = Budget(seconds=0.1)

ArgumentsOf = Callable[[int], Sequence[Any]]
"""Size -> the arguments of a call."""


class Block(NamedTuple):
    """Calls that were timed together; `device_seconds` is NaN where the device has no clock of its own."""

    calls: int
    seconds: float
    device_seconds: float
    cpu_seconds: float


def timed_blocks(
    backend: Backend, call: Callable[..., Any], arguments: Sequence[Any], budget: Budget
) -> Iterator[Block]:
    """Yield blocks of calls until the budget's seconds or iterations end, or there are enough of them."""
    calls = max(1, math.ceil(BLOCK_SECONDS / max(_call_seconds(backend, call, arguments), 1e-7)))
    left = budget.seconds or math.inf
    for _ in range(min(budget.iterations or BLOCKS, BLOCKS)):
        clock = DeviceClock(backend)
        with clock:
            for _ in range(calls):
                call(*arguments)
        yield Block(calls, clock.seconds, clock.device_seconds, clock.cpu_seconds)
        left -= clock.seconds
        if left <= 0:
            return


def kernel_arguments(
    entry: Entry, backend: Backend, seed: int, dtype: str | None, size: int
) -> tuple[Any, ...]:
    """Return a kernel's sample of arguments; `dtype` replaces the type of its floating-point arrays."""
    arguments = entry.sample(backend, backend.rng(seed), size)
    return arguments if dtype is None else _convert(arguments, backend, dtype)


def measure_kernel(
    trial: Trial, backend: Backend, kernel: Any, arguments_of: ArgumentsOf, emit: Emit
) -> Outcome:
    """Time blocks of calls, a record each, and likewise the copies of their arguments to a device.

    A call that would take longer than the whole budget of seconds is not made: the trial is skipped.
    """
    size, limit = trial.problem.params["size"], trial.budget.seconds
    if limit is not None:
        needed = _predict_seconds(backend, kernel, arguments_of, size, limit)
        if needed > limit:
            reason = f"a call would take about {needed:.3g} s, and the budget is {limit:g} s"
            return Outcome(Status.SKIPPED, Ending.SECONDS, reason)
    arguments = arguments_of(size)
    facts = kernel_facts(backend, kernel, arguments)
    number, calls, seconds = _emit_blocks(timed_blocks(backend, kernel, arguments, trial.budget), "", emit)
    hosted = [backend.to_numpy(array) for array in _arrays(backend, arguments)]
    if not all(np.may_share_memory(backend.to_numpy(backend.asarray(host)), host) for host in hosted):
        _emit_blocks(timed_blocks(backend, partial(_bring, backend), hosted, trial.budget), "copy_", emit)
    ending = Ending.SECONDS if seconds >= (limit or math.inf) else Ending.ITERATIONS
    return Outcome(Status.DONE, ending, f"{number} blocks of {calls:,} calls", facts=facts)


def _emit_blocks(blocks: Iterator[Block], prefix: str, emit: Emit) -> tuple[int, int, float]:
    """Hand over a record a block and clock; return the blocks, the calls in each and the seconds of all."""
    total, total_cpu, number, calls = 0.0, 0.0, 0, 0
    for number, (calls, seconds, device_seconds, cpu_seconds) in enumerate(blocks, 1):
        total += seconds
        total_cpu += cpu_seconds
        measured = {f"{prefix}seconds_per_call": seconds / calls}
        if math.isfinite(device_seconds) and not prefix:
            measured["device_seconds_per_call"] = device_seconds / calls
        cost = float(number * calls)
        emit(
            [
                Record(name, number, total, cost, value, "metric", total_cpu)
                for name, value in measured.items()
            ]
        )
    return number, calls, total


def _predict_seconds(
    backend: Backend, kernel: Any, arguments_of: ArgumentsOf, size: int, limit: float
) -> float:
    """Return about how long a call takes where that is longer than the limit, else 0: from smaller sizes."""
    sizes = [size]
    while sizes[0] > SMALLEST_PILOT:
        sizes.insert(0, math.ceil(sizes[0] / PILOT_STEP))
    for number, smaller in enumerate(sizes[:-1]):
        arguments = arguments_of(smaller)
        if number == 0:
            kernel(*arguments)  # imports and compilation
        seconds = math.inf
        for _ in range(PILOT_CALLS):
            seconds = min(seconds, _call_seconds(backend, kernel, arguments))
            if seconds * PILOT_STEP <= limit:
                break
        else:
            return seconds * size / smaller
    return 0.0


def kernel_facts(backend: Backend, kernel: Any, arguments: Sequence[Any]) -> dict[str, float]:
    """Return what a call declares, the bytes that it holds, and what the machine can do at most."""
    results: list[Any] = []
    peak = backend.peak_during(lambda: results.append(kernel(*arguments)))
    given, got = list(_arrays(backend, arguments)), list(_arrays(backend, results))
    held = {"argument_bytes": sum(each.nbytes for each in given), "result_bytes": sum(x.nbytes for x in got)}
    floats = [kind for kind in map(_dtype_of, (*got, *given)) if kind.kind == "f"]
    dtype = floats[0].name if floats else "float64"
    facts = {"float_bits": 8.0 * np.dtype(dtype).itemsize, **held}
    if peak is not None:
        facts["peak_bytes"] = float(peak)
    counts = getattr(kernel, "counts", None)
    if counts is not None:
        facts["flops_per_call"], facts["bytes_per_call"] = map(
            float, counts(*(backend.to_numpy(each) if backend.owns(each) else each for each in arguments))
        )
        facts |= _ceiling_facts(backend, dtype, sum(held.values()))
    return facts


def _ceiling_facts(backend: Backend, dtype: str, footprint: int) -> Mapping[str, float]:
    """Return the highest rates for so large a working set; none in CPU seconds, nor where memory is short."""
    if not is_wall_time():
        return {}
    try:
        ceilings = ceilings_of(backend.name, dtype)
    except MemoryError:
        return {}
    return {
        "ceiling_flops_per_second": ceilings.flop_rate,
        "ceiling_bytes_per_second": ceilings.bandwidth(footprint),
    }


@dataclass(frozen=True)
class Ceilings:
    """The highest rates a machine was seen to reach: operations a second in one type, and bytes a second.

    `bandwidths` belong to working sets of so many bytes, `footprints`: caches serve the smaller ones faster.
    """

    flop_rate: float
    footprints: tuple[int, ...]
    bandwidths: tuple[float, ...]

    def bandwidth(self, footprint: float) -> float:
        """Return the highest rate seen for working sets of this size or larger, else that of the largest.

        Larger ones count too: the cost of a call hides how fast the memory under a small one is.
        """
        pairs = sorted(zip(self.footprints, self.bandwidths, strict=True))
        return max((rate for size, rate in pairs if size >= footprint), default=pairs[-1][1])


_ceilings: dict[tuple[str, str], Ceilings] = {}  # by backend and type; the harness carries them on


def known_ceilings() -> dict[tuple[str, str], Ceilings]:
    """Return what was measured in this process, or was known to it; more can be added."""
    return _ceilings


def ceilings_of(backend: str, dtype: str) -> Ceilings:
    """Return what `measure_ceilings` finds, once: it takes a second, and half a gigabyte."""
    known = known_ceilings()
    if (backend, dtype) not in known:
        known[backend, dtype] = measure_ceilings(get_backend(backend), dtype)
    return known[backend, dtype]


def measure_ceilings(backend: Backend, dtype: str) -> Ceilings:
    """Return the rate of matrix products, and at each footprint the better one of copying and of reading."""
    bandwidths = tuple(
        max(_copy_rate(backend, size), _read_rate(backend, size, dtype)) for size in FOOTPRINTS
    )
    return Ceilings(_product_rate(backend, dtype), FOOTPRINTS, bandwidths)


def _copy_rate(backend: Backend, footprint: int) -> float:
    """Return the bytes a second, read and written, of a copy from one half of a footprint to the other."""
    source = backend.xp.ones(footprint // 16)
    return footprint / _fastest(backend, _copy, backend.xp.zeros_like(source), source)


def _copy(target: Any, source: Any) -> None:
    target[...] = source


def _read_rate(backend: Backend, footprint: int, dtype: str) -> float:
    """Return the bytes a second of a matrix-vector product: unlike a copy, it uses all of a CPU's threads."""
    row = backend.xp.ones(COLUMNS, dtype=dtype)
    matrix = backend.xp.ones((footprint // row.nbytes, COLUMNS), dtype=dtype)
    return float(matrix.nbytes) / _fastest(backend, backend.xp.matmul, matrix, row)


def _product_rate(backend: Backend, dtype: str) -> float:
    """Return the operations a second of the product of two square matrices, of the best size."""
    rng = backend.rng(0)  # a GPU multiplies constants at a higher clock than numbers
    best = 0.0
    for side in SIDES:
        left, right = (rng.standard_normal((side, side), dtype) for _ in range(2))
        seconds = _fastest(backend, backend.xp.matmul, left, right)
        best = max(best, 2.0 * side**3 / seconds)
        if seconds >= LONG_PRODUCT:
            break
    return best


def _fastest(backend: Backend, call: Any, *arguments: Any) -> float:
    call(*arguments)  # compiled and planned before the clock runs
    return min(
        block.seconds / block.calls for block in timed_blocks(backend, call, arguments, CEILING_BUDGET)
    )


def _call_seconds(backend: Backend, call: Callable[..., Any], arguments: Sequence[Any]) -> float:
    clock = Clock(backend)
    with clock:
        call(*arguments)
    return clock.seconds


def _bring(backend: Backend, *arrays: Any) -> None:
    for array in arrays:
        backend.asarray(array)


def _convert(value: Any, backend: Backend, dtype: str) -> Any:
    if isinstance(value, tuple):
        return tuple(_convert(each, backend, dtype) for each in value)
    if backend.owns(value) and _dtype_of(value).kind == "f":
        return backend.asarray(value, dtype=dtype)
    return value


def _dtype_of(array: Any) -> np.dtype[Any]:
    """Return the type of an array of any library by its name, as in torch.float32."""
    return np.dtype(str(array.dtype).rpartition(".")[2])


def _arrays(backend: Backend, values: Sequence[Any]) -> Iterator[Any]:
    """Yield the backend's arrays among values and the tuples in them."""
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(backend, value)
        elif backend.owns(value):
            yield value
