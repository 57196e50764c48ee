"""Calls that stop: what was measured is kept, and what is missing is named."""

import contextlib
import os

import numpy as np
import pytest
from fixtures.cells import IN_WORKERS, SMALL, ends

import benchfw
from benchfw.api import session
from benchfw.harness.events import Finished

pytestmark = pytest.mark.usefixtures("folder")


def test_the_command_line_says_that_an_object_is_not_there(notebook, run_inline, folder):
    result = benchfw.compare(notebook["bowl"], notebook["steps"], **SMALL, store="alone.sqlite")
    result.save("alone.zip")
    said = "was an object of a Python session, which is not kept; run the code that made it again"
    for words in (["replay", "1", "--store", "alone.sqlite"], ["run", "--from-bundle", "alone.zip"]):
        done = run_inline(words, folder, dict(os.environ), together=True)
        assert (done.returncode, said in done.stdout) == (2, True), done.stdout
    packed = run_inline(["export", "--bundle", "a.zip", "--store", "alone.sqlite"], folder, dict(os.environ))
    assert "the suite has the source of its session's objects as a comment" in packed.stdout


def test_a_worker_that_dies_does_not_take_the_call_with_it(notebook):
    notebook("""
    def dies(problem, rng):
        yield problem.start()
        os._exit(3)
    """)
    result = benchfw.compare(notebook["bowl"], [notebook["dies"], notebook["steps"]], **IN_WORKERS)
    assert result.counts == {"crashed": 1, "done": 1}
    assert "the worker process ended with exit code 3" in repr(result)
    assert "the worker process ended with exit code 3" in result._repr_html_()


def test_an_interruption_keeps_what_is_finished_and_the_same_call_goes_on(notebook, monkeypatch):
    def interrupt(_title, _progress, *, live):
        seen = []

        def listen(event):
            seen.append(isinstance(event, Finished))
            if sum(seen) == 2:
                raise KeyboardInterrupt

        return contextlib.nullcontext(listen)

    call = {**SMALL, "repetitions": 4, "store": "interrupted.sqlite"}
    with monkeypatch.context() as patched:
        patched.setattr(session, "watch_run", interrupt)
        with pytest.raises(
            KeyboardInterrupt, match="finished trials kept, the same call continues from there"
        ):
            benchfw.compare(notebook["bowl"], notebook["steps"], **call)
    assert "was stopped" in repr(benchfw.load(store="interrupted.sqlite"))
    result = benchfw.compare(notebook["bowl"], notebook["steps"], **call)
    assert result.counts == {"done": 4}
    assert result.reused >= 2


def test_data_with_a_named_loss_need_its_package(monkeypatch):
    features, targets = np.eye(4), np.array([1, -1, 1, -1])
    given = benchfw.problem(features, targets, loss="logistic-regression", ridge=0.1)
    with monkeypatch.context() as patched:
        patched.setattr("benchfw.loading.find_entry_points", lambda _: ())
        patched.setattr("benchfw.registry.registry.find_entry_points", lambda _: ())
        patched.setattr(
            "benchfw.registry.registry.advise_install", lambda *_: "pip install benchfw-firstorder"
        )
        with pytest.raises(
            benchfw.BenchfwError, match=r"loss of problems: .*; pip install benchfw-firstorder"
        ):
            benchfw.compare(given, lambda problem, rng: iter(()))
    pytest.importorskip("benchfw_firstorder")
    result = benchfw.compare({"mine": given}, "gd", **SMALL, store="data.sqlite")
    assert ends(result)["mine", "gd"] < 0.1
    again = benchfw.problem(features, targets, loss="logistic-regression", ridge=0.1)
    assert benchfw.compare({"mine": again}, "gd", **SMALL, store="data.sqlite").reused == 1
    other = benchfw.problem(features, -targets, loss="logistic-regression", ridge=0.1)
    assert benchfw.compare({"mine": other}, "gd", **SMALL, store="data.sqlite").reused == 0
