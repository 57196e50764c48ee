"""Every registered kernel: its bodies and backends side by side, beside what the hardware can do.

`pytest tests/benchmarks --benchmark-only`; `extra_info` has the facts of a kernel's trial: its operations and
bytes, and the highest rates of both on this machine, as measured here.
"""

import pytest

from benchfw.backends import backend_names, get_backend
from benchfw.errors import BackendUnavailable
from benchfw.measure.kernels import kernel_arguments, kernel_facts
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


@pytest.mark.parametrize(("name", "backend", "body"), list(cases()))
def test_kernel(name, backend, body, benchmark, benchfw_benchmark):
    try:
        backend = get_backend(backend)
    except BackendUnavailable as fault:
        pytest.skip(str(fault))
    arguments = kernel_arguments(ENTRIES[name], backend, 0, None, SIZE)
    benchmark.group = name
    benchmark.extra_info |= kernel_facts(backend, ENTRIES[name].factory, arguments)
    benchfw_benchmark(backend, body, *arguments)
