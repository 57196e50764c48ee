"""Backends are found by name, say why they are missing, and cost nothing to import."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from types import ModuleType, SimpleNamespace

import array_api_strict
import numpy as np
import pytest

from benchfw.backends import BackendTable, Device, backend_names, get_backend
from benchfw.backends.cupy_backend import CupyBackend
from benchfw.backends.numpy_backend import NumpyBackend
from benchfw.errors import BackendUnavailable, BenchfwError, PluginError
from benchfw.system import processor
from benchfw.testing.checks.portability import StrictBackend


def cupy_with(monkeypatch, device_count, **members):
    """Put a cupy that has only a device count in the place of the real one."""
    fake = ModuleType("cupy")
    fake.cuda = SimpleNamespace(
        runtime=SimpleNamespace(getDeviceCount=device_count),
        compiler=SimpleNamespace(CompileException=type("CompileException", (Exception,), {})),
    )
    for name, member in members.items():
        setattr(fake, name, member)
    monkeypatch.setitem(sys.modules, "cupy", fake)


def raises(fault):
    def call(*args, **kwargs):
        raise fault

    return call


def test_the_numpy_backend_is_one_object():
    assert get_backend("numpy") is get_backend("numpy")
    assert isinstance(get_backend("numpy"), NumpyBackend)
    assert get_backend("numpy").xp is np


def test_numpy_and_cupy_are_known_on_every_machine():
    assert {"numpy", "cupy"} <= set(backend_names())


def test_an_unknown_backend_is_named_with_the_nearest_known_one():
    with pytest.raises(BackendUnavailable, match="unknown backend 'numpi'; did you mean 'numpy'"):
        get_backend("numpi")


def test_an_added_backend_is_opened_once():
    table, opened = BackendTable(), []

    def factory():
        opened.append(NumpyBackend())
        return opened[-1]

    table.add("another", lambda: factory)
    assert table.get("another") is table.get("another") is opened[0]
    assert len(opened) == 1
    assert "another" in table.names
    assert "another" not in backend_names()


def test_an_added_backend_may_be_unavailable_each_time_it_is_asked_for():
    table = BackendTable()
    table.add("broken", lambda: raises(BackendUnavailable("no such device")))
    for _ in range(2):
        with pytest.raises(BackendUnavailable, match="no such device"):
            table.get("broken")


def test_the_names_of_the_core_cannot_be_taken():
    with pytest.raises(PluginError, match="'cupy' belongs to benchfw"):
        BackendTable().add("cupy", lambda: NumpyBackend)


def test_every_table_has_the_same_numpy():
    assert BackendTable().get("numpy") is get_backend("numpy")


def test_a_factory_must_give_a_backend():
    table = BackendTable()
    table.add("number", lambda: int)
    with pytest.raises(BackendUnavailable, match="its factory gave int, not a Backend"):
        table.get("number")


def test_a_backend_opened_by_a_function_says_whether_it_is_on_a_device():
    class OnDevice(NumpyBackend):
        on_device = True

    table = BackendTable()
    table.add("opened", lambda: partial(OnDevice))
    table.add("absent", lambda: raises(BackendUnavailable("no such device")))
    assert [name for name in table.names if table.on_device(name)] == ["cupy", "opened"]


def test_arrays_are_owned_by_the_open_backend_of_their_library():
    table = BackendTable()
    table.add("strict", lambda: StrictBackend)
    array = array_api_strict.zeros(3)
    assert table.owner_of(array) is None
    table.get("strict")
    assert table.owner_of(array) == "strict"
    assert table.owner_of(np.ma.zeros(3)) == "numpy"
    assert table.owner_of(np.float64(1.0)) is table.owner_of([1.0]) is None


def fake_gpus(*names):
    """Return the CuPy backend of a machine with these GPUs."""
    backend = object.__new__(CupyBackend)
    runtime = SimpleNamespace(
        getDeviceCount=lambda: len(names), getDeviceProperties=lambda position: {"name": names[position]}
    )
    backend.xp = SimpleNamespace(cuda=SimpleNamespace(runtime=runtime))
    return backend


def test_gpus_are_numbered_as_the_environment_numbers_them(monkeypatch):
    backend, variable = fake_gpus(b"Fake 9000", b"Fake 9000"), "CUDA_VISIBLE_DEVICES"
    monkeypatch.setenv(variable, "3, 1")
    assert backend.devices() == (Device("3", "Fake 9000", variable), Device("1", "Fake 9000", variable))
    monkeypatch.delenv(variable)
    assert [str(each) for each in backend.devices()] == ["Fake 9000 #0", "Fake 9000 #1"]


def test_a_gpu_of_another_model_is_left_out_since_keys_name_the_first(monkeypatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [each.number for each in fake_gpus(b"Fake 9000", b"Toy", b"Fake 9000").devices()] == ["0", "2"]


def test_the_host_takes_arrays_of_other_backends():
    strict = StrictBackend().asarray([1.0, 2.0])
    np.testing.assert_array_equal(get_backend("numpy").asarray(strict), [1.0, 2.0])


def test_a_backend_without_sparse_matrices_says_so():
    with pytest.raises(BenchfwError, match="array-api-strict has no sparse matrices"):
        StrictBackend().sparse_rows(None)


def test_a_missing_cupy_is_said_to_be_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(BackendUnavailable, match=r"cupy is not available: .*; install benchfw\[cuda12\] or"):
        CupyBackend()


def test_a_cupy_that_cannot_be_found_is_not_installed(monkeypatch):
    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name == "cupy":
                raise ModuleNotFoundError("No module named 'cupy'", name="cupy")

    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Absent(), *sys.meta_path])
    with pytest.raises(BackendUnavailable, match="cupy is not available: the package is not installed;"):
        CupyBackend()


TOO_OLD = raises(RuntimeError("cudaErrorInsufficientDriver: driver too old\nmore advice"))
NO_IMAGE = {"empty": raises(RuntimeError("no kernel image is available"))}


@pytest.mark.parametrize(
    ("device_count", "members", "words"),
    [
        (TOO_OLD, {}, r"no driver or GPU that it can use \(cudaErrorInsufficientDriver: driver too old\);"),
        (lambda: 0, {}, "installed but there is no GPU;"),
        (lambda: 1, NO_IMAGE, r"cannot run a kernel; .* \(no kernel image is available\);"),
    ],
    ids=["driver", "device", "kernel"],
)
def test_a_cupy_that_cannot_be_used_says_what_it_lacks(monkeypatch, device_count, members, words):
    cupy_with(monkeypatch, device_count, **members)
    with pytest.raises(BackendUnavailable, match=words):
        CupyBackend()


def test_numpy_passes_its_own_arrays_through_uncopied():
    backend = get_backend("numpy")
    values = np.arange(3.0)
    assert backend.asarray(values) is values
    assert backend.to_numpy(values) is values
    assert backend.asarray([1, 2], dtype=np.float32).dtype == np.float32


def test_numpy_memory_is_the_process_peak_in_bytes():
    before = get_backend("numpy").memory()
    block = np.ones(before // 8 + (1 << 22))  # more than the whole peak so far: the peak must rise
    assert get_backend("numpy").memory() > before
    assert before > 1 << 20
    del block


def test_numpy_tells_the_most_bytes_that_a_call_holds_at_once():
    def call():
        first = np.ones(100_000)
        del first
        return np.ones(50_000) + 1.0  # two blocks of 400 kB at once

    assert 800_000 <= get_backend("numpy").peak_during(call) < 810_000


def test_numpy_has_no_clock_but_the_hosts():
    assert get_backend("numpy").stopwatch() is None


def test_numpy_describes_its_device_and_versions():
    facts = get_backend("numpy").describe()
    assert facts["numpy"] == np.__version__
    assert {"device", "scipy", "blas"} <= facts.keys()
    assert all(isinstance(value, str) and value for value in facts.values())


def test_importing_the_backends_and_kernels_brings_in_no_heavy_package():
    check = (
        "import sys, benchfw.backends, benchfw.kernels\n"
        "heavy = {'cupy', 'scipy', 'array_api_compat', 'numpy.random'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
        "benchfw.backends.get_backend('numpy').describe()\n"
        "assert 'scipy' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", check], check=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("processor: 0\nmodel name\t: Example 3000\n\nprocessor: 1\nmodel name\t: Other\n", r"Example 3000"),
        (
            "processor: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n",
            r".+ \(implementer 0x41, part 0xd0c\)",
        ),
        ("", r".+"),
    ],
)
def test_a_processor_is_named_by_its_model_or_by_the_numbers_that_it_gives(tmp_path, text, said):
    (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
    assert re.fullmatch(said, processor(tmp_path / "cpuinfo"))
