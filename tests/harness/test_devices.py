"""Trials that need a device are placed on devices, one a device; none is needed to see that."""

import contextlib
import io
from dataclasses import replace

import psutil
import pytest

from benchfw.backends import Device, is_on_device
from benchfw.harness.environment import find_devices
from benchfw.harness.events import Finished, Started, TrialQueue, Waiting
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.harness.workers.process import WorkerProcess
from benchfw.provenance import Environment, Run
from benchfw.records import Ending, Outcome, Status
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.summary.exports import RECORD_COLUMNS, record_rows, write_records

DEVICES = tuple(Device(number, "Fake 9000", "FAKE_VISIBLE_DEVICES") for number in "01")

# a backend on devices that are not there; its problem shows which one its process was given
FAKE_DEVICE = '''"""NumPy as if on devices."""

import os

from benchfw import CountedProblem, hookimpl
from benchfw.backends import Device
from benchfw.backends.numpy_backend import NumpyBackend


class FakeDevice(NumpyBackend):
    """NumPy, for trials that need a device each."""

    name = "fake-device"
    on_device = True

    def devices(self):
        return tuple(Device(number, "Fake 9000", "FAKE_VISIBLE_DEVICES") for number in "01")


@hookimpl
def register_backends(register):
    register("fake-device", FakeDevice)


class Visible(CountedProblem):
    """A problem whose only metric is the number of the device that its process sees."""

    def __init__(self, backend, rng):
        self.backend = backend

    def metrics(self, answer):
        return {"device": float(os.environ.get("FAKE_VISIBLE_DEVICES", "-1"))}


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
    return plugin_file(FAKE_DEVICE + WAIT, "fake_device.py")


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
    with contextlib.closing(executor), Registry([str(plugin)]).activate():
        return [event for event in executor.run(trials) if not isinstance(event, Waiting)]


def test_two_devices_run_two_trials_at_once_and_every_trial_names_its_own(fake, trials):
    events = run(fake, trials(*["fake-device"] * 4), jobs=3, devices=DEVICES)
    outcomes = [event.outcome for event in events if isinstance(event, Finished)]
    assert len(outcomes) == 4
    assert {each.device for each in outcomes} == {"Fake 9000 #0", "Fake 9000 #1"}
    for each in outcomes:
        seen = {record.value for record in each.records}
        assert seen == {float(each.device.rpartition("#")[2])}
    assert most_at_once(events, "fake-device") == 2


def test_a_worker_without_a_device_runs_what_needs_none(fake, trials):
    events = run(fake, trials("fake-device", "fake-device", "numpy", "numpy"), jobs=2, devices=DEVICES[:1])
    ended = {event.trial.key: event.outcome for event in events if isinstance(event, Finished)}
    assert [ended[key].device for key in "0123"] == ["Fake 9000 #0", "Fake 9000 #0", "", ""]
    assert most_at_once(events, "fake-device") == 1


def test_one_worker_runs_the_trials_in_the_order_given(fake, trials):
    asked = trials("numpy", "fake-device", "numpy", "fake-device")
    events = run(fake, asked, jobs=1, devices=DEVICES)
    assert [event.trial for event in events if isinstance(event, Started)] == asked


def test_the_process_of_a_trial_is_gone_when_the_trial_is_reported(plugin_file, trials):
    """On a machine of one core, what it still did would slow down the loop that looks for noise."""
    slow_to_end = "import atexit\nimport time\n\natexit.register(time.sleep, 0.3)\n"
    plugin = plugin_file(FAKE_DEVICE + WAIT + slow_to_end, "slow_to_end.py")

    def processes():
        return set(psutil.Process().children(recursive=True))

    before, executor = processes(), LocalExecutor((str(plugin),), devices=DEVICES[:1])
    with contextlib.closing(executor), Registry([str(plugin)]).activate():
        events = executor.run(trials("fake-device", "fake-device"))
        left = [processes() - before for event in events if isinstance(event, Finished)]
    assert left == [set(), set()]


def test_a_trial_that_ended_is_reported_though_its_process_is_slow_and_somebody_interrupts(
    fake, trials, monkeypatch
):
    stop, stopped = WorkerProcess.stop, []

    def stop_late(worker):
        stop(worker)
        stopped.append(worker)
        if len(stopped) == 2:  # the first is that of the rehearsal
            raise KeyboardInterrupt

    monkeypatch.setattr(WorkerProcess, "stop", stop_late)
    executor, told = LocalExecutor((str(fake),), devices=DEVICES[:1]), []
    with contextlib.closing(executor), Registry([str(fake)]).activate(), pytest.raises(KeyboardInterrupt):
        told.extend(executor.run(trials("fake-device")))
    assert [type(each) for each in told if not isinstance(each, Waiting)] == [Started, Finished]


def test_a_trial_that_is_put_back_is_the_next(trials):
    first, second, third = trials("numpy", "cupy", "numpy")
    waiting = TrialQueue([first, second, third])
    assert waiting.take(has_device=False) is first
    waiting.put_back(first)
    assert [waiting.take(has_device=True) for _ in range(4)] == [first, second, third, None]
    assert not waiting


def test_the_devices_are_those_of_the_first_backend_that_has_some(fake):
    with Registry([str(fake)]).activate():
        assert find_devices(["numpy"]) == ()
        assert find_devices(["numpy", "fake-device"]) == DEVICES


def test_a_class_says_that_it_needs_a_device_where_there_is_none(plugin_file):
    text = FAKE_DEVICE.replace(
        "def devices(self)", "def __init__(self):\n        1 / 0\n\n    def devices(self)"
    )
    with Registry([str(plugin_file(text + WAIT, "absent_device.py"))]).activate():
        assert is_on_device("fake-device")
        assert is_on_device("cupy")
        assert find_devices(["fake-device"]) == ()


def test_a_stored_trial_names_its_device_and_so_does_its_export(tmp_path, trials):
    (trial,) = trials("cupy")
    with Store(tmp_path / "store.sqlite", create=True) as store:
        run = store.begin("suite", "title", "", Environment())
        store.add(run, 0, trial, Outcome(Status.DONE, Ending.ITERATIONS, "told to", device=str(DEVICES[1])))
        (result,) = store.results(run)
        (row,) = record_rows(store.run(run), [result])
    assert result.outcome.device == "Fake 9000 #1"
    assert dict(zip(RECORD_COLUMNS, row, strict=True))["device"] == "Fake 9000 #1"
    written = io.StringIO()
    list(write_records(written, Run(1, "suite", "title", tmp_path, "now"), [result]))
    assert written.getvalue().splitlines()[1].endswith(",Fake 9000 #1,counted,False")


def test_threads_of_a_device_s_library_are_not_worth_a_word(plugin_file, trials):
    start = "\nimport threading\nthreading.Thread(target=threading.Event().wait, daemon=True).start()\n"
    threaded = plugin_file(FAKE_DEVICE + WAIT + start, "threaded_device.py")
    notes = []
    executor = LocalExecutor((str(threaded),), devices=DEVICES, note=notes.append)
    with contextlib.closing(executor), Registry([str(threaded)]).activate():
        statuses = [
            each.outcome.status for each in executor.run(trials("fake-device")) if isinstance(each, Finished)
        ]
    assert statuses == [Status.DONE]
    assert notes == []
