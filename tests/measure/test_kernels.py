"""A kernel is timed in blocks, beside its counts, its memory and the machine's ceilings."""

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.backends.numpy_backend import NumpyBackend
from benchfw.kernels import Kernel
from benchfw.measure import clock, kernels
from benchfw.measure.kernels import Ceilings, ceilings_of, kernel_arguments, measure_kernel
from benchfw.measure.trial import collector
from benchfw.records import Budget, Ending, Spec, Status
from benchfw.registry import Entry

NUMPY = get_backend("numpy")
CEILINGS = Ceilings(1e12, (1, 10**9), (8e11, 1e11))


class Time:
    """A clock that moves only where somebody waits."""

    now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


class Device(NumpyBackend):
    """A device on which everything is copied, with a clock of its own that runs half as fast."""

    name = "device"

    def __init__(self, time):
        self.time = time

    def asarray(self, values, dtype=None):
        self.time.wait(1e-3)
        return np.array(values, dtype=dtype)

    def to_numpy(self, values):
        return np.array(values)

    def stopwatch(self):
        began = self.time()
        return lambda: (self.time() - began) / 2


@pytest.fixture
def time(monkeypatch):
    found = Time()
    monkeypatch.setattr(clock, "perf_counter", found)
    monkeypatch.setattr(clock, "_host_timer", found)
    monkeypatch.setattr(kernels, "ceilings_of", lambda backend, dtype: CEILINGS)
    return found


def plain_sample(backend, rng, size):
    return (rng.standard_normal(size),)


@pytest.fixture
def measured(make_trial):
    """Return a function that measures a kernel: the outcome, values by metric, records."""

    def measure(body, size=100, backend=NUMPY, sample=plain_sample, counts=None, dtype=None, **budget):
        entry = Entry("kernel", "mine", Kernel("mine", body, counts), None, sample)
        trial = make_trial(
            kind="kernel", problem=Spec("size", {"size": size}), method=Spec("mine"),
            budget=Budget(**budget or {"iterations": 3}),
        )  # fmt: skip
        records, emit = collector()
        outcome = measure_kernel(
            trial, backend, entry.factory, lambda size: kernel_arguments(entry, backend, 7, dtype, size), emit
        )
        values = {}
        for each in records:
            values.setdefault(each.metric, []).append(each.value)
        return outcome, values, records

    return measure


def test_a_block_is_a_record_and_lasts_long_enough_for_the_clock(time, measured):
    outcome, values, records = measured(lambda x: time.wait(1e-4), iterations=4)
    assert (outcome.status, outcome.ending) == (Status.DONE, Ending.ITERATIONS)
    assert outcome.reason == "4 blocks of 20 calls"
    assert values["seconds_per_call"] == pytest.approx([1e-4] * 4)
    timed = [each for each in records if each.metric == "seconds_per_call"]
    assert [(each.iteration, each.cost) for each in timed] == [(1, 20), (2, 40), (3, 60), (4, 80)]
    assert timed[-1].seconds == pytest.approx(80 * 1e-4)


def test_a_budget_of_seconds_ends_a_kernels_trial(time, measured):
    outcome, values, _ = measured(lambda x: time.wait(4e-3), seconds=0.01)
    assert (outcome.ending, outcome.reason) == (Ending.SECONDS, "3 blocks of 1 calls")
    assert len(values["seconds_per_call"]) == 3


def test_the_facts_are_counts_type_memory_and_ceilings_of_the_working_set(time, measured):
    outcome, values, _ = measured(lambda x: 2 * x, counts=lambda x: (x.size, 2 * x.nbytes))
    facts = outcome.facts
    assert (facts["flops_per_call"], facts["bytes_per_call"]) == (100, 1600)
    assert (facts["argument_bytes"], facts["result_bytes"], facts["float_bits"]) == (800, 800, 64)
    assert 800 <= facts["peak_bytes"] < 20_000
    assert facts["ceiling_flops_per_second"] == 1e12
    assert facts["ceiling_bytes_per_second"] == 1e11
    assert set(values) == {"seconds_per_call"}


def test_without_counts_no_ceilings_are_measured(time, measured):
    assert not {"flops_per_call", "ceiling_flops_per_second"} & set(measured(np.sum)[0].facts)


def test_processor_time_and_want_of_memory_leave_the_ceilings_out(time, measured, monkeypatch):
    def refuse(backend, dtype):
        raise MemoryError

    counts = {"counts": lambda x: (1.0, 1.0)}
    monkeypatch.setattr(kernels, "ceilings_of", refuse)
    outcome, _, _ = measured(np.sum, **counts)
    assert (outcome.status, outcome.facts["flops_per_call"]) == (Status.DONE, 1.0)
    assert "ceiling_flops_per_second" not in outcome.facts
    monkeypatch.setattr(kernels, "ceilings_of", pytest.fail)
    monkeypatch.setattr(clock, "_host_timer", lambda: time.now)
    measured(np.sum, **counts)


def test_a_device_is_timed_by_both_clocks_and_the_copies_apart(time, measured):
    _, values, _ = measured(lambda x: time.wait(4e-3), backend=Device(time))
    assert values["seconds_per_call"] == pytest.approx([4e-3] * 3)
    assert values["device_seconds_per_call"] == pytest.approx([2e-3] * 3)
    assert values["copy_seconds_per_call"] == pytest.approx([1e-3] * 3)


def test_a_call_longer_than_the_budget_is_never_made(time, measured):
    sizes = []

    def linear(x):
        sizes.append(x.size)
        time.wait(1e-5 * x.size)

    outcome, values, _ = measured(linear, size=10**7, seconds=1.0)
    assert outcome.status is Status.SKIPPED
    assert outcome.reason == "a call would take about 100 s, and the budget is 1 s"
    assert values == {}
    assert max(sizes) == 10**5
    assert measured(linear, size=10**4, seconds=1.0)[0].status is Status.DONE


def test_a_fixed_cost_and_one_slow_call_do_not_look_like_work(time, measured):
    calls = []

    def launch(x):
        calls.append(x)
        time.wait(0.5 if len(calls) == 2 else 1e-3)

    assert measured(launch, size=10**6, seconds=1.0)[0].status is Status.DONE


def test_another_type_reaches_arrays_inside_tuples_and_leaves_integers_alone(time, measured):
    seen = set()

    def look(x, pair, words):
        seen.add((str(x.dtype), str(pair[0].dtype), str(words.dtype)))
        return x

    def sample(backend, rng, size):
        return rng.standard_normal(size), (rng.random(size),), rng.bits(size)

    outcome, _, _ = measured(look, sample=sample, dtype="float32")
    assert seen == {("float32", "float32", "uint64")}
    assert outcome.facts["float_bits"] == 32


def test_the_ceilings_of_this_machine_are_plausible_and_measured_once():
    found = ceilings_of("numpy", "float64")
    assert len(found.footprints) == len(found.bandwidths)
    assert min(found.bandwidths) > 1e8
    assert found.flop_rate > 1e8
    assert ceilings_of("numpy", "float64") is found


def test_the_bandwidth_is_the_best_of_working_sets_as_large_or_larger():
    # 10 bytes a second from large working sets; a cache gives up to 40
    ceilings = Ceilings(100.0, (1_000, 4_000, 16_000), (30.0, 40.0, 10.0))
    assert ceilings.bandwidth(500) == 40.0  # the call, not the cache, slows the smallest copy
    assert ceilings.bandwidth(4_000) == 40.0
    assert ceilings.bandwidth(4_001) == 10.0
    assert ceilings.bandwidth(10**9) == 10.0
