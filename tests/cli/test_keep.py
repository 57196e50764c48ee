"""A folder for a trial's own files: empty at its start, removed afterwards, or kept with its answer."""

import tempfile
import time

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.harness.workers import executor, links
from benchfw.harness.workers.launch import stop_worker
from benchfw.measure import files

PLUGIN = '''
import os
import time
from dataclasses import dataclass
from benchfw import Smooth, hookimpl, trial_folder


@dataclass(frozen=True)
class Writer:
    """Gradient descent that writes down what it does."""

    hang: bool = False
    step: float = 0.1
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        folder = trial_folder()
        assert not list(folder.iterdir()), "the folder is not empty"
        log = folder / "log.txt"
        for step in range(10):
            with log.open("a") as out:
                out.write(f"{step}\\n")
            assert log.read_text().endswith(f"{step}\\n")
            yield x
            if self.hang:
                time.sleep(60)
            x = x - 0.5 * problem.grad(x)


@hookimpl
def register_optimizers(register):
    register("writer", Writer)
'''
SUITE = """
plugins = ["bowls.py", "writer.py"]
repetitions = 2
budget = { iterations = 5 }
[[problem]]
use = "bowl"
label = "a bowl / round"
[[optimizer]]
use = "writer"
"""


@pytest.fixture
def writer(cli):
    cli.write("writer.py", PLUGIN)
    cli.write("writer.toml", SUITE)
    return cli


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Return a function that lists the files that trials have left behind."""
    place = tmp_path / "scratch"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return lambda: list(place.iterdir())


@pytest.mark.workers
@pytest.mark.parametrize("how", [["--jobs", "0"], ["--isolation", "trial"], ["--isolation", "worker"]])
def test_files_and_answers_are_kept_where_that_is_asked_for(writer, scratch, how):
    done = writer("run", "writer.toml", "--no-report", *how, "--keep", "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    folders = sorted((writer.folder / "kept").glob("*/*/*/*"))
    assert [each.relative_to(writer.folder / "kept").as_posix() for each in folders] == [
        "a bowl %2F round/writer/numpy/0",
        "a bowl %2F round/writer/numpy/1",
    ]
    for folder in folders:
        assert (folder / "log.txt").read_text().split() == list("012345")
        assert np.load(folder / "answer.npy").shape == (5,)
    again = writer("run", "writer.toml", "--no-report", *how)
    assert "nothing was run" in again.stdout  # what a trial wrote itself is not something that it depends on
    assert not scratch()


def test_methods_with_similar_names_keep_their_own_files(writer):
    labels = ["a/b", "a-b", "a b", "b" * 200, "b" * 201]
    tables = (
        f'[[optimizer]]\nuse = "writer"\nlabel = "{each}"\nstep = 0.{number}\n'
        for number, each in enumerate(labels, 1)
    )
    methods = "".join(tables)
    writer.write("writer.toml", SUITE.replace('[[optimizer]]\nuse = "writer"\n', methods))
    done = writer("run", "writer.toml", "--no-report", "--jobs", "0", "--keep", "kept")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(list((writer.folder / "kept").rglob("answer.npy"))) == 2 * len(labels)


def test_a_scratch_folder_of_somebody_else_is_not_used(tmp_path):
    place, elsewhere = tmp_path / "planted", tmp_path / "elsewhere"
    elsewhere.mkdir()
    place.symlink_to(elsewhere)
    with pytest.raises(BenchfwError, match="belongs to somebody else, or is not a folder; set TMPDIR"):
        files._own_folder(place)
    assert not list(elsewhere.iterdir())


@pytest.mark.workers
def test_nothing_is_left_of_a_trial_that_is_stopped(writer, scratch):
    writer.write("writer.toml", SUITE.replace('use = "writer"', 'use = "writer"\nhang = true'))
    done = writer("run", "writer.toml", "--no-report", "--no-replay", "--timeout", "0.5")
    assert "ran out of time" in done.stdout
    assert not scratch()


@pytest.mark.workers
@pytest.mark.parametrize("jobs", [1, 3])
def test_nothing_is_left_though_somebody_interrupts_the_end_of_a_worker(writer, scratch, monkeypatch, jobs):
    def stop_and_interrupt(started):
        stop_worker(started)
        raise KeyboardInterrupt

    monkeypatch.setattr(links, "stop_worker", stop_and_interrupt)
    writer.write("writer.toml", SUITE.replace('use = "writer"', 'use = "writer"\nhang = true'))
    how = ("--no-report", "--no-replay", "--timeout", "0.5", "--jobs", jobs, "--repetitions", jobs)
    done = writer("run", "writer.toml", *how)
    assert done.returncode == 130
    assert not scratch()


@pytest.mark.workers
def test_nothing_is_left_of_a_trial_whose_first_words_nobody_has_read(writer, scratch, monkeypatch):
    def interrupt_when_it_writes(_workers, _seconds):
        while not scratch():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr(executor, "wait", interrupt_when_it_writes)
    writer.write("writer.toml", SUITE.replace('use = "writer"', 'use = "writer"\nhang = true'))
    done = writer("run", "writer.toml", "--no-report", "--no-replay")
    assert done.returncode == 130
    assert not scratch()


@pytest.mark.workers
def test_a_check_has_a_folder_for_each_problem_that_it_builds_and_leaves_none(writer, scratch):
    text = (writer.folder / "bowls.py").read_text().replace("hookimpl\n", "hookimpl, trial_folder\n", 1)
    making = "self.pause = pause\n        (trial_folder() / 'data').mkdir()"
    writer.write("bowl.py", text.replace("self.pause = pause", making))
    for file, subject, check in [
        ("writer.py", "optimizer writer", "same-seed"),
        ("writer.py", "optimizer writer", "remembers-nothing"),
        ("bowl.py", "problem bowl", "same-seed"),
        ("bowl.py", "problem bowl", "calls-counted"),
    ]:
        done = writer("check", file, "--only", check)
        assert f"{subject}: {check}" in done.stdout
        assert "FileExistsError" not in done.stdout
        assert "none is running" not in done.stdout
    assert not scratch()


@pytest.mark.workers
def test_nothing_is_left_of_a_check_whose_process_ends(writer, scratch):
    writer.write("writer.py", PLUGIN.replace("if self.hang:", "os._exit(3)\n            if self.hang:"))
    done = writer("check", "writer.py", "--only", "meets-a-problem")
    assert "its process ended with exit code 3" in done.stdout
    assert not scratch()


def test_a_folder_cannot_be_asked_for_outside_of_a_trial():
    import benchfw

    with pytest.raises(benchfw.BenchfwError, match="none is running"):
        benchfw.trial_folder()
