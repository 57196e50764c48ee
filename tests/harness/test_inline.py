"""Trials in this process: the same records, no worker."""

import os
import random
import sys
from bdb import BdbQuit

import pytest

from benchfw.errors import BenchfwError
from benchfw.harness import run as harness
from benchfw.harness.events import Finished, Started, Waiting
from benchfw.harness.identity import Identity
from benchfw.harness.options import Options
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.harness.workers.inline import InlineExecutor
from benchfw.records import Status


@pytest.fixture
def slide(registry):
    """The class of the toy method."""
    return sys.modules[registry.get("optimizer", "slide").factory.__module__].Slide


def run_inline(registry, trials):
    executor = InlineExecutor(registry)
    try:
        return list(executor.run(trials))
    finally:
        executor.close()


def timeless(outcome):
    return [(each.metric, each.iteration, each.cost, each.value) for each in outcome.records]


def test_records_are_those_of_a_worker(toys, registry, make_trial):
    _, inline = run_inline(registry, [make_trial()])
    executor = LocalExecutor((str(toys),))
    _, worker = (each for each in executor.run([make_trial()]) if not isinstance(each, Waiting))
    executor.close()
    assert timeless(inline.outcome) == timeless(worker.outcome)
    assert (inline.outcome.status, inline.outcome.cost_unit) == (worker.outcome.status, "slopes")


def test_trials_run_in_the_order_given_and_faults_become_statuses(registry, make_trial, slide, monkeypatch):
    def fail(self, problem, rng):
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(slide, "run", fail)
    events = run_inline(registry, [make_trial(), make_trial(repetition=1)])
    assert [type(each) for each in events] == [Started, Finished] * 2
    assert [each.trial.repetition for each in events] == [0, 0, 1, 1]
    assert {each.outcome.status for each in events if isinstance(each, Finished)} == {Status.FAILED}


def test_surroundings_and_global_generators_are_put_back(registry, make_trial, slide, monkeypatch):
    def meddle(self, problem, rng):
        os.environ["MEDDLED"] = "1"
        os.chdir("/")
        yield problem.start()

    monkeypatch.setattr(slide, "run", meddle)
    folder, state = os.getcwd(), random.getstate()  # noqa: PTH109
    run_inline(registry, [make_trial()])
    assert (os.getcwd(), random.getstate()) == (folder, state)  # noqa: PTH109
    assert "MEDDLED" not in os.environ


def test_leaving_the_debugger_ends_the_run(registry, make_trial, slide, monkeypatch):
    def leave(self, problem, rng):
        raise BdbQuit

    monkeypatch.setattr(slide, "run", leave)
    with pytest.raises(KeyboardInterrupt):
        run_inline(registry, [make_trial()])


def test_no_jobs_choose_it_and_fewer_are_refused(registry):
    assert isinstance(harness.make_executor(None, registry, Options(jobs=0)), InlineExecutor)
    with pytest.raises(BenchfwError, match="jobs must be a whole number from 0"):
        Options(jobs=-1)


def test_a_trial_of_a_worker_has_another_key(registry, make_trial):
    inline, worker = (Identity(registry, {"numpy": {}}, 1, isolation=each) for each in ("none", "trial"))
    assert inline.stamp(make_trial())[1](0) != worker.stamp(make_trial())[1](0)
