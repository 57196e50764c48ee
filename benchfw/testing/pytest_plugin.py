"""The pytest plugin: a fixture that times a call with pytest-benchmark as benchfw times it.

Every pytest run of an environment with benchfw in it imports this file: it imports nothing but pytest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from benchfw.backends import Backend


@pytest.fixture
def benchfw_benchmark(benchmark: Any) -> Callable[..., Any]:
    """Return `time_call(backend, call, *arguments)`: pytest-benchmark's own fixture, but for devices too.

    The call is made once beforehand, so that imports and compilation are not in the times, and each timed
    call ends when the device has done its work. Returns what the call returns.
    """

    def time_call(backend: Backend, call: Callable[..., Any], *arguments: Any) -> Any:
        def finished() -> Any:
            result = call(*arguments)
            backend.synchronize()
            return result

        finished()
        benchmark.extra_info["backend"] = backend.name
        return benchmark(finished)

    return time_call
