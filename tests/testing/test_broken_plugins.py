"""Plugins that are broken on purpose: each is found, by the checks that are meant for it and by no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchfw.testing import CheckResult, CheckStatus, Effort, run_check, run_checks, subjects_of
from benchfw.testing.checks import CHECKS

FOLDER = Path(__file__).parent / "broken"

BROKEN = {
    "biased": {"unbiased"},
    "deaf_solver": {"effort-honoured"},
    "free_rider": {"calls-counted"},
    "global_state": {"global-random-state"},
    "in_place": {"inputs-kept"},
    "infeasible": {"stays-feasible"},
    "mixed_up": {"no-mix-up"},
    "not_averaged": {"variance-falls"},
    "not_idempotent": {"projection"},
    "odd_sizes": {"bodies-agree"},
    "own_words": {"same-bits", "same-numbers"},
    "prepared_twice": {"prepared-alike"},
    "redrawn": {"deterministic-draw"},
    "remembering": {"remembers-nothing"},
    "rewinding": {"meets-a-problem"},
    "same_object": {"inputs-kept"},
    "silent_callback": {"meets-a-problem"},
    "single": {"arrays-come-back"},
    "too_good": {"bound-holds"},
    "uncounted": {"calls-counted"},
    "warm_solver": {"solves-from-scratch"},
    "wrong_batch": {"batch-gradient"},
    "wrong_mean": {"mean-as-declared"},
    "wrong_sign": {"gradient"},
    "wrong_space": {"search-spaces"},
}


def failed(path, leave_out="", **effort):
    def run(subject, check):
        if check.name == leave_out:
            return CheckResult(str(subject), check, CheckStatus.SKIPPED)
        return run_check(subject, check)

    outcomes = list(run_checks(subjects_of(str(path), effort=Effort(**effort)), run=run))
    return {each.check.name: each for each in outcomes if each.status is CheckStatus.FAILED}


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.sampled(6)
def test_a_broken_plugin_is_found_by_the_check_that_is_meant_for_it(name):
    # what a plugin remembers takes a process to find out, and the good ones show that it is not a false alarm
    slow = "" if name in {"remembering", "global_state"} else "remembers-nothing"
    found = failed(FOLDER / f"{name}.py", slow, seconds=0.5, iterations=100)
    assert set(found) == BROKEN[name], "\n".join(map(str, found.values()))


def test_the_advice_on_answers_that_are_objects_is_not_about_arrays():
    (found,) = failed(FOLDER / "same_object.py", "remembers-nothing", iterations=100).values()
    assert found.advice == "give a new object, or a copy, in every iteration"
    assert "answer 0 changed after it was handed over, on salesman" in found.detail


def test_every_broken_plugin_is_tried():
    assert {path.stem for path in FOLDER.glob("*.py")} - {"odd_sizes_cupy"} == set(BROKEN)


@pytest.mark.thorough
def test_a_good_plugin_of_each_kind_passes():
    assert not failed(Path(__file__).parent / "good" / "everything.py", seconds=0.5, iterations=100)


AUTHORS = '''
from dataclasses import dataclass
from benchfw import Estimator, Smooth, hookimpl


@dataclass(frozen=True)
class Walk:
    """Steps along an estimator."""

    estimator: Estimator
    """What draws."""
    solves = Smooth

    def run(self, problem, rng): ...


@dataclass(frozen=True)
class Free:
    """Gradient descent where nothing is forbidden."""

    solves = Smooth
    projects = False

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.1 * problem.grad(x)


@dataclass(frozen=True)
class Idle:
    """Neither yields nor solves."""

    solves = Smooth


@dataclass(frozen=True)
class Tireless:
    """A solver that is not told how long to work."""

    solves = Smooth

    def solve(self, problem, rng):
        return problem.start()


@hookimpl
def register_optimizers(register):
    for each in (Walk, Free, Idle, Tireless):
        register(each.__name__.lower(), each)
'''


def test_an_author_is_told_what_to_write(plugin_file):
    subjects = {each.entry.name: each for each in subjects_of(str(plugin_file(AUTHORS, "authors.py")))}

    def result(name, check):
        (found,) = (each for each in CHECKS if each.name == check and "optimizer" in each.roles)
        return run_check(subjects[name], found)

    walk = result("walk", "defaults")
    assert walk.detail.endswith("estimator must be given")
    assert walk.advice.endswith('in the class: check_with = ({"estimator": {"use": "…"}},)')
    assert "box" not in {each.name for each in subjects["free"].settings}
    assert result("free", "stays-feasible").status is CheckStatus.SKIPPED
    assert result("free", "improves").status is CheckStatus.PASSED
    idle = result("idle", "meets-a-problem")
    assert idle.advice == (
        "define run(self, problem, rng), or solve(self, problem, rng, effort) of a solver that cannot yield"
    )
    tireless = result("tireless", "meets-a-problem")
    assert "does not take (problem, rng, effort)" in tireless.detail
