"""On a GPU: torch has the numbers and kernels of NumPy, methods of any library its iterates; none copies."""

from __future__ import annotations

import json
from itertools import islice

import numpy as np
import pytest

from benchfw.backends import get_backend, owner_of
from benchfw.errors import BackendUnavailable, Unavailable
from benchfw.registry import Registry
from benchfw.testing import checks_for, subjects_of
from benchfw.testing.checks.portability import assert_agree, on_host
from benchfw.testing.pytest_plugin import BoundCheck

REGISTRY = Registry()
try:
    CUDA = REGISTRY.backends.get("torch-cuda")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

KERNELS = REGISTRY.entries("kernel")
LOGISTIC = {"use": "logistic-regression", "samples": 20_000, "features": 200}
STEPS = 5
SMALL = 40_000  # bytes a step: numbers that decide, and the places of the rows of a batch
ADAMS = {
    "ours": {"use": "adam", "step": 0.01, "estimator": {"use": "exact"}},
    "torch": {"use": "torch-optim", "name": "Adam", "lr": 0.01},
    "optax": {"use": "optax", "name": "adam", "learning_rate": 0.01},
}
METHODS = {"gd": {"use": "gd"}, "sgd": {"use": "sgd"}, **ADAMS}
CHECKS = [
    BoundCheck(subject, check)
    for subject in subjects_of("benchfw_bridges")
    if str(subject) == "backend torch-cuda"
    for check in checks_for("backend")
]


@pytest.fixture(autouse=True)
def backends():
    with REGISTRY.activate():
        yield


def find_backend(name):
    try:
        return REGISTRY.backends.get(name)
    except BackendUnavailable as missing:
        pytest.skip(str(missing))


def build(backend):
    return REGISTRY.build("problem", LOGISTIC, backend, backend.rng(3))


def answers_of(name, backend, count):
    try:
        method = REGISTRY.build("optimizer", METHODS[name])
    except Unavailable as missing:
        pytest.skip(str(missing))
    return islice(method.run(build(backend), backend.rng(5)), count)


def copied_bytes(step, path):
    """Return how many bytes went from host to device or back while `step` ran, as CUDA counts them."""
    from torch import profiler

    with profiler.profile(activities=[profiler.ProfilerActivity.CUDA], acc_events=True) as profile:
        step()
        CUDA.synchronize()
    profile.export_chrome_trace(str(path))
    events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
    copies = [each for each in events if each.get("cat") == "gpu_memcpy"]
    return sum(each["args"]["bytes"] for each in copies if "DtoD" not in each["name"])


@pytest.mark.parametrize("check", CHECKS, ids=str)
def test_the_backend_passes_the_conformance_checks(check):
    check()


@pytest.mark.parametrize("name", KERNELS)
def test_a_kernel_gives_the_numbers_of_numpy_and_stays_on_the_device(name):
    kernel, sample, host = KERNELS[name].factory, KERNELS[name].sample, get_backend("numpy")
    for size in (0, 1, 17, 501):
        wanted = kernel.portable(*sample(host, host.rng(31), size))
        found = kernel(*sample(CUDA, CUDA.rng(31), size))
        assert_agree(on_host(CUDA, found), on_host(host, wanted), kernel.tolerance)
        parts = found if isinstance(found, tuple) else (found,)
        assert {owner_of(each) for each in parts if hasattr(each, "device")} <= {"torch-cuda"}


@pytest.mark.parametrize("device", ["torch-cuda", "cupy"])
@pytest.mark.parametrize("name", METHODS)
def test_the_iterates_are_those_of_numpy(name, device):
    host, device = get_backend("numpy"), find_backend(device)
    found, wanted = ([each.to_numpy(x) for x in answers_of(name, each, 20)] for each in (device, host))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())


@pytest.mark.parametrize("device", ["torch-cuda", "cupy"])
def test_all_adams_have_the_same_iterates(device):
    device = find_backend(device)
    ours, *others = ([device.to_numpy(x) for x in answers_of(name, device, 20)] for name in ADAMS)
    for found in others:
        np.testing.assert_allclose(found, ours, rtol=0, atol=1e-12 * np.abs(ours).max())


@pytest.mark.parametrize("device", ["torch-cuda", "cupy"])
@pytest.mark.parametrize("name", METHODS)
def test_a_step_copies_no_array_between_host_and_device(name, device, tmp_path):
    device = find_backend(device)
    answers = answers_of(name, device, 3 + STEPS)
    assert all(device.owns(each) for each in islice(answers, 3))
    copied = copied_bytes(lambda: list(answers), tmp_path / "trace.json")
    assert copied <= STEPS * SMALL


def test_the_clock_of_the_device_waits_for_its_work():
    square = CUDA.rng(1).standard_normal((2000, 2000))
    short = CUDA.stopwatch()
    square @ square
    seconds = short()
    long = CUDA.stopwatch()
    for _ in range(50):
        square @ square
    assert 0 < seconds < long()


def test_the_peak_of_a_call_is_what_it_holds_at_once():
    assert CUDA.peak_during(lambda: CUDA.xp.zeros(1_000_000)) >= 8_000_000
    assert CUDA.memory() >= 8_000_000


def test_the_backend_names_its_device():
    assert CUDA.devices()[0].name == CUDA.describe()["device"]
