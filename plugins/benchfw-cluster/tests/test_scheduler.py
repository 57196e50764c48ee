"""What is held against a Dask worker, what it can take, and how plugins travel to it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.events import Finished
from benchfw.provenance import Environment
from benchfw.records import Ending, Outcome, Status
from benchfw.registry import Registry
from benchfw.sources import Modules
from benchfw_cluster import survey
from benchfw_cluster.executor import DaskExecutor
from benchfw_cluster.scheduler import POLL_SECONDS, Scheduler, WorkerSlot, connected
from benchfw_cluster.slurm import SETTINGS
from benchfw_cluster.survey import MachineSurvey, SurveyRequest, survey_apart
from benchfw_cluster.worker import pack

CUPY = {"device": "Fake 9000", "cupy": "13.6"}


def answer(**changes):
    """Return the survey of a worker with four threads, changed as asked."""
    backends = {"numpy": {"device": "a processor"}, "cupy": changes.pop("cupy", CUPY)}
    given = {
        "versions": {"numpy": "2.4.0"},
        "environment": Environment(backends=backends),
        "host": "here",
        "cores": 4,
        "threads": 4,
    }
    return MachineSurvey(**{**given, **changes})


@pytest.fixture
def inspect(monkeypatch):
    """Return a function that inspects a cluster whose workers answer as given, for trials of two threads."""

    def inspected(*answers):
        cluster = Scheduler(None, "tcp://scheduler")
        monkeypatch.setattr(cluster, "_await_workers", lambda: None)
        surveys = {f"tcp://worker{number}": each for number, each in enumerate(answers)}
        monkeypatch.setattr(cluster, "_surveys", lambda: surveys)
        request = SurveyRequest((), (), ("numpy", "cupy"), 2, ())
        return cluster, cluster.inspect(request, {"numpy": "2.4.0"})

    return inspected


def test_a_worker_takes_as_many_trials_as_its_threads_allow_and_the_report_says_so(inspect):
    cluster, facts = inspect(answer(), answer(threads=5, host="there"))
    assert [slot.capacity for slot in cluster.worker_slots.values()] == [2, 2]
    assert facts.cluster["shares"].startswith(
        "trials at once: 4, threads for each: 2, cores: 8; they disturb"
    )


def test_every_difference_is_named_with_its_worker(inspect):
    with pytest.raises(BenchfwError) as told:
        inspect(answer(versions={"numpy": "2.3.0"}), answer(versions={}, threads=1))
    text = str(told.value)
    assert "tcp://worker0: numpy is 2.3.0 there and 2.4.0 here" in text
    assert "tcp://worker1: numpy is absent there and 2.4.0 here" in text
    assert "tcp://worker1: it has 1 threads and a trial asks for 2" in text


def test_workers_with_unlike_devices_are_refused_since_their_times_do_not_compare(inspect):
    unlike = {**CUPY, "device": "Toy"}
    with pytest.raises(BenchfwError, match="worker1: cupy is device Toy"):
        inspect(answer(gpus=1), answer(gpus=1, cupy=unlike))
    inspect(answer(gpus=1), answer(gpus=0, cupy=unlike))  # one that declares no GPU gets no such trial


def test_without_a_declared_gpu_cupy_is_unavailable_with_one_line(inspect):
    _, facts = inspect(answer())
    assert "no Dask worker declares a GPU for cupy" in facts.absent_backends["cupy"]


def test_a_worker_offers_no_more_devices_than_it_declares(inspect):
    devices = tuple(Device(number, "Fake 9000", "VISIBLE") for number in "01")
    cluster, _ = inspect(answer(gpus=1, devices=devices), answer(gpus=4, devices=devices))
    first, second = cluster.worker_slots.values()
    assert first.devices == [Device("0", "Fake 9000", "VISIBLE")]
    assert len(second.devices) == 2


def test_a_plugin_file_travels_with_the_modules_beside_it(toys, tmp_path):
    packed = pack([str(toys), "benchfw.core_plugin"])
    file, module = packed.unpack(tmp_path / "elsewhere")
    assert module == "benchfw.core_plugin"
    entry = Registry([str(toys)]).get("optimizer", "slide")
    here = Modules().closure(entry.roots).by_package()["toys"]
    toys.unlink()
    toys.with_name("toy_helper.py").unlink()
    found = survey_apart(SurveyRequest((file,), (("optimizer", "slide"),), ("numpy",), 1, ()))
    assert here.startswith(found.versions["the source of toys"])


def test_a_machine_that_takes_too_long_to_look_is_refused_in_one_line(monkeypatch):
    monkeypatch.setattr(survey, "SURVEY_SECONDS", 0.001)
    with pytest.raises(BenchfwError, match=r"it could not look at what it has within 0\.001 s"):
        survey.survey_apart(SurveyRequest((), (), ("numpy",), 1, ()))


def test_a_plugin_that_a_machine_lacks_is_reported_in_one_line():
    with pytest.raises(BenchfwError, match="no plugin module 'nowhere'"):
        survey_apart(SurveyRequest(("nowhere",), (), ("numpy",), 1, ()))


def test_an_address_that_is_none_is_reported_in_one_line():
    with (
        pytest.raises(BenchfwError, match="no Dask scheduler answers at 'carrier-pigeon://roof'"),
        connected("carrier-pigeon://roof", 1, 1),
    ):
        pass


def test_a_scheduler_file_that_is_not_written_yet_is_waited_for(monkeypatch, tmp_path):
    file, notes = tmp_path / "scheduler.json", []
    written = '{"address": "carrier-pigeon://roof"}'
    monkeypatch.setattr("benchfw_cluster.scheduler.sleep", lambda _: file.write_text(written))
    with (
        pytest.raises(BenchfwError, match="unknown address scheme 'carrier-pigeon'"),  # it was read
        connected(str(file), 1, 1, notes.append),
    ):
        pass
    assert notes == [f"waiting for the scheduler file '{file}', at most 60 s"]


@pytest.mark.parametrize("content", [None, "", "{", "{}", "[]"])
def test_a_scheduler_file_that_stays_without_address_is_reported_with_the_command_that_writes_it(
    monkeypatch, tmp_path, content
):
    monkeypatch.setattr("benchfw_cluster.scheduler.SCHEDULER_FILE_SECONDS", 0.1)
    file = tmp_path / "scheduler.json"
    if content is not None:
        file.write_text(content)
    with (
        pytest.raises(BenchfwError, match=f"start one with dask scheduler --scheduler-file {file}"),
        connected(str(file), 1, 1),
    ):
        pass


def test_a_folder_in_place_of_a_scheduler_file_is_reported_in_one_line(tmp_path):
    (tmp_path / "scheduler.json").mkdir()
    with (
        pytest.raises(BenchfwError, match="cannot be read \\(Is a directory\\)"),
        connected(str(tmp_path / "scheduler.json"), 1, 1),
    ):
        pass


def test_a_scheduler_file_in_a_folder_that_is_not_there_is_not_waited_for(tmp_path):
    with (
        pytest.raises(BenchfwError, match=f"no folder '{tmp_path / 'nowhere'}'"),
        connected(str(tmp_path / "nowhere" / "scheduler.json"), 1, 1),
    ):
        pass


def test_an_encrypted_address_without_certificates_says_where_they_belong():
    with (
        pytest.raises(BenchfwError, match=r"set distributed\.comm\.tls\.client\.cert and \.key"),
        connected("tls://127.0.0.1:9", 1, 1),
    ):
        pass


def test_a_run_without_dask_imports_none_of_it():
    code = "import benchfw.cli.execution, benchfw.harness.run, sys; print('distributed' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_configuration_in_the_manual_has_names_that_benchfw_and_dask_know():
    import yaml

    text = (Path(__file__).parents[3] / "docs/clusters.md").read_text(encoding="utf-8")
    found = [yaml.safe_load(each) for each in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)]
    slurm, _, tls = found
    assert {name.replace("-", "_") for name in slurm["jobqueue"]["slurm"]} <= {*SETTINGS}
    assert tls["distributed"]["comm"]["tls"]["ca-file"] == "ca.pem"


DONE = Outcome(Status.DONE, Ending.ITERATIONS)


class LosingClient:
    """As much of a Dask client as an executor uses; the first worker is lost once it has done its task."""

    status = "running"

    def __init__(self):
        self.workers = ["first", "second"]
        self.used, self.waited = [], 0.0

    def register_plugin(self, plugin, name):
        pass

    def nthreads(self):
        return dict.fromkeys(self.workers, 1)

    def submit(self, call, name, trials, device, *, key, workers, resources):
        self.used += workers
        return LosingFuture(self, key, workers[0], [Finished(each, DONE) for each in trials])


class LosingFuture:
    """A task that has ended; its records are where it ran."""

    status = "finished"

    def __init__(self, client, key, address, records):
        self.client, self.key, self.address, self.records = client, key, address, records

    def add_done_callback(self, call):
        call(self)

    def result(self, timeout):
        self.client.workers = ["second"]
        if self.address == "first":
            self.client.waited += timeout
            raise TimeoutError
        return self.records

    def release(self):
        pass

    def cancel(self):
        pass


def test_records_that_a_lost_worker_kept_are_made_by_another_at_once(make_trial):
    cluster = Scheduler(LosingClient(), "tcp://scheduler")
    cluster.worker_slots = {name: WorkerSlot(name, 1, []) for name in ("first", "second")}
    executor = DaskExecutor(cluster, terms=None, note=print)
    trials = [make_trial(repetition=number) for number in range(2)]
    ended = [each.trial for each in executor.run(trials) if isinstance(each, Finished)]
    assert sorted(each.repetition for each in ended) == [0, 1]
    assert cluster.client.used == ["first", "second", "second"]
    assert cluster.client.waited <= 2 * POLL_SECONDS
