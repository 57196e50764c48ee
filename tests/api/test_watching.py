"""A run that is started from Python is shown where a person sees it: in a notebook and in a terminal."""

import sys
from types import ModuleType, SimpleNamespace

import pytest

from benchfw.api.watching import watch_run
from benchfw.harness.events import Begun, Finished, Replaying, Started
from benchfw.records import Ending, Outcome, Status


@pytest.fixture
def notebook(monkeypatch):
    """What is displayed below a cell, as far as it was updated."""
    shown = []

    def display(data, *, raw, display_id):
        shown.append(data)
        return SimpleNamespace(update=lambda data, raw: shown.append(data))

    python, part = ModuleType("IPython"), ModuleType("IPython.display")
    python.get_ipython = lambda: SimpleNamespace(kernel=None)
    part.display = display
    monkeypatch.setitem(sys.modules, "IPython", python)
    monkeypatch.setitem(sys.modules, "IPython.display", part)
    return shown


def events(trial):
    failed = Outcome(Status.FAILED, Ending.FAULT, "no luck")
    return [Begun(1, 0, {trial.cell: 1}), Started(trial), Finished(trial, failed), Replaying(2)]


def test_a_notebook_has_a_bar_that_is_gone_at_the_end_and_every_fault(
    notebook, make_trial, capsys, monkeypatch
):
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    monkeypatch.setattr("benchfw.api.watching.DRAWN_A_SECOND", 1e9)
    with watch_run("A <title>", None) as listen:
        for event in events(make_trial()):
            listen(event)
    assert "A &lt;title&gt;" in notebook[0]["text/html"]
    assert any("1 failed, 0 left" in each["text/plain"] for each in notebook[:-1])
    assert "running 2 trials a second time" in notebook[-2]["text/plain"]
    assert notebook[-1] == {"text/html": ""}
    assert "failed: slide on bowl (numpy, repetition 0): no luck" in capsys.readouterr().err


def test_nothing_is_shown_under_pytest_or_without_a_screen_unless_asked(
    notebook, make_trial, capsys, monkeypatch
):
    for progress in (None, False):
        with watch_run("title", progress) as listen:
            listen(events(make_trial())[0])
    assert not notebook
    monkeypatch.delitem(sys.modules, "IPython")
    monkeypatch.delenv("PYTEST_CURRENT_TEST", raising=False)
    with watch_run("title", None) as listen:
        listen(events(make_trial())[0])
    assert capsys.readouterr().err == ""
    with watch_run("title", progress=True) as listen:
        for event in events(make_trial()):
            listen(event)
    assert "run 1: 1 trial to run" in capsys.readouterr().err
