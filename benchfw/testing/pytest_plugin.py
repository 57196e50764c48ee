"""The pytest plugin: a fixture that times a call for pytest-benchmark as kernels are timed everywhere.

Every pytest run of an environment with benchfw in it imports this file: it imports nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchfw.backends import Backend

SECONDS = 1.0


@pytest.fixture
def benchfw_benchmark(benchmark: Any) -> Callable[..., Any]:
    """Return `time_call(backend, call, *arguments)`, which hands pytest-benchmark the samples of a trial.

    The call is made once beforehand, so that imports and compilation are not in the times, and each block of
    calls ends when the device has done its work. Returns what the call returns.
    """

    def time_call(backend: Backend, call: Callable[..., Any], *arguments: Any) -> Any:
        result = call(*arguments)
        if benchmark.disabled:
            return result
        from benchfw.measure.kernels import timed_blocks
        from benchfw.records import Budget

        blocks = list(timed_blocks(backend, call, arguments, Budget(seconds=SECONDS)))
        readings = iter([reading for block in blocks for reading in (0.0, block.seconds / block.calls)])

        def read() -> float:
            return next(readings)

        benchmark._timer = read  # noqa: SLF001 - it has no other door for samples that were taken elsewhere
        benchmark.extra_info |= {"backend": backend.name, "calls_a_round": blocks[0].calls}
        return benchmark.pedantic(lambda: result, rounds=len(blocks))

    return time_call
