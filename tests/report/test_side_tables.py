"""What stands beside the main tables: ranks, restarts, rates, and how bias was judged."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.records import Record, Status
from benchfw.report.captions import caption
from benchfw.report.side_tables import comparison_tables
from benchfw.report.tables import headline_table
from benchfw.summary.exports import summary_rows
from benchfw.summary.summarize import summarize

STEPS = np.unique(np.geomspace(1, 1000, 60).round())


def rows_of(summary, method):
    chosen = (method, "numpy")
    return {row.quantity: row for c in summary.comparisons for row in c.rows if row.cell[2:] == chosen}


def arriving(make, name, ends):
    """Runs that end after so many seconds: (seconds, whether they met the target, status)."""
    return [
        make.result(
            "optimizer", "p", name, r, make.curve("gap", [9.0, 0.5 if met else 5.0], seconds=seconds),
            target={"gap": 1.0}, status=status,
        )
        for r, (seconds, met, status) in enumerate(ends)
    ]  # fmt: skip


def test_runs_that_do_not_all_arrive_have_an_expected_time_and_a_median_with_never_as_infinity(make, run):
    done, timeout = Status.DONE, Status.TIMEOUT
    ends = [(1.0, True, done), (2.0, True, done), (3.0, True, done), (0.5, False, timeout)]
    summary = summarize(run, arriving(make, "sure", [(4.0, True, done)] * 4) + arriving(make, "luck", ends))
    rows = rows_of(summary, "luck")
    assert rows["expected_seconds_to_target"].interval.estimate == pytest.approx(6.5 / 3)
    assert rows["expected_cost_to_target"].interval.estimate == pytest.approx(40 / 3)
    assert rows["seconds_to_target"].interval.estimate == 2.5
    (restarts,) = [side for side in comparison_tables(summary.comparisons[0]) if side.title == "Restarts"]
    assert restarts.table.header == ("method", "runs there", "expected time, s", "expected gradients")
    assert [row[:2] for row in restarts.table.rows] == [("sure", "4 of 4"), ("luck", "3 of 4")]
    assert {row[3] for row in summary_rows(summary)} >= set(rows)


def test_where_all_runs_arrive_or_none_does_there_is_no_table_of_restarts(make, run):
    done = Status.DONE
    never = arriving(make, "never", [(1.0, False, done)] * 4)
    summary = summarize(run, arriving(make, "sure", [(4.0, True, done)] * 4) + never)
    assert "Restarts" not in [side.title for side in comparison_tables(summary.comparisons[0])]


def test_a_run_that_diverged_has_spent_its_time_in_vain(make, run):
    done, diverged = Status.DONE, Status.DIVERGED
    ends = [(1.0, True, done), (2.0, True, done), (3.0, True, done), (0.5, False, diverged)]
    rows = rows_of(summarize(run, arriving(make, "luck", ends)), "luck")
    assert rows["seconds_to_target"].interval.estimate == 2.5
    assert rows["expected_seconds_to_target"].interval.estimate == pytest.approx(6.5 / 3)


def falling(make, name, errors, bound=None):
    found = []
    for r in range(3):
        records = make.curve("gap", errors * (1 + 0.1 * r), iterations=STEPS)
        if bound is not None:
            records += make.curve("gap", bound, iterations=STEPS, role="bound")
        found.append(make.result("optimizer", "p", name, r, records))
    return found


def test_a_rate_stands_next_to_the_theorems_each_under_the_law_that_it_follows(make, run):
    results = falling(make, "gd", STEPS**-1.5, 3 * STEPS**-1.0)
    results += falling(make, "nesterov", 0.99**STEPS, 4 * STEPS**-2.0)
    summary = summarize(run, results)
    assert rows_of(summary, "gd")["gap_sublinear_rate"].interval.estimate == pytest.approx(-1.5)
    assert rows_of(summary, "gd")["gap_sublinear_rate_of_theorem"].interval.estimate == pytest.approx(-1)
    assert rows_of(summary, "nesterov")["gap_linear_rate"].interval.estimate == pytest.approx(math.log(0.99))
    (rates,) = comparison_tables(summary.comparisons[0])
    assert rates.title == "Rates of gap"
    assert rates.table.rows == (
        ("gd", "k^p, p = -1.50", "k^p, p = -1"),
        ("nesterov", "-1 % a step", "k^p, p = -2"),
    )


def test_a_curve_that_ends_at_a_level_follows_no_law_and_the_table_says_so(make, run):
    results = falling(make, "gd", STEPS**-1.0) + falling(make, "sgd", STEPS**-1.0 + 0.005)
    summary = summarize(run, results)
    (rates,) = comparison_tables(summary.comparisons[0])
    assert [row[1] for row in rates.table.rows] == ["k^p, p = -1", "follows neither law"]
    assert not any("rate" in quantity for quantity in rows_of(summary, "sgd"))
    alone = summarize(run, falling(make, "sgd", STEPS**-1.0 + 0.005, STEPS**-1.0))
    assert list(comparison_tables(alone.comparisons[0])) == []


def test_what_does_not_tend_to_zero_has_no_rate(make, run):
    assert summarize(run, falling(make, "sgd", 1 + 1 / STEPS)).comparisons[0].rates == ()


def estimators(make, problem, biases):
    return [
        make.result("estimator", problem, name, r, make.draws(1e-3 * (1 + noise), bias=bias + noise))
        for name, bias in biases.items()
        for r, noise in enumerate((-0.001, 0.003, 0.001, 0.0, -0.003))
    ]


def test_bias_is_judged_over_all_problems_of_the_run_together(make, run):
    few = estimators(make, "p", {"a": 0.0085, "b": 0.0})
    many = few + [r for number in range(10) for r in estimators(make, f"q{number}", {"b": 0.0})]
    assert [each.method for each in summarize(run, few).comparisons[0].biased] == ["a"]
    summary = summarize(run, many)
    assert not summary.comparisons[0].biased
    assert "over repetitions at 0.042 %, a part of the report's 5 %" in caption(summary.comparisons[0])


def test_a_biased_estimator_brings_the_mean_squared_error_into_the_table(make, run):
    assert (
        "mse" not in headline_table(summarize(run, estimators(make, "p", {"a": 0.0})).comparisons[0]).header
    )
    results = estimators(make, "p", {"a": 0.0, "b": 1.0})
    assert "mse" in headline_table(summarize(run, results).comparisons[0]).header


def test_relative_efficiency_and_the_worst_coordinate_are_shown(make, run):
    results = [
        make.result(
            "estimator", "p", name, r,
            [*make.draws(variance * wobble), Record("worst_variance", 100, 100.0, 200.0, variance / 2)],
        )
        for name, variance in (("a", 4.0), ("b", 1.0))
        for r, wobble in enumerate((0.99, 1.0, 1.01))
    ]  # fmt: skip
    summary = summarize(run, results)
    found = rows_of(summary, "b")
    assert found["relative_efficiency"].interval.estimate == pytest.approx(4)
    assert found["worst_variance"].interval.estimate == pytest.approx(0.5)
    assert rows_of(summary, "a")["relative_efficiency"].interval.estimate == 1
