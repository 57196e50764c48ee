"""Every registered kernel: its bodies and backends side by side, beside what the hardware can do.

`pytest tests/benchmarks --benchmark-only`; `extra_info` has the floor: the least seconds that the kernel's
operations and bytes can take on this machine, as measured here.
"""

from functools import cache

import pytest

from benchfw.backends import backend_names, get_backend
from benchfw.errors import BackendUnavailable
from benchfw.measure.ceilings import measure_ceilings
from benchfw.registry import Registry

SIZE = 10_000
ENTRIES = Registry().entries("kernel")


def cases():
    for name, entry in ENTRIES.items():
        for backend in backend_names():
            own = [entry.factory.bodies[backend]] if backend in entry.factory.bodies else []
            for body in (*own, entry.factory.portable):
                label = "portable" if body is entry.factory.portable else "own"
                yield pytest.param(name, backend, body, id=f"{name}-{backend}-{label}")


ceilings = cache(measure_ceilings)


def floor_of(kernel, backend, arguments):
    arrays = [each for each in arguments if isinstance(each, backend.xp.ndarray)]
    floats = [str(each.dtype) for each in arrays if each.dtype.kind == "f"]
    held = sum(each.nbytes for each in arrays)
    return ceilings(backend, floats[0] if floats else "float64").floor(*kernel.counts(*arguments), held)


@pytest.mark.parametrize(("name", "backend", "body"), list(cases()))
def test_kernel(name, backend, body, benchmark, benchfw_benchmark):
    try:
        backend = get_backend(backend)
    except BackendUnavailable as fault:
        pytest.skip(str(fault))
    kernel = ENTRIES[name].factory
    arguments = ENTRIES[name].sample(backend, backend.rng(0), SIZE)
    benchmark.group = name
    if kernel.counts is not None:
        floor, limit = floor_of(kernel, backend, arguments)
        benchmark.extra_info |= {"floor_seconds": floor, "limited_by": limit}
    benchfw_benchmark(backend, body, *arguments)
