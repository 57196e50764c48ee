"""Plugins that are broken on purpose: each is found, by the checks that are meant for it and by no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchfw.testing import CheckResult, CheckStatus, Effort, run_check, run_checks, subjects_of

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
}


def failed(path, leave_out="", **effort):
    def run(subject, check):
        if check.name == leave_out:
            return CheckResult(str(subject), check, CheckStatus.SKIPPED)
        return run_check(subject, check)

    outcomes = list(run_checks(subjects_of(str(path), effort=Effort(**effort)), run=run))
    return {each.check.name: each for each in outcomes if each.status is CheckStatus.FAILED}


@pytest.mark.parametrize("name", BROKEN)
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


def test_a_good_plugin_of_each_kind_passes():
    assert not failed(Path(__file__).parent / "good" / "everything.py", seconds=0.5, iterations=100)
