"""Everything works on a system without fork, limits of a process, flock and /proc, only slower.

Other systems are Linux with that much hidden (`other_system.py`).
"""

import json
import os
import pkgutil
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from benchfw import system
from benchfw.harness.workers import launch, links, unsupervised
from benchfw.harness.workers.messages import Setup
from benchfw.store import Store

HERE = Path(__file__).parent

SUITE = """
title = "Bowls"
seed = 3
repetitions = 1
plugins = ["bowls.py"]
budget = { iterations = 20 }

[[problem]]
use = "bowl"
"""
SLIDE = '[[optimizer]]\nuse = "slide"\n'
FAULTS = {
    "hang": ("timeout", "still running after 15 s"),
    "exit": ("crashed", "ended with exit code 3"),
    "segfault": ("crashed", "was killed by SIGSEGV in bowls.py, line"),
    "memory": ("out-of-memory", "it held more than 0.6 GB"),
    "raise": ("failed", "third time unlucky"),
}
FAULTY = f'[[optimizer]]\nuse = "faulty"\nhow = {json.dumps(list(FAULTS))}\n'


class Elsewhere:
    """`python` of another system, in a folder."""

    def __init__(self, name, folder):
        self.folder = folder
        self.python = folder / f"python-{name}"
        words = (sys.executable, HERE / "other_system.py", name)
        self.python.write_text(f'#!/bin/sh\nexec {" ".join(map(str, words))} "$0" "$@"\n')
        self.python.chmod(0o755)
        shutil.copy(HERE.parent / "plugins" / "bowls.py", folder)
        self.environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}

    def start(self, *words):
        return subprocess.Popen(
            [self.python, *map(str, words)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def __call__(self, *words):
        process = self.start(*words)
        out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    def run(self, suite, *options):
        (self.folder / "suite.toml").write_text(suite)
        return self("-m", "benchfw", "run", "suite.toml", "--no-report", "--no-replay", *options)

    def results(self, store="reports/benchfw.sqlite"):
        with Store(self.folder / store) as opened:
            return opened.results(1)


@pytest.fixture(params=["windows", "macos"])
def elsewhere(request, tmp_path):
    return Elsewhere(request.param, tmp_path)


@pytest.fixture
def windows(tmp_path):
    return Elsewhere("windows", tmp_path)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "package",
    [
        "benchfw",
        *(
            f"benchfw_{each}"
            for each in (
                "datasets",
                "exchange",
                "firstorder",
                "kernelmachines",
                "site",
                "spectral",
                "variational",
            )
        ),
    ],
)
def test_every_module_is_imported_on_a_system_without_posix(windows, package):
    found = pytest.importorskip(package)
    names = [each.name for each in pkgutil.walk_packages(found.__path__, f"{package}.")]
    names = [each for each in names if not each.endswith("__main__")]
    assert names
    code = f"import importlib\nfor each in {names}: importlib.import_module(each)\n"
    done = windows("-c", code)
    assert done.returncode == 0, done.stderr


def test_env_says_what_the_system_lacks(elsewhere):
    found = json.loads(elsewhere("-m", "benchfw", "env", "--json").stdout)
    forks, *others = found["lacks"]
    assert forks == "trials are not forked: each starts a new process, which takes longer"
    assert len(others) == (3 if "windows" in elsewhere.python.name else 1)
    assert found["machine"]["processor"]
    assert found["machine"]["memory"] == psutil.virtual_memory().total


@pytest.mark.thorough
def test_a_run_in_this_process_needs_nothing_of_posix(windows):
    done = windows.run(SUITE + SLIDE, "--jobs", 0)
    assert done.returncode == 0, done.stderr
    again = windows.run(SUITE + SLIDE, "--jobs", 0)
    assert "nothing was run" in again.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="what others lack is above")
def test_linux_lacks_nothing():
    assert not system.LACKS


def test_a_lock_without_flock_is_held_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr(system, "_fcntl", None)
    (tmp_path / "lock").touch()
    one, two = (os.open(tmp_path / "lock", os.O_RDWR) for _ in range(2))
    assert system.try_lock(one)
    assert not system.try_lock(two)
    os.close(one)
    system.wait_for_lock(two)
    os.close(two)


def test_a_worker_without_a_supervisor_ends_with_what_it_has_started(monkeypatch):
    monkeypatch.setattr(launch, "CAN_SUPERVISE", False)
    monkeypatch.setattr(links, "CAN_SUPERVISE", False)
    link = links.open_link(Setup((), 1, None, tuple(sys.path)), None)
    child = psutil.Process(link.process.pid)
    link.stop()
    assert not child.is_running()
    assert link.is_gone()
    assert isinstance(link, links.PipeLink)


def test_the_end_of_the_parent_is_noticed_while_a_trial_runs(monkeypatch):
    given, parent = os.pipe()
    forwarded_read, forwarded = os.pipe()
    ended = []
    monkeypatch.setattr(unsupervised, "end_children", lambda: ended.append("children"))
    monkeypatch.setattr(os, "_exit", ended.append)
    os.write(parent, b"request")
    os.close(parent)
    unsupervised._forward(given, forwarded)
    assert os.read(forwarded_read, 100) == b"request"
    assert ended == ["children", 0]
    for each in (given, forwarded, forwarded_read):
        os.close(each)


@pytest.mark.thorough
def test_a_run_gives_the_same_records_as_on_linux(elsewhere):
    done = elsewhere.run(SUITE + SLIDE + '[[estimator]]\nuse = "noisy"\n', "--jobs", 2)
    assert done.returncode == 0, done.stderr
    words = ("run", "suite.toml", "--no-report", "--no-replay", "--store", "here.sqlite")
    subprocess.run([sys.executable, "-m", "benchfw", *words], cwd=elsewhere.folder, check=True)
    there, here = (_values(elsewhere.results(store)) for store in ("reports/benchfw.sqlite", "here.sqlite"))
    assert there == here
    assert len(here) > 20
    for verb in (["runs"], ["report"], ["store", "check"], ["check", "bowls.py", "--only", "improves"]):
        done = elsewhere("-m", "benchfw", *verb)
        assert "Traceback" not in done.stderr
        assert done.stdout, done.stderr


def _values(results):
    return [
        (str(each.trial), record.metric, record.iteration, record.cost, record.value)
        for each in results
        for record in each.outcome.records
        if record.metric != "seconds"
    ]


@pytest.mark.thorough
def test_trials_that_break_are_reported_as_on_linux(windows):
    done = windows.run(SUITE + SLIDE + FAULTY, "--timeout", 15, "--memory", "600MB")
    assert done.returncode == 1, done.stderr
    assert "this system has no hard limit of memory: --memory is checked ten times a second" in done.stderr
    found = {each.trial.method.label: each.outcome for each in windows.results()}
    assert found.pop("slide").status == "done"
    for how, (status, reason) in FAULTS.items():
        outcome = found.pop(f"faulty (how={how})")
        assert (how, outcome.status) == (how, status)
        assert reason in outcome.reason
        assert outcome.records
    assert not found


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_is_stopped_leaves_no_process_and_goes_on_later(elsewhere, number):
    (elsewhere.folder / "suite.toml").write_text(
        SUITE.replace("20 }", "2 }").replace("= 1\n", "= 2\n") + '[[optimizer]]\nuse = "slide"\nnap = 1.0\n'
    )
    words = ("-m", "benchfw", "run", "suite.toml", "--no-report", "--no-replay", "--events", "events.jsonl")
    process = elsewhere.start(*words)
    while "finished" not in _text(elsewhere.folder / "events.jsonl"):
        assert process.poll() is None, process.stderr.read()
        psutil.wait_procs([], timeout=0.05)
    workers = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL), err
    assert not psutil.wait_procs(workers, timeout=30)[1]
    again = elsewhere(*words)
    assert again.returncode == 0, again.stderr
    assert "1 in the store already" in again.stderr


def _text(path):
    return path.read_text() if path.exists() else ""


@pytest.mark.thorough
def test_python_compares_objects_on_a_system_without_posix(windows):
    (windows.folder / "mine.py").write_text(
        "import benchfw\n"
        "from bowls import Bowl, Slide\n"
        "if __name__ == '__main__':\n"
        "    found = benchfw.compare([Bowl], {'long': Slide(0.5), 'short': Slide(0.1)}, repetitions=1,\n"
        "                            budget={'iterations': 5})\n"
        "    print(sorted(found.frame['method'].unique()))\n"
    )
    done = windows("-c", "import runpy; runpy.run_path('mine.py', run_name='__main__')")
    assert "['long', 'short']" in done.stdout, done.stderr
