"""On a GPU: from one step to the next no array of the problem leaves the device or comes to it."""

from __future__ import annotations

import json
from itertools import islice

import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable
from benchfw.kernels import growing_arrays, read_later
from benchfw.kernels.transfers import round_up
from benchfw.registry import Registry

try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)
profiler = pytest.importorskip("torch.profiler", reason="PyTorch, whose profiler sees CuPy's copies too")

STEPS = 5
SMALL = 40_000  # bytes a step: numbers that decide, and the places of the rows of a batch
COMPLETION = {"use": "matrix-completion", "dataset": "movielens-like(users=600, items=400, ratings=9000)"}
CHEBYSHEV = {"use": "chebyshev", "probes": 20, "distribution": {"use": "optimal", "mean": 10}}
CASES = {
    "gd": ({"use": "logistic-regression", "samples": 20_000, "features": 200}, {"use": "gd"}),
    "sgd": ({"use": "logistic-regression", "samples": 20_000, "features": 200}, {"use": "sgd"}),
    "spectral": (COMPLETION, {"use": "sgd", "step": 0.1, "estimator": CHEBYSHEV}),
    "variational": ({"use": "gp-classification", "dataset": "usps-like"}, {"use": "pg-svi"}),
    "dsg": (
        {"use": "kernel-classification", "dataset": "stream-like(rows=20000, features=50)"},
        {"use": "dsg", "step": 2.0},
    ),
    "cdsg": (
        {"use": "kernel-classification", "dataset": "stream-like(rows=20000, features=50)"},
        {"use": "cdsg", "step": 2.0},
    ),
}


def copied_bytes(step, path):
    """Return how many bytes went from host to device or back while `step` ran, as CUDA counts them."""
    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        step()
        CUPY.synchronize()
    profile.export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    copies = [each for each in events if each.get("cat") == "gpu_memcpy"]
    return sum(each["args"]["bytes"] for each in copies if "DtoD" not in each["name"])


def test_the_profiler_sees_a_copy_to_the_host_and_one_to_the_device(tmp_path):
    array = CUPY.xp.ones(100_000)
    assert (
        copied_bytes(lambda: CUPY.asarray(CUPY.to_numpy(array)), tmp_path / "trace.json") == 2 * array.nbytes
    )


@pytest.mark.parametrize("case", CASES)
def test_a_step_copies_no_array_of_the_problem(case, tmp_path):
    registry = Registry()
    problem_table, method_table = CASES[case]
    problem = registry.build("problem", problem_table, CUPY, CUPY.rng(1))
    answers = registry.build("optimizer", method_table).run(problem, CUPY.rng(2))
    list(islice(answers, 3))  # kernels are compiled, tables made
    copied = copied_bytes(lambda: list(islice(answers, STEPS)), tmp_path / "trace.json")
    assert copied <= STEPS * SMALL


def test_a_value_that_is_read_later_is_that_of_its_moment():
    values = CUPY.xp.arange(6.0).reshape(2, 3)
    read = read_later(values)
    values += 1
    assert read().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_an_array_that_grows_by_a_little_takes_the_memory_of_the_one_before():
    pool = CUPY.xp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.total_bytes()
    for size in range(100 << 20, 110 << 20, 1 << 20):
        with growing_arrays():
            CUPY.xp.empty(size, dtype="uint8")
    assert pool.total_bytes() - before == round_up(100 << 20)
