"""Two revisions in turn: which processes run the trials of which suite, and which projects are installed."""

import os
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest

from benchfw.harness import against
from benchfw.harness.against import Side
from benchfw.harness.events import Finished
from benchfw.harness.options import Options
from benchfw.records import Budget, Ending, Outcome, Spec, Status, Trial


def agenda(isolation, seconds):
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 0, Budget(seconds=seconds))
    return SimpleNamespace(
        suite=SimpleNamespace(isolation=isolation, budget=trial.budget),
        environment=SimpleNamespace(absent_backends={}),
        pending=np.arange(2),
        repetitions=lambda positions: positions,
        trials=[trial, trial],
    )


def test_the_trials_of_each_suite_are_isolated_and_limited_as_it_asks(monkeypatch):
    class Fake:
        def __init__(self, plugins, *, isolation, timeout, **_):
            self.terms = isolation, timeout
            made.append(self)

        def run(self, trials):
            ran.append((trials[0].budget.seconds, self.terms))
            yield Finished(trials[0], Outcome(Status.DONE, Ending.SECONDS))

        def close(self):
            closed.append(self)

    made, ran, closed = [], [], []
    monkeypatch.setattr(against, "LocalExecutor", Fake)
    options = Options()
    agendas = [agenda("trial", 1.0), agenda("worker", 2.0), agenda("worker", 2.0)]
    sides = Side("before", None, ()), Side("after", None, ())
    assert len(list(against._events(agendas, sides, options))) == 2 * 2 * 3
    limits = {seconds: options.timeout_of(Budget(seconds=seconds)) for seconds in (1.0, 2.0)}
    isolation = {1.0: "trial", 2.0: "worker"}
    assert {terms == (isolation[seconds], limits[seconds]) for seconds, terms in ran} == {True}
    assert len(made) == 2 * 2 * 2  # a repetition, a side, and terms that differ
    assert set(closed) == set(made)


@pytest.fixture
def tree(tmp_path):
    """A git repository."""
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    return tmp_path


def add_project(tree, folder, text='[project]\nname = "numpy"\n'):
    (tree / folder).mkdir()
    (tree / folder / "pyproject.toml").write_text(text)
    subprocess.run(["git", "-C", str(tree), "add", "."], check=True)
    return tree / folder


@pytest.mark.parametrize("name", [b"plain", b"ex\xc3\xa4mple", b"caf\xe9", b" first", b'a "b"'])
def test_an_installed_project_is_found_whatever_its_folder_is_called(tree, name):
    folder = add_project(tree, os.fsdecode(name))
    assert against._projects(tree) == [folder]


@pytest.mark.parametrize("text", ["", "project = 3", "[project", '[project]\nname = "not-installed-here"'])
def test_a_project_without_a_name_or_that_is_not_installed_is_left_out(tree, text):
    add_project(tree, "folder", text)
    assert against._projects(tree) == []


def test_a_project_file_that_leads_nowhere_is_left_out(tree):
    (tree / "pyproject.toml").symlink_to("nowhere")
    subprocess.run(["git", "-C", str(tree), "add", "."], check=True)
    assert against._projects(tree) == []
