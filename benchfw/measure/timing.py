"""Times kernels at several sizes on several backends, beside the ceilings of each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from time import perf_counter
from typing import Any

from benchfw.analysis.roofline import Ceilings
from benchfw.analysis.timings import Timing
from benchfw.backends import Backend
from benchfw.measure.ceilings import measure_ceilings
from benchfw.measure.kernels import Block, timed_blocks
from benchfw.measure.trial import ending_of
from benchfw.records import Budget, Status
from benchfw.registry import Entry

SEED = 0
SHARE = 4  # the part of the limit that is measured time: the rest makes arguments and warms up

CeilingsOf = Callable[[Backend, str], Ceilings]


def time_kernels(
    entries: Sequence[Entry],
    backends: Sequence[Backend],
    sizes: Sequence[int],
    limit: float,
    dtype: str | None = None,
) -> Iterator[Timing]:
    """Yield a timing for every kernel, size and backend, the backends side by side so that drift is shared.

    About `limit` seconds go to a kernel on a backend: a size that would take more is left out. `dtype`
    changes the floating-point arrays that the kernels' samples give.
    """
    ceilings_of = cache(measure_ceilings)
    budget = Budget(seconds=limit / SHARE / len(sizes))
    for entry in entries:
        courses = [_Course(entry, backend, limit, budget, dtype, ceilings_of) for backend in backends]
        for size in sorted(sizes):
            for course in courses:
                yield course.run(size)


@dataclass
class _Course:
    """One kernel on one backend, from the smallest size to the largest."""

    entry: Entry
    backend: Backend
    limit: float
    budget: Budget
    dtype: str | None
    ceilings_of: CeilingsOf
    spent: float = 0.0
    measured: float = 0.0
    least: dict[int, float] = field(default_factory=dict)  # seconds of each size with one measured call

    def run(self, size: int) -> Timing:
        """Return the timing of one size; whatever goes wrong becomes its status."""
        blank = Timing(self.entry.name, size, self.backend.name, Status.DONE, "")
        needed = max((seconds * size / done for done, seconds in self.least.items()), default=0.0)
        if self.spent + needed > self.limit:
            return replace(blank, status=Status.SKIPPED, reason=self._too_long(needed))
        try:
            if not self.least:
                self._call(size)  # imports, compilation and caches: paid for once, and counted nowhere
            began, measured = perf_counter(), self.measured
            timing = self._time(blank)
            took = perf_counter() - began
            self.spent += took
            self.least[size] = took - (self.measured - measured) + timing.time.estimate
            return replace(timing, ceilings=self.ceilings_of(self.backend, timing.dtype))
        except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's kernel may raise anything
            status, reason = ending_of(fault)
            return replace(blank, status=status, reason=reason)

    def _too_long(self, needed: float) -> str:
        total = self.spent + needed
        return f"it would take about {total:.0f} s, more than the limit of {self.limit:g} s; raise --limit"

    def _arguments(self, size: int) -> tuple[Any, ...]:
        arguments = self.entry.sample(self.backend, self.backend.rng(SEED), size)
        return arguments if self.dtype is None else tuple(map(self._converted, arguments))

    def _converted(self, argument: Any) -> Any:
        if isinstance(argument, tuple):
            return tuple(map(self._converted, argument))
        if isinstance(argument, self.backend.xp.ndarray) and argument.dtype.kind == "f":
            return argument.astype(self.dtype)
        return argument

    def _call(self, size: int) -> None:
        self.entry.factory(*self._arguments(size))
        self.backend.synchronize()

    def _time(self, blank: Timing) -> Timing:
        backend, kernel = self.backend, self.entry.factory
        arguments = self._arguments(blank.size)
        results: list[Any] = []
        peak = backend.peak_during(lambda: results.append(kernel(*arguments)))
        given, got = list(_arrays(backend, arguments)), list(_arrays(backend, tuple(results)))
        results.clear()
        counts = getattr(kernel, "counts", None)
        flops, moved = counts(*arguments) if counts is not None else (blank.flops, blank.moved)
        floats = [str(array.dtype) for array in (*got, *given) if array.dtype.kind == "f"]
        timing = replace(
            blank,
            dtype=floats[0] if floats else "float64",
            flops=float(flops),
            moved=float(moved),
            argument_bytes=sum(array.nbytes for array in given),
            result_bytes=sum(array.nbytes for array in got),
            peak_bytes=peak,
        )
        del got
        blocks = self._blocks(kernel, arguments)
        return replace(
            timing,
            reason=f"{len(blocks)} blocks of {blocks[0].calls:,} calls",
            seconds=_per_call(blocks),
            device_seconds=tuple(
                block.device_seconds / block.calls for block in blocks if math.isfinite(block.device_seconds)
            ),
            copy_seconds=_per_call(self._copies(given)),
        )

    def _copies(self, arrays: Sequence[Any]) -> list[Block]:
        """Return the blocks of bringing the arrays from the host; none where they live on it."""
        hosted = [self.backend.to_numpy(array) for array in arrays]
        if all(self.backend.asarray(host) is host for host in hosted):
            return []
        return self._blocks(partial(_bring, self.backend), hosted)

    def _blocks(self, call: Callable[..., Any], arguments: Sequence[Any]) -> list[Block]:
        blocks = list(timed_blocks(self.backend, call, arguments, self.budget))
        self.measured += sum(block.seconds for block in blocks)
        return blocks


def _bring(backend: Backend, *arrays: Any) -> None:
    for array in arrays:
        backend.asarray(array)


def _per_call(blocks: Sequence[Block]) -> tuple[float, ...]:
    return tuple(block.seconds / block.calls for block in blocks)


def _arrays(backend: Backend, values: tuple[Any, ...]) -> Iterator[Any]:
    """Yield the backend's arrays among values and the tuples in them."""
    for value in values:
        if isinstance(value, tuple):
            yield from _arrays(backend, value)
        elif isinstance(value, backend.xp.ndarray):
            yield value
