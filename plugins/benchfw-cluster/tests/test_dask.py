"""`benchfw run --dask` with a real scheduler and real workers: the records of one machine, and its walls."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from fixtures.cells import Notebook

import benchfw

pytestmark = pytest.mark.workers

PATIENCE = 180  # seconds, against hanging: on a busy machine it takes a minute to start a cluster
CALM = {
    "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "20s",  # a busy machine answers late
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",  # which looks at every thread 100 times a second
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "10s",
}


class RealCluster:
    """A scheduler and workers, each a process of its own as on a cluster."""

    def __init__(self, folder, workers=2):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.workers = []
        self.scheduler = self._launch(
            "dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", self.file
        )
        deadline = time.monotonic() + PATIENCE
        while not self.file.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.address = json.loads(self.file.read_text())["address"]
        for _ in range(workers):
            self.start()

    def start(self, *words, **variables):
        """Start one more worker and return it."""
        log = self.folder / f"worker{len(self.workers)}.log"
        words = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--death-timeout", "30", *words)
        worker = self._launch("dask_worker", self.address, *words, log=log, **variables)
        self.workers.append(worker)
        deadline = time.monotonic() + PATIENCE
        while "Registered to" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        return worker

    def keep_two(self):
        """Start workers in place of those that were killed."""
        self.workers = [each for each in self.workers if each.poll() is None]
        while len(self.workers) < 2:
            self.start()

    def trial_processes(self):
        """Return the processes of benchfw that the workers have."""
        listed = subprocess.run(
            ["ps", "-wweo", "pid=,ppid=,args="], capture_output=True, text=True, check=True
        )
        parents = {str(each.pid) for each in self.workers}
        rows = [line.split(None, 2) for line in listed.stdout.splitlines()]
        return [int(pid) for pid, parent, words in rows if parent in parents and "benchfw.harness" in words]

    def close(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def _launch(self, module, *words, log=None, **variables):
        words = [sys.executable, "-m", f"distributed.cli.{module}", *map(str, words)]
        with log.open("wb") if log else contextlib.nullcontext(subprocess.DEVNULL) as output:
            return subprocess.Popen(
                words,
                cwd=self.folder,
                env={**os.environ, **CALM, **variables},
                stdout=subprocess.DEVNULL,
                stderr=output,
            )


@pytest.fixture(scope="module")
def started(tmp_path_factory):
    """Return a function that starts a cluster; all of them end with the tests of this file."""
    with contextlib.ExitStack() as stack:
        yield lambda: stack.enter_context(contextlib.closing(RealCluster(tmp_path_factory.mktemp("dask"))))


@pytest.fixture(scope="module")
def shared():
    """The cluster that tests share, and whatever one of them did to it."""
    return []


@pytest.fixture
def cluster(shared, started):
    """A cluster of two workers with a thread each."""
    if not shared or shared[-1].scheduler.poll() is not None:
        shared.append(started())
    shared[-1].keep_two()
    return shared[-1]


LONG = """
repetitions = 12
plugins = ["bowls.py"]
budget = { iterations = 20 }
[[problem]]
use = "bowl"
[[optimizer]]
use = "slide"
nap = 0.02
"""


def begin(cli, *words, **variables):
    """Start a run whose events can be followed."""
    words = [sys.executable, "-m", "benchfw", "run", *map(str, words), "--events", "events", "--no-report"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(words, cwd=cli.folder, env={**os.environ, **variables}, **pipes)


def wait_until(true):
    deadline = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert true()


def ended(cli):
    events = cli.folder / "events"
    return events.read_text().count('"finished"') if events.exists() else 0


@pytest.mark.thorough
def test_a_worker_that_is_killed_in_the_middle_changes_no_record(cli, cluster):
    cli.write("long.toml", LONG)
    run = begin(cli, "long.toml", "--dask", cluster.file)
    wait_until(lambda: ended(cli) >= 1)
    cluster.workers[0].kill()
    _, told = run.communicate(timeout=PATIENCE)
    assert run.returncode == 0, told
    cli.inline("run", "long.toml", "--no-report", "--jobs", 0, "--store", "one.sqlite")
    assert cli.timeless() == cli.timeless(store="one.sqlite")
    assert len({row["repetition"] for row in cli.timeless()}) == 12


HANGING = (
    LONG
    + """
[[optimizer]]
use = "faulty"
how = "hang"
"""
)


@pytest.mark.thorough
def test_an_interruption_keeps_finished_trials_and_leaves_no_process_on_the_workers(cli, cluster):
    cli.write("hanging.toml", HANGING)
    run = begin(cli, "hanging.toml", "--dask", cluster.address)
    wait_until(lambda: ended(cli) >= 1)
    run.send_signal(signal.SIGINT)
    _, told = run.communicate(timeout=PATIENCE)
    assert run.returncode == 130
    assert re.search(r"\b(1 finished trial is|\d+ finished trials are) kept", told)
    assert cli.last_run()["trials"] >= 1
    wait_until(lambda: not cluster.trial_processes())


@pytest.mark.thorough
def test_no_trial_goes_on_when_its_client_was_killed(cli, cluster):
    cli.write("hanging.toml", HANGING)
    run = begin(cli, "hanging.toml", "--only", "faulty", "--dask", cluster.address)
    wait_until(lambda: len(cluster.trial_processes()) == 2)
    run.kill()
    run.communicate(timeout=PATIENCE)
    wait_until(lambda: not cluster.trial_processes())


FAULTS = """
repetitions = 1
plugins = ["bowls.py"]
budget = { iterations = 20 }
[[problem]]
use = "bowl"
[[estimator]]
use = "noisy"
scale = [1.0, 2.0]
[[optimizer]]
use = "slide"
step = [0.5, 0.1]
[[optimizer]]
use = "faulty"
how = ["raise", "exit", "segfault", "hang", "memory"]
"""


@pytest.mark.thorough
def test_two_workers_give_the_records_and_the_faults_of_one_machine_but_for_the_times(cli, cluster):
    cli.write("faults.toml", FAULTS)
    limits = ("--timeout", 8, "--memory", "1GB")
    backends = ("--backend", "numpy", "--backend", "cupy")
    done = cli("run", "faults.toml", "--dask", cluster.address, *limits, *backends)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert cli.run_count() == 1
    page = (cli.folder / "reports/run-1/index.html").read_text()
    assert "trials at once: 2, threads for each: 1" in page
    absent = {row["reason"] for row in cli.records() if row["backend"] == "cupy"}
    assert absent == {"no Dask worker declares a GPU for cupy; start one with --resources GPU=1"}
    found = [row for row in cli.timeless() if row["backend"] == "numpy"]
    for row in found:
        row.pop("how")  # a parameter of the faulty methods alone
    ends = {row["method"]: (row["status"], row["iteration"]) for row in found if "faulty" in row["method"]}
    assert ends == {
        "faulty (how=raise)": ("failed", "1"),
        "faulty (how=exit)": ("crashed", "1"),
        "faulty (how=segfault)": ("crashed", "1"),
        "faulty (how=hang)": ("timeout", "1"),
        "faulty (how=memory)": ("out-of-memory", "1"),
    }
    cli.write("faults.toml", FAULTS.rpartition("[[optimizer]]")[0])
    cli.inline("run", "faults.toml", "--no-report", "--jobs", 0, "--store", "one.sqlite")
    assert [row for row in found if "faulty" not in row["method"]] == cli.timeless(store="one.sqlite")
    wait_until(lambda: not cluster.trial_processes())


CELL = """
import numpy as np

centre = np.ones(3)

class Bowl:
    start = np.zeros(3)

    def value(self, x):
        return ((x - centre) ** 2).sum() / 2

    def grad(self, x):
        return x - centre

def slide(problem, rng, step=0.5):
    x = problem.start() + 0.1 * rng.standard_normal(3)
    while True:
        yield x
        x = x - step * problem.grad(x)
"""


@pytest.mark.thorough
def test_objects_of_a_session_run_on_a_cluster_with_the_records_of_one_machine(
    cluster, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    cell = Notebook()(CELL)
    methods = {"slide": cell["slide"], "short": {"use": cell["slide"], "step": 0.1}}
    settings = {"budget": {"iterations": 20}, "repetitions": 2, "replay": False}
    executor = f"dask:{cluster.address}"
    there = benchfw.compare(cell["Bowl"](), methods, executor=executor, store="there.sqlite", **settings)
    here = benchfw.compare(cell["Bowl"](), methods, jobs=0, store="here.sqlite", **settings)
    columns = ["method", "repetition", "metric", "iteration", "cost", "value"]
    assert there.counts == {"done": 4}
    assert there.frame[columns].equals(here.frame[columns])


FAKE_DEVICE = """
import os
from benchfw import hookimpl
from benchfw.backends import Device
from benchfw.backends.numpy_backend import NumpyBackend
from bowls import Bowl

class Fake(NumpyBackend):
    name = "fake-device"
    on_device = True

    def devices(self):
        return tuple(Device(number, "Fake 9000", "FAKE_VISIBLE_DEVICES") for number in "01")

class Visible(Bowl):
    def metrics(self, answer):
        return {"visible": float(os.environ.get("FAKE_VISIBLE_DEVICES", "-1"))}

@hookimpl
def register_backends(register):
    register("fake-device", Fake)

@hookimpl
def register_problems(register):
    register("visible", Visible)
"""


@pytest.mark.thorough
def test_trials_that_need_a_gpu_go_to_the_worker_that_declares_some_one_a_device(cli, cluster):
    cli.write("fake_device.py", FAKE_DEVICE)
    suite = LONG.replace('"bowls.py"', '"fake_device.py", "bowls.py"').replace('"bowl"', '"visible"')
    cli.write("gpu.toml", suite)
    worker = cluster.start("--nthreads", "4", "--resources", "GPU=2")
    words = ("--dask", cluster.address, "--backend", "fake-device", "--repetitions", 4, "--no-report")
    done = cli("run", "gpu.toml", *words, "--events", "events")
    worker.kill()
    assert done.returncode == 0, done.stderr
    rows = cli.records()
    assert {row["device"] for row in rows} == {"Fake 9000 #0", "Fake 9000 #1"}
    assert all(float(row["value"]) == float(row["device"][-1]) for row in rows)
    events = [json.loads(line)["event"] for line in (cli.folder / "events").read_text().splitlines()]
    assert events[1:4] == ["started", "started", "finished"]


STRANGER = """
from stranger_helper import Slow
from benchfw import hookimpl

@hookimpl
def register_optimizers(register):
    register("stranger", Slow)
"""
HELPER = """
class Slow:
    solves = object
    def run(self, problem, rng):
        yield problem.start()
"""
METADATA = "Metadata-Version: 2.1\nName: stranger\nVersion: {version}\n"


def install(folder, version):
    """Make a folder that Python takes for one with an installed plugin package in it."""
    information = folder / f"stranger-{version}.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text(METADATA.format(version=version))
    (information / "entry_points.txt").write_text("[benchfw]\nstranger = stranger\n")
    (folder / "stranger.py").write_text(STRANGER)
    (folder / "stranger_helper.py").write_text(HELPER)
    return {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}


@pytest.mark.thorough
def test_a_worker_with_another_version_of_a_plugin_is_refused_by_name(cli, cluster, tmp_path_factory):
    other = cluster.start("--name", "other", **install(tmp_path_factory.mktemp("other"), "2.0"))
    suite = FAULTS.partition("[[estimator]]")[0]
    cli.write("stranger.toml", suite + '[[optimizer]]\nuse = "stranger"\n')
    here = install(tmp_path_factory.mktemp("here"), "1.0")
    done = cli("run", "stranger.toml", "--dask", cluster.address, **here)
    other.kill()
    assert done.returncode == 2
    assert "nothing was run, since Dask workers differ" in done.stderr
    lines = [line.strip() for line in done.stderr.splitlines() if "stranger is" in line]
    assert len(lines) == 5  # two lack its version and its source, one has another version
    assert sum("stranger is 2.0 there and 1.0 here" in line for line in lines) == 1
    assert all(line.startswith("tcp://") for line in lines)
    assert cli.run_count() == 0


def test_a_scheduler_that_does_not_answer_is_one_clear_line(cli):
    import dask  # a second of every collection

    with dask.config.set({"distributed.comm.timeouts.connect": "300ms"}):
        done = cli("run", "bowls.toml", "--dask", "tcp://127.0.0.1:9")
    assert done.returncode == 2
    assert "no Dask scheduler answers at 'tcp://127.0.0.1:9'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_jobs_are_refused_on_a_cluster_that_has_its_own_workers(cli):
    done = cli("run", "bowls.toml", "--dask", "tcp://127.0.0.1:9", "--jobs", 2)
    assert done.returncode == 2
    assert "--jobs is for this machine" in done.stderr


MURDERER = """
import os, signal
from dataclasses import dataclass
from pathlib import Path
from benchfw import Smooth, hookimpl

def dask_worker():
    process = os.getpid()
    while b"benchfw.harness" in Path(f"/proc/{process}/cmdline").read_bytes():
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return process

@dataclass(frozen=True)
class Murderer:
    solves = Smooth
    def run(self, problem, rng):
        yield problem.start()
        os.kill(dask_worker(), signal.SIGKILL)
        while True:
            yield problem.start()

@hookimpl
def register_optimizers(register):
    register("murderer", Murderer)
"""


@pytest.mark.thorough
def test_a_trial_that_takes_every_worker_down_is_given_up_after_three(cli):
    cli.write("murderer.py", MURDERER)
    suite = FAULTS.partition("[[estimator]]")[0].replace('"bowls.py"', '"bowls.py", "murderer.py"')
    cli.write("murder.toml", suite + '[[optimizer]]\nuse = "slide"\n[[optimizer]]\nuse = "murderer"\n')
    done = cli.in_process("run", "murder.toml", "--no-report", "--dask", "local", **CALM)
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    ends = {row["method"]: (row["status"], row["reason"]) for row in cli.records()}
    assert ends["slide"][0] == "done"
    assert cli.last_run()["counts"] == {"done": 1, "crashed": 1}
    assert "3 Dask workers were lost while they ran it" in done.stderr


@pytest.mark.thorough
def test_a_scheduler_that_dies_is_one_clear_line_and_loses_nothing(cli, cluster):
    """The last of the tests with a cluster: the next one would need a new cluster."""
    cli.write("long.toml", LONG)
    run = begin(cli, "long.toml", "--dask", cluster.address, DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT="2s")
    wait_until(lambda: ended(cli) >= 1)
    cluster.scheduler.kill()
    _, told = run.communicate(timeout=PATIENCE)
    assert run.returncode == 2
    assert "is gone" in told
    assert "Traceback" not in told
    assert cli.last_run()["trials"] >= 1
