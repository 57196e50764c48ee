"""A leaderboard has the methods of one run in the order of what they took, with the ranks left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from benchfw.summary.summarize import summarize
from benchfw_site.leaderboards import find_leaderboards


def results_of(make, costs):
    """Return six runs of each method that arrive after so many calls; without a cost, never."""

    def curve(cost, spread, number):
        return make.curve("gap", [9, 5.0 if cost is None else 0.5], cost=(cost or 9) + spread * number)

    return [
        make.result("optimizer", "p", name, r, curve(*cost, r), target={"gap": 1.0}, cost_unit="gradients")
        for name, cost in costs.items()
        for r in range(6)
    ]


def test_methods_are_in_order_with_the_ranks_that_overlapping_intervals_leave_open(make, run):
    costs = {"wide": (60, 10), "slow": (100, 1), "fast": (10, 0), "lost": (None, 0)}
    (board,) = find_leaderboards(summarize(run, results_of(make, costs)))
    assert board.quantity == "cost to target, gradients"
    assert [(each.method, each.ranks) for each in board.places] == [
        ("fast", "1"),
        ("wide", "2 [2, 3]"),
        ("slow", "3 [2, 3]"),
        ("lost", "4"),
    ]
    assert board.places[-1].value == "never"


def test_of_a_metric_of_which_more_is_better_the_highest_is_first(make, run):
    def curve(end):
        return [each._replace(role="gain") for each in make.curve("accuracy", [0.1, end])]

    results = [
        make.result("optimizer", "p", name, r, curve(end + r / 1000))
        for name, end in {"low": 0.5, "high": 0.9}.items()
        for r in range(6)
    ]
    summary = summarize(run, results)
    comparisons = tuple(replace(each, targets=()) for each in summary.comparisons)
    (board,) = find_leaderboards(replace(summary, comparisons=comparisons))
    assert [each.method for each in board.places] == ["high", "low"]
    assert [each.ranks for each in board.places] == ["1", "2"]


def test_problems_of_different_pace_are_ranked_by_one_quantity(make, run):
    results = [
        make.result(
            "optimizer", problem, name, r, make.curve("gap", [9, 1, 1e-3], seconds=pace * (1 + r / 50)),
            target={"gap": 0.5},
        )
        for problem, slow in (("small", 1.0), ("large", 100.0))
        for name, pace in (("gd", 0.02 * slow), ("sgd", 0.03 * slow))
        for r in range(2)
    ]  # fmt: skip
    boards = find_leaderboards(summarize(run, results))
    assert [each.quantity for each in boards] == ["cost to target, gradients"] * 2


@pytest.mark.parametrize("imported", ["", "elsewhere.parquet"])
def test_one_method_alone_and_an_imported_run_have_none(make, run, imported):
    costs = {"one": (5, 0)} if not imported else {"one": (5, 0), "two": (6, 0)}
    summary = replace(summarize(run, results_of(make, costs)), imported=imported)
    assert find_leaderboards(summary) == []
