"""What happens between two answers: on the host, and on a device as its trace tells."""

import gc
import importlib
import weakref
from pathlib import Path

import pytest

import benchfw
from benchfw.backends.numpy_backend import NumpyBackend
from benchfw.errors import BenchfwError
from benchfw.records import Budget, Spec, Trial
from benchfw.registry import Given, Registry

TRACKED = Path(__file__).parents[2] / "suites" / "tracked"
FOLDERS = []


@pytest.fixture
def script(monkeypatch):
    """The module of the script."""
    monkeypatch.syspath_prepend(TRACKED)
    return importlib.import_module("steps")


@pytest.fixture
def measure(script):
    """Return a function that looks at so many steps of a method after others."""

    def call(method, before, count):
        given = [Given("problem", "line", _Line, ""), Given("optimizer", "it", method, "")]
        trial = Trial("optimizer", Spec("line"), Spec("it", label="it"), "numpy", 0, 0, Budget(iterations=1))
        return script.measure_steps(trial, Registry((), (), given), before, count)

    return call


class _Line:
    """A problem whose oracle costs 2."""

    def __init__(self, backend, rng):
        self.backend = backend
        self.cost = 0.0

    def start(self):
        return self.backend.xp.zeros(1)

    def metrics(self, answer):
        return {"value": float(answer[0])}


class _Walk:
    solves = _Line

    def run(self, problem, rng):
        answer = problem.start()
        for _ in range(8):
            yield answer
            problem.cost += 2.0
            answer = answer + 1


class _Leap:
    solves = _Line

    def solve(self, problem, rng, effort):
        return problem.start() + effort


class _Write(_Walk):
    def run(self, problem, rng):
        for number, answer in enumerate(super().run(problem, rng)):
            folder = benchfw.trial_folder()
            FOLDERS.append(folder)
            (folder / f"{number}.txt").touch(exist_ok=False)
            yield answer


def test_a_method_whose_steps_are_timed_has_a_folder_for_its_files_meanwhile(measure):
    FOLDERS.clear()
    assert measure(_Write, before=2, count=4).count == 4
    assert len(FOLDERS) == 7
    assert not any(each.exists() for each in FOLDERS)
    with pytest.raises(BenchfwError, match="none is running"):
        benchfw.trial_folder()


def test_steps_on_the_host_have_seconds_and_cost_and_no_events(measure):
    found = measure(_Walk, before=2, count=4)
    assert found.count == 4
    assert found.cost == 2.0
    assert found.seconds > 0
    assert found.events is None


def test_the_steps_that_are_traced_are_those_that_are_timed(script, measure, monkeypatch):
    starts, made = [], []

    class Wandering:
        solves = _Line

        def run(self, problem, rng):
            starts.append(weakref.ref(problem))
            for _ in range(100):
                made.append(float(rng.random()))
                problem.cost += made[-1]
                yield made[-1]

    def trace(call):
        made.clear()
        call()
        gc.collect()
        assert [each() is None for each in starts] == [True, False]  # a device may not hold two
        return []

    monkeypatch.setattr(NumpyBackend, "on_device", True)
    monkeypatch.setattr(script, "trace", trace)
    found = measure(Wandering, before=10, count=3)
    assert found.events == []
    assert found.cost == pytest.approx(sum(made) / 3, abs=1e-12)


def test_a_method_that_ends_too_early_is_said_so(measure):
    for before, count in ((2, 6), (10, 1)):  # to be looked at, and before that
        with pytest.raises(BenchfwError, match="it ended by itself after step 7; ask for fewer"):
            measure(_Walk, before=before, count=count)


def test_a_solver_that_does_not_yield_has_no_steps(measure):
    with pytest.raises(BenchfwError, match="it has no steps"):
        measure(_Leap, before=0, count=1)


def test_a_trace_gives_kernels_copies_and_fills_in_order(script):
    entries = [
        {"cat": "gpu_memcpy", "name": "Memcpy DtoH (Device -> Pageable)", "ts": 30.0, "dur": 1.0},
        {"cat": "kernel", "name": "gemm", "ts": 10.0, "dur": 5.0},
        {"cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": 1.0, "dur": 2.0},
        {"cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)", "ts": 20.0, "dur": 1.0},
        {"cat": "gpu_memset", "name": "Memset (Device)", "ts": 25.0, "dur": 1.0},
        {"name": "no category"},
    ]
    assert [each.kind for each in script.read_trace(entries)] == ["kernel", "kernel", "fill", "copy"]
    assert script.read_trace(entries)[0] == ("kernel", "gemm", 10e-6, 5e-6)


def test_a_step_counts_launches_copies_and_gaps_and_work_that_overlaps_once(script):
    events = (
        script.DeviceEvent("kernel", "gemm", 0.0, 4.0),
        script.DeviceEvent("kernel", "sum", 1.0, 2.0),  # beside gemm, in another stream
        script.DeviceEvent("copy", "to host", 5.0, 1.0),
        script.DeviceEvent("fill", "zeros", 9.0, 1.0),
    )
    steps = script.Steps(count=2, seconds=10.0, cpu_seconds=1.0, cost=0.0, events=events)
    assert (steps.launches, steps.copies, steps.device_seconds) == (1.5, 0.5, 3.0)
    assert steps.gaps == [(3.0, "to host"), (1.0, "gemm")]
    assert steps.by_name["gemm"] == (0.5, 2.0)
    assert next(iter(steps.by_name)) == "gemm"
