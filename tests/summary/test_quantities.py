"""What one trial says about each quantity, and what the repetitions say together."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from benchfw.analysis.decisions import Verdict
from benchfw.provenance import Burst, Noise
from benchfw.records import Ending, Record, Status
from benchfw.report.captions import caption
from benchfw.report.verdicts import verdict
from benchfw.summary.summarize import summarize

inf = math.inf


def rows_of(summary, method):
    chosen = (method, "numpy")
    return {row.quantity: row for c in summary.comparisons for row in c.rows if row.cell[2:] == chosen}


def anchored(draws, *, setup_cost=50.0, setup_seconds=3.0):
    """Records of an estimator that prepares something once, looked at after 2, 10, 100, … draws."""
    looks = [look for look in (2, 10, 100) if look < draws] + [draws]
    return [
        Record(name, look, setup_seconds + 0.01 * look, setup_cost + 0.2 * look, value)
        for look in looks
        for name, value in (("variance", 4.0), ("variance_std_error", 0.1))
    ]


@pytest.mark.parametrize("draws", [10, 100, 10_000])
def test_a_draws_cost_does_not_depend_on_how_many_were_made(make, run, draws):
    results = [make.result("estimator", "p", "svrg", r, anchored(draws)) for r in range(3)]
    found = {name: row.interval.estimate for name, row in rows_of(summarize(run, results), "svrg").items()}
    assert found["cost_per_draw"] == pytest.approx(0.2)
    assert found["seconds_per_draw"] == pytest.approx(0.01)
    assert found["variance_x_seconds"] == pytest.approx(0.04)
    assert (found["setup_cost"], found["setup_seconds"]) == pytest.approx((50, 3))


def test_nothing_to_prepare_costs_nothing(make, run):
    results = [make.result("estimator", "p", "mb", r, anchored(100, setup_cost=0)) for r in range(3)]
    assert rows_of(summarize(run, results), "mb")["setup_cost"].interval.estimate == pytest.approx(
        0, abs=1e-9
    )


def test_one_shared_repetition_of_estimators_has_a_ratio_without_an_interval(make, run):
    results = [
        make.result("estimator", "p", name, repetition, make.draws(variance))
        for name, repetition, variance in (("a", 0, 1.0), ("a", 1, 100.0), ("b", 0, 1.0))
    ]
    summary = summarize(run, results)
    row = rows_of(summary, "b")["variance"]
    assert (row.ratio.estimate, row.ratio.low, row.ratio.high, row.ratio.count) == (1, 0, inf, 1)
    assert verdict(summary.comparisons[0]).endswith("between a and b (1 paired run; three are needed).")


def test_a_diverged_run_ends_at_infinity_and_is_not_left_out(make, run):
    def runs(name, diverged, end):
        return [
            make.result(
                "optimizer",
                "p",
                name,
                r,
                make.curve("gap", [9, math.nan] if r < diverged else [9, end * (1 + 0.01 * r)]),
                target={"gap": 1},
                status=Status.DIVERGED if r < diverged else Status.DONE,
            )
            for r in range(5)
        ]

    # what is left of `wild` ends lower than `calm`, which always ends
    summary = summarize(run, runs("calm", 0, 0.5) + runs("wild", 3, 0.1) + runs("rash", 1, 0.1))
    wild, rash = (rows_of(summary, name)["gap"] for name in ("wild", "rash"))
    assert (wild.interval.estimate, wild.interval.count) == (inf, 5)
    assert summary.comparisons[0].verdict(wild.cell, "cost_to_target") is Verdict.NOT_COMPARABLE
    assert (rash.interval.estimate, rash.interval.high) == (pytest.approx(0.102, rel=0.02), inf)
    # four of five times lower, once infinitely higher
    assert summary.comparisons[0].verdict(rash.cell, "cost_to_target") is Verdict.NOT_COMPARABLE


@pytest.mark.parametrize("values", [(0.0, 0.0, 1.0), (0.0, 1.0), (0.1, 3.0), (0.0, 1e-3, 1e-4, 0.0)])
def test_what_is_never_negative_has_no_negative_end(make, run, values):
    results = [
        make.result("optimizer", "p", "gd", r, make.curve("gap", [9, value]), target={"gap": 1e-9})
        for r, value in enumerate(values)
    ] + [
        make.result("estimator", "p", "mb", r, make.draws(value, bias=None)) for r, value in enumerate(values)
    ]
    summary = summarize(run, results)
    rows = [row for comparison in summary.comparisons for row in comparison.rows]
    assert {"gap", "variance"} <= {row.quantity for row in rows}
    assert all(row.interval.low >= 0 for row in rows)


@pytest.mark.parametrize(("runs", "level"), [(3, ""), (5, " [94 % interval]"), (6, " [95 % interval]")])
def test_the_caption_says_what_the_brackets_cover(make, run, runs, level):
    optimizers = [
        make.result("optimizer", "p", "gd", r, make.curve("gap", [9, 0.5]), target={"gap": 1})
        for r in range(runs)
    ]
    estimators = [make.result("estimator", "p", "mb", r, make.draws(1.0)) for r in range(runs)]
    optimizing, estimating = map(caption, summarize(run, optimizers + estimators).comparisons)
    assert f"At the end the median over repetitions{level}; to the target the geometric mean" in optimizing
    assert "Mean over repetitions (geometric for times) [95 % interval]" in estimating


def test_the_caption_says_how_the_target_was_set_and_what_the_intervals_are_for(make, run):
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", [9, 0.5])) for name in "ab" for r in range(3)
    ]
    alone, said = (caption(summarize(run, some).comparisons[0]) for some in (results[:3], results))
    target = (
        "Target: gap 0.5 (set by the methods' ends). No target was given: of the methods that come "
        "nine tenths of the way to the lowest end, it is the worst end of the last one, rounded towards the "
        "start. "
    )
    rows = "Their 95 % intervals are for one row at a time; those of the verdict allow for the whole report."
    assert said.startswith(target)
    assert said.endswith(rows)
    assert rows not in alone


def test_a_target_at_which_rounding_decides_is_called_zero_up_to_rounding(make, run):
    def target_of(end):
        runs = [
            make.result("optimizer", "p", name, r, make.curve("train_error", [0.9, end]))
            for name in "ab"
            for r in range(3)
        ]
        return caption(summarize(run, runs).comparisons[0]).split(". ")[:2]

    named, reached = target_of(0.0)
    assert named.endswith("10⁻¹⁵ (0 up to rounding, set by the methods' ends)")
    assert reached.endswith("are at 0 up to rounding, and below this number rounding decides")
    for end, digits in {1e-9: "10⁻⁹", 3e-15: "10⁻¹⁵"}.items():
        named, reached = target_of(end)
        assert named.endswith(f"{digits} (set by the methods' ends)")
        assert reached.endswith("it is the worst end of the last one, rounded towards the start")


def exact_and_stepwise(make, ending=Ending.BY_ITSELF):
    """An exact method that is done after 3 seconds, and one that goes on and on."""
    jitter = [1.0, 1.01, 0.99, 1.02, 0.98]
    results = [
        make.result("optimizer", "p", "exact", r, make.curve("gap", [9, x], seconds=3.0), ending=ending)
        for r, x in enumerate(jitter)
    ]
    return results + [
        make.result("optimizer", "p", "steps", r, make.curve("gap", [9, 4 * x, 0.5 * x, 0.1 * x, 0.01]))
        for r, x in enumerate(jitter)
    ]


@pytest.mark.parametrize(("ending", "said"), [(Ending.BY_ITSELF, False), (Ending.SECONDS, True)])
def test_ends_are_compared_unless_the_reference_ended_by_itself_with_less_than_the_others_spent(
    make, run, ending, said
):
    (comparison,) = summarize(run, exact_and_stepwise(make, ending)).comparisons
    assert ("At the end, steps has gap 100 [" in verdict(comparison)) is said
    assert ("gap" in {quantity for _, quantity in comparison.decisions}) is said


def test_a_reference_that_ends_by_itself_stays_the_reference_where_others_reach_a_target_that_nobody_named(
    make, run
):
    others = [
        make.result("optimizer", "p", "more", r, make.curve("gap", [9, 3 * x, 0.4 * x, 0.1 * x, 0.01]))
        for r, x in enumerate([1.01, 1.0, 1.02, 0.98, 0.99])
    ]
    summary = summarize(run, [*exact_and_stepwise(make), *others])
    (comparison,) = summary.comparisons
    assert comparison.name(comparison.reference) == "exact"
    assert comparison.replaced is None


def test_a_reference_that_ends_before_the_others_begin_is_replaced_where_it_does_not_reach_the_target(
    make, run
):
    curves = {"steps": 1.0, "more": 2.0}
    results = [
        make.result(
            "optimizer", "p", "exact", r, make.curve("gap", [9, 5], seconds=0.1), ending=Ending.BY_ITSELF
        )
        for r in range(5)
    ]
    for name, factor in curves.items():
        results += [
            make.result("optimizer", "p", name, r, make.curve("gap", [9, 4, 0.5 * x, 0.1], seconds=factor))
            for r, x in enumerate([1.0, 1.01, 0.99, 1.02, 0.98])
        ]
    (comparison,) = summarize(run, results).comparisons
    assert comparison.name(comparison.reference) == "steps"
    assert comparison.name(comparison.replaced) == "exact"


def test_the_efficiency_of_one_run_is_the_ratio_of_the_products_shown(make, run):
    """Also where a heavy tail, or a busy machine, leaves only one end of that ratio known."""
    busy = replace(run, noise=Noise(tuple(Burst(float(at), 0.003, 0.001, 0.001) for at in range(3))))
    results = [
        make.result("estimator", "p", "plain", 0, make.draws(1.0, noise=0.1)),
        make.result("estimator", "p", "heavy", 0, make.draws(4.0, noise=0.16, skewness=9.0)),
    ]
    for machine in (run, busy):
        rows = rows_of(summarize(machine, results), "heavy")
        assert rows["relative_efficiency"].interval.estimate == pytest.approx(1 / 4, rel=0.02)
