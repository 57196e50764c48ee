"""Kernels are timed beside the machine's own ceilings, and whatever goes wrong is a status."""

from time import perf_counter, sleep

import numpy as np
import pytest

from benchfw.analysis.roofline import Ceilings
from benchfw.backends import get_backend
from benchfw.backends.numpy_backend import NumpyBackend
from benchfw.kernels import Kernel
from benchfw.measure import timing
from benchfw.measure.ceilings import measure_ceilings
from benchfw.measure.timing import time_kernels
from benchfw.records import Status
from benchfw.registry import Entry

NUMPY = get_backend("numpy")
CEILINGS = Ceilings("float64", 1e12, (1,), (1e12,))


class Device(NumpyBackend):
    """A device on which everything is copied, with a clock of its own."""

    name = "device"

    def asarray(self, values, dtype=None):
        return np.array(values, dtype=dtype)

    def to_numpy(self, values):
        return np.array(values)

    def stopwatch(self):
        began = perf_counter()
        return lambda: perf_counter() - began


@pytest.fixture(autouse=True)
def known_ceilings(monkeypatch):
    monkeypatch.setattr(timing, "measure_ceilings", lambda backend, dtype: CEILINGS)


def entry(body, sample=lambda backend, rng, size: (rng.standard_normal(size),), counts=None):
    return Entry("kernel", "mine", Kernel("mine", body, counts), None, sample)


def timed(body, sizes=(100,), backends=(NUMPY,), limit=0.5, dtype=None, **known):
    return list(time_kernels([entry(body, **known)], backends, sizes, limit, dtype))


def test_the_ceilings_of_this_machine_are_plausible():
    found = measure_ceilings(NUMPY, "float64")
    assert len(found.footprints) == len(found.bandwidths)
    assert min(found.bandwidths) > 1e8
    assert found.flop_rate > 1e8


def test_a_timing_knows_the_time_the_counts_the_type_and_the_memory_of_a_call():
    def double(x):
        sleep(0.001)
        return 2 * x

    (found,) = timed(double, counts=lambda x: (x.size, 2 * x.nbytes))
    assert found.status is Status.DONE
    assert 0.001 <= found.time.estimate < 0.1
    assert (found.flops, found.moved) == (100, 1600)
    assert (found.argument_bytes, found.result_bytes) == (800, 800)
    assert 800 <= found.peak_bytes < 20_000
    assert found.dtype == "float64"
    assert found.fraction.estimate == pytest.approx(1600 / 1e12 / found.time.estimate)
    assert found.device_seconds == found.copy_seconds == ()


def test_sizes_ascend_and_backends_stand_side_by_side():
    found = timed(np.sum, sizes=(30, 10), backends=(NUMPY, Device()), limit=0.1)
    assert [(each.size, each.backend) for each in found] == [
        (10, "numpy"), (10, "device"), (30, "numpy"), (30, "device"),
    ]  # fmt: skip


def test_a_device_is_timed_by_both_clocks_and_the_copies_apart():
    (found,) = timed(lambda x: sleep(0.002), backends=[Device()])
    assert len(found.device_seconds) == len(found.seconds)
    assert found.device_seconds[0] == pytest.approx(found.seconds[0], rel=0.5)
    assert 0 < np.median(found.copy_seconds) < 0.001  # the arguments only: no sleep in it


def test_a_size_that_would_take_longer_than_the_limit_is_left_out_with_the_reason():
    def linear(x):
        sleep(1e-5 * x.size)

    small, large = timed(linear, sizes=(1000, 1_000_000), limit=0.4)
    assert small.measured
    assert large.status is Status.SKIPPED
    assert "more than the limit of 0.4 s; raise --limit" in large.reason


@pytest.mark.parametrize(
    ("fault", "status", "reason"),
    [
        (MemoryError(), Status.OUT_OF_MEMORY, "not enough memory: an allocation was refused"),
        (ValueError("bad luck"), Status.FAILED, "ValueError: bad luck"),
    ],
)
def test_a_fault_of_a_kernel_is_a_status_and_the_next_size_is_tried(fault, status, reason):
    def moody(x):
        if x.size == 10:
            raise fault

    first, second = timed(moody, sizes=(10, 20))
    assert first.status is status
    assert reason in first.reason
    assert second.measured


def test_another_type_reaches_arrays_inside_tuples_and_leaves_integers_alone():
    seen = []

    def look(x, pair, words):
        seen.append((x.dtype, pair[0].dtype, words.dtype))
        return x

    def sample(backend, rng, size):
        return rng.standard_normal(size), (rng.random(size),), rng.bits(size)

    (found,) = timed(look, sample=sample, dtype="float32")
    assert set(seen) == {(np.dtype("float32"), np.dtype("float32"), np.dtype("uint64"))}
    assert found.dtype == "float32"


def test_the_first_call_which_imports_and_compiles_is_not_measured():
    calls = []

    def slow_start(x):
        sleep(0.0 if calls else 0.3)
        calls.append(x)

    (found,) = timed(slow_start)
    assert max(found.seconds) < 0.1
