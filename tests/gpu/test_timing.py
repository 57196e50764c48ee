"""On a GPU: the device's own clock, the memory of a call, and kernels timed beside the ceilings."""

from __future__ import annotations

from time import perf_counter

import pytest

from benchfw.analysis.timings import speedup
from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.measure.ceilings import measure_ceilings
from benchfw.measure.timing import time_kernels
from benchfw.records import Status
from benchfw.registry import Registry

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)


def test_the_devices_clock_agrees_with_the_hosts_on_long_work():
    matrix = CUPY.rng(0).standard_normal((4096, 4096))
    matrix @ matrix
    CUPY.synchronize()
    began = perf_counter()
    stop = CUPY.stopwatch()
    for _ in range(20):
        matrix @ matrix
    seconds = stop()
    assert seconds == pytest.approx(perf_counter() - began, rel=0.1)


def test_the_peak_of_a_call_counts_what_is_held_at_once_and_not_what_was_there_before():
    ones = CUPY.xp.ones(1 << 20)  # 8 MiB

    def call():
        first = ones + 1.0
        second = first + 1.0
        del first
        return second + 1.0  # two blocks at once, never three

    call()  # the pool now has free blocks, which do not hide the peak
    assert CUPY.peak_during(call) == 2 << 23


def test_the_ceilings_are_those_of_a_gpu():
    found = measure_ceilings(CUPY, "float32")
    assert found.bandwidths[-1] > 1e11
    assert found.flop_rate > 1e12


def test_every_kernel_is_timed_with_device_seconds_copies_memory_and_ratio():
    entries = list(Registry().entries("kernel").values())
    timings = list(time_kernels(entries, [NUMPY, CUPY], [10_000], limit=4.0))
    assert not [f"{each.kernel}: {each.reason}" for each in timings if each.status is not Status.DONE]
    for each in timings:
        if each.backend == "cupy":
            assert each.device_seconds, each.kernel
            assert each.copy_seconds, each.kernel
            assert each.peak_bytes is not None
            assert each.peak_bytes >= each.result_bytes, each.kernel
            assert speedup(each, timings).estimate > 0
            assert 0 < each.fraction.estimate < 1.5, each.kernel
