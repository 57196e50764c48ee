from __future__ import annotations

from dataclasses import replace

import pytest

from benchfw.records import Counting, change
from benchfw.report.first_screen import describe_terms, find_answers
from benchfw.report.verdicts.overall import overall_sentences
from benchfw.summary.summarize import summarize

NEVER = 0.0


@pytest.fixture
def results(make):
    """Four problems: sgd is ahead, is not shown to be, never meets the target as gd, and is as good as gd."""
    costs = {"p": (8.0, 4.0, 0.1), "q": (8.0, 7.0, 3.0), "r": (NEVER, NEVER, 0.1), "s": (8.0, 8.0, 0.1)}
    return [
        make.result(
            "optimizer", problem, method, repetition,
            make.curve(
                "gap", [9, 0.5 if cost else 8], cost=cost + 1 + noise * (repetition * (3 + place) % 7)
            ),
            target={"gap": 1},
        )
        for problem, (gd, sgd, noise) in costs.items()
        for place, (method, cost) in enumerate({"gd": gd, "sgd": sgd}.items())
        for repetition in range(6)
    ]  # fmt: skip


@pytest.fixture
def summary(run, results):
    return summarize(run, results)


def test_what_is_so_on_one_problem_is_said_with_its_name_and_interval(summary):
    where = "on p (1 of 4 problems)"
    assert overall_sentences(summary) == [
        f"The method sgd needs 1.8 [1.5, 2.0] times fewer gradients than gd to reach the target {where}",
        "Within 10 % in each pair of runs on s (ratio 1.00 [0.93, 1.08])",
        "No difference beyond noise on q (ratio 0.959 [0.332, 2.769])",
        "Neither reaches the target on r",
    ]


def test_a_preparation_that_is_not_counted_is_said_so(run, results, summary):
    prepared = [
        replace(each, outcome=change(each.outcome, prepare_cost=5.0))
        if each.trial.method.label == "sgd"
        else each
        for each in results
    ]
    assert overall_sentences(summarize(run, prepared)) == [
        *overall_sentences(summary),
        "What sgd took to prepare is not counted",
    ]


@pytest.mark.parametrize("counting", [Counting.DECLARED, Counting.UNCOUNTED])
def test_methods_whose_cost_the_problem_does_not_count_are_named(run, results, counting):
    declared = [
        replace(each, outcome=change(each.outcome, counting=counting))
        if (each.trial.method.label, each.trial.problem.label) == ("sgd", "q")
        else each
        for each in results
    ]
    summary = summarize(run, declared)
    assert describe_terms(summary, find_answers(summary)).endswith("for all methods alike, except for sgd.")


def test_brackets_and_the_unit_of_cost_are_explained(summary):
    assert describe_terms(summary, find_answers(summary)) == (
        "Brackets hold 95 % intervals that allow for all comparisons of the report. "
        "Cost is counted in gradients, by the problem itself and for all methods alike."
    )
