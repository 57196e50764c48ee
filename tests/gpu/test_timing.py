"""On a GPU: the device's own clock, the memory of a call, and kernels timed beside the ceilings."""

from __future__ import annotations

import importlib
from pathlib import Path
from time import perf_counter

import pytest

from benchfw.api.planning import plan_text
from benchfw.api.running import run_planned
from benchfw.backends import get_backend
from benchfw.cli.verbs.time import suite_text
from benchfw.errors import BackendUnavailable
from benchfw.harness.options import Options
from benchfw.measure.kernels import measure_ceilings
from benchfw.registry import Registry
from benchfw.store import Store

try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)


def test_the_devices_clock_counts_the_work_and_never_more_than_the_hosts():
    matrix = CUPY.rng(0).standard_normal((4096, 4096))
    matrix @ matrix
    CUPY.synchronize()
    began = perf_counter()
    stop = CUPY.stopwatch()
    for _ in range(20):
        matrix @ matrix
    seconds = stop()
    assert 0 < seconds <= 1.01 * (perf_counter() - began)


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


def test_every_kernel_is_timed_with_device_seconds_copies_and_memory(tmp_path):
    planned = plan_text(suite_text((), [10_000], ["numpy", "cupy"], None, 1.0), "time", Registry())
    run, _ = run_planned(planned, tmp_path / "store.sqlite", Options(jobs=0), page=False)
    with Store(run.store) as store:
        results = store.results(run.id)
    assert not [f"{each.trial}: {each.outcome.reason}" for each in results if each.outcome.status != "done"]
    for each in results:
        found = {**each.outcome.facts, **{record.metric: record.value for record in each.outcome.records}}
        if each.trial.backend == "cupy":
            assert found["device_seconds_per_call"] > 0, each.trial
            assert found["copy_seconds_per_call"] > 0, each.trial
            assert found["peak_bytes"] >= found["result_bytes"], each.trial


def test_a_trace_has_the_kernels_and_copies_of_a_call(monkeypatch):
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "suites" / "tracked")
    steps = importlib.import_module("steps")
    matrix = CUPY.rng(0).standard_normal((512, 512))
    CUPY.synchronize()

    def call():
        CUPY.to_numpy(matrix @ matrix)
        CUPY.synchronize()

    call()
    events = steps.trace(call)
    assert [each.kind for each in events].count("copy") == 1
    assert any(each.kind == "kernel" and each.seconds > 0 for each in events)
    assert events[-1].kind == "copy"
