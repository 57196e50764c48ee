"""Trials that need a GPU are placed on devices, one a device; no GPU is needed to see that."""

import io
from dataclasses import replace
from types import SimpleNamespace

import pytest

from benchfw.errors import BackendUnavailable
from benchfw.harness import devices
from benchfw.harness.devices import Device, Waiting, gpus
from benchfw.harness.events import Finished, Started
from benchfw.harness.workers.local import LocalExecutor
from benchfw.records import Outcome, Run, Status
from benchfw.store import Store
from benchfw.summary.rows import RECORD_COLUMNS, record_rows, write_records

DEVICES = (Device("0", "Fake 9000"), Device("1", "Fake 9000"))

# the backend that a GPU's trials ask for, with NumPy in place of CuPy; it tells which device it was given
FAKE_CUPY = '''"""CuPy without a GPU."""

import os

from benchfw import hookimpl
from benchfw.backends import _BUILT_IN
from benchfw.backends.numpy_backend import NumpyBackend

_BUILT_IN["cupy"] = NumpyBackend


class Visible:
    """A problem whose only metric is the number of the device that its process sees."""

    def __init__(self, backend, rng):
        self.backend, self.cost = backend, 0.0

    def metrics(self, answer):
        return {"device": float(os.environ.get("CUDA_VISIBLE_DEVICES", "-1"))}


@hookimpl
def register_problems(register):
    register("visible", Visible)


@hookimpl
def register_optimizers(register):
    register("wait", Wait)
'''

WAIT = '''
import time
from dataclasses import dataclass
from benchfw import Problem


@dataclass(frozen=True)
class Wait:
    """Takes a while."""

    solves = Problem

    def run(self, problem, rng):
        yield 0
        time.sleep(0.2)
        yield 1
'''


@pytest.fixture
def fake(plugin_file):
    """The file of the fake backend with its problem and method."""
    return plugin_file(FAKE_CUPY + WAIT, "fake_cupy.py")


@pytest.fixture
def trials(make_trial):
    """Return a function that makes as many trials of the fake plugin as there are backends given."""
    make = make_trial
    visible = replace(make().problem, use="visible", params={}, label="visible")
    wait = replace(make().method, use="wait", params={}, label="wait")

    def some(*backends):
        return [
            make(problem=visible, method=wait, backend=backend, repetition=number, key=str(number))
            for number, backend in enumerate(backends)
        ]

    return some


def most_at_once(events, backend):
    running, most = 0, 0
    for event in events:
        if event.trial.backend == backend:
            running += 1 if isinstance(event, Started) else -1
            most = max(most, running)
    return most


def run(plugin, trials, jobs, devices):
    executor = LocalExecutor((str(plugin),), jobs=jobs, devices=devices)
    try:
        return list(executor.run(trials))
    finally:
        executor.close()


def test_two_devices_run_two_trials_at_once_and_every_trial_names_its_own(fake, trials):
    events = run(fake, trials(*["cupy"] * 4), jobs=3, devices=DEVICES)
    outcomes = [event.outcome for event in events if isinstance(event, Finished)]
    assert len(outcomes) == 4
    assert {each.device for each in outcomes} == {"Fake 9000 #0", "Fake 9000 #1"}
    for each in outcomes:
        seen = {record.value for record in each.records}
        assert seen == {float(each.device.rpartition("#")[2])}
    assert most_at_once(events, "cupy") == 2


def test_a_worker_without_a_device_runs_what_needs_none(fake, trials):
    events = run(fake, trials("cupy", "cupy", "numpy", "numpy"), jobs=2, devices=DEVICES[:1])
    ended = {event.trial.key: event.outcome for event in events if isinstance(event, Finished)}
    assert [ended[key].device for key in "0123"] == ["Fake 9000 #0", "Fake 9000 #0", "", ""]
    assert most_at_once(events, "cupy") == 1


def test_one_worker_runs_the_trials_in_the_order_given(fake, trials):
    asked = trials("numpy", "cupy", "numpy", "cupy")
    events = run(fake, asked, jobs=1, devices=DEVICES)
    assert [event.trial for event in events if isinstance(event, Started)] == asked


def test_a_trial_that_is_put_back_is_the_next(trials):
    first, second, third = trials("numpy", "cupy", "numpy")
    waiting = Waiting([first, second, third])
    assert waiting.take(gpu=False) is first
    waiting.put_back(first)
    assert [waiting.take(gpu=True) for _ in range(4)] == [first, second, third, None]
    assert not waiting


def runtime_with(*names):
    runtime = SimpleNamespace(
        getDeviceCount=lambda: len(names), getDeviceProperties=lambda position: {"name": names[position]}
    )
    return SimpleNamespace(xp=SimpleNamespace(cuda=SimpleNamespace(runtime=runtime)))


def test_devices_are_numbered_as_the_environment_numbers_them(monkeypatch):
    monkeypatch.setattr(devices, "get_backend", lambda _: runtime_with(b"Fake 9000", b"Fake 9000"))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3, 1")
    assert gpus() == (Device("3", "Fake 9000"), Device("1", "Fake 9000"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert gpus() == (Device("0", "Fake 9000"), Device("1", "Fake 9000"))


def test_a_device_of_another_model_is_left_out_since_keys_name_the_first(monkeypatch):
    monkeypatch.setattr(devices, "get_backend", lambda _: runtime_with(b"Fake 9000", b"Toy", b"Fake 9000"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert [each.number for each in gpus()] == ["0", "2"]


def test_a_machine_without_a_gpu_has_no_devices(monkeypatch):
    def absent(_):
        raise BackendUnavailable("no GPU")

    monkeypatch.setattr(devices, "get_backend", absent)
    assert gpus() == ()


def test_a_stored_trial_names_its_device_and_so_does_its_export(tmp_path, trials):
    (trial,) = trials("cupy")
    with Store(tmp_path / "store.sqlite", create=True) as store:
        run = store.begin("suite", "title", "", {})
        store.add(run, 0, trial, Outcome(Status.DONE, "told to", device=str(DEVICES[1])))
        (result,) = store.results(run)
        (row,) = record_rows(store.run(run), [result])
    assert result.outcome.device == "Fake 9000 #1"
    assert dict(zip(RECORD_COLUMNS, row, strict=True))["device"] == "Fake 9000 #1"
    written = io.StringIO()
    write_records(written, Run(1, "suite", "title", tmp_path, "now"), [result])
    assert written.getvalue().splitlines()[1].endswith(",Fake 9000 #1")
