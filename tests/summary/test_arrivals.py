"""When a target was met between two looks: where it probably was, and between which numbers for sure."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.convergence import Curve
from benchfw.analysis.decisions import Verdict
from benchfw.analysis.stacks import Stack, first_hits, place_arrivals
from benchfw.measure.meter import next_look
from benchfw.provenance import Burst, Noise
from benchfw.records import Budget
from benchfw.report.tables import headline_table
from benchfw.summary.summarize import summarize


def looks(most):
    found = [0]
    while found[-1] < most:
        found.append(next_look(found[-1]))
    return found


def falling(make, method, repetition, arrival, *, target, law="linear"):
    at = looks(1.2 * arrival)
    values = {
        "linear": lambda k: math.exp(k / arrival * math.log(1e-6)),
        "power": lambda k: 1e-6 * (arrival + 1) / (k + 1),
    }
    curve = make.curve("gap", [values[law](k) for k in at], seconds=1e-3, cost=3.0, iterations=at)
    return make.result("optimizer", "p", method, repetition, curve, target=target)


def compared(make, run, mine, other, target):
    results = [
        falling(make, name, r, arrival, target=target)
        for name, arrival in (("a", mine), ("b", other))
        for r in range(10)
    ]
    (comparison,) = summarize(run, results).comparisons
    return comparison


@pytest.mark.parametrize("law", ["linear", "power"])
@pytest.mark.parametrize("arrival", [5, 50, 300, 993, 994, 1000, 1043, 7777])
def test_an_arrival_is_right_to_one_percent_and_inside_its_interval(make, run, law, arrival):
    result = falling(make, "a", 0, arrival, target={"gap": 1.000001e-6}, law=law)
    (comparison,) = summarize(run, [result, replace(result, id=2)]).comparisons
    (cell,) = comparison.cells
    for quantity, unit in (("iterations_to_target", 1), ("cost_to_target", 3), ("seconds_to_target", 1e-3)):
        found = comparison.row(cell, quantity).interval
        assert abs(found.estimate / (unit * arrival) - 1) < 0.01
        assert found.low * (1 - 1e-12) <= unit * arrival <= found.high * (1 + 1e-12)


@pytest.mark.parametrize("shift", [0, 1])
def test_993_against_994_iterations_are_equal_wherever_the_looks_are(make, run, shift):
    straddled = looks(2000)[60] + shift  # at a look, and just after it
    for mine, other in ((993, 994), (straddled, straddled + 1)):
        comparison = compared(make, run, mine, other, {"gap": 1.000001e-6})
        decision = comparison.decision(comparison.cells[1], "cost_to_target")
        assert decision.verdict in (Verdict.EQUAL, Verdict.ALIKE, Verdict.UNDECIDED)
        assert decision.interval.estimate == pytest.approx(other / mine, rel=2e-3)
        assert decision.interval.low < 1 < decision.interval.high


def test_a_difference_that_looks_cannot_hide_is_found(make, run):
    comparison = compared(make, run, 1000, 1200, {"gap": 1.000001e-6})
    decision = comparison.decision(comparison.cells[1], "cost_to_target")
    assert decision.verdict is Verdict.WORSE
    assert decision.interval.low <= 1.2 <= decision.interval.high


def place(curves, targets):
    stacks = [Stack.of_blocks(each.block, [(0, *each.shape)]) for each in curves]
    arrived, at = first_hits(stacks, targets)
    return place_arrivals(stacks, targets, at[arrived])


def test_values_with_a_sign_and_several_targets_are_placed_too():
    steps = np.array([0.0, 10.0, 20.0])
    falls = Curve(steps, steps, steps, np.array([5.0, 1.0, -1.0]))
    other = Curve(steps, steps, steps, np.array([8.0, 4.0, 1.0]))
    assert place([falls], [0.5]).values(steps) == [13]  # 12.5, and answers come whole
    both = place([falls, other], [0.5, 2.0])
    assert both.values(steps) == [15]  # the later one of the two
    assert both.brackets(steps)[:, 0] == pytest.approx((11 * 0.995, 20 * 1.005))
    broken = Curve(steps, steps, steps, np.array([5.0, math.inf, -1.0]))
    assert place([broken], [0.5]).values(steps) == [20]
    assert place([falls], [9.0]).brackets(steps)[:, 0].tolist() == [0, 0]
    assert place([falls, other], [0.5, 0.5]).values(steps).tolist() == []


def test_times_on_a_busy_machine_have_wider_intervals_and_claim_less(make, run):
    results = [
        make.result(
            "optimizer", "p", name, r, make.curve("gap", [1, 0.1], seconds=pace * (1 + 0.01 * r)),
            target={"gap": 0.5},
        )
        for name, pace in (("a", 1.0), ("b", 1.5))
        for r in range(5)
    ]  # fmt: skip
    busy = replace(run, noise=Noise(tuple(Burst(k, 0.002, 0.001, 0.001) for k in (1.0, 2.0, 3.0))))
    quiet, loud = (summarize(each, results).comparisons[0] for each in (run, busy))
    cell = quiet.cells[1]
    assert quiet.verdict(cell, "seconds_to_target") is Verdict.WORSE
    decision = loud.decision(cell, "seconds_to_target")
    assert decision.verdict is Verdict.UNDECIDED
    assert decision.interval.estimate == pytest.approx(1.5)
    assert decision.needed is None  # no number of repetitions would show a factor of 1.25
    assert loud.decision(cell, "cost_to_target").verdict is quiet.decision(cell, "cost_to_target").verdict
    before, after = (each.row(cell, "seconds_to_target").interval for each in (quiet, loud))
    assert (after.low, after.high) == (pytest.approx(before.low / 2), before.high)
    before, after = (each.row(cell, "expected_seconds_to_target").interval for each in (quiet, loud))
    assert (after.low, after.high) == (pytest.approx(before.low / 2), before.high)
    ratio = loud.row(cell, "seconds_to_target").ratio
    assert ratio.low < 0.8
    assert ratio.high > 2.9


def test_cpu_seconds_have_a_column_where_they_differ_from_the_time_or_trials_ran_side_by_side(make, run):
    def results(share):
        for name in ("a", "b"):
            for r in range(3):
                curve = make.curve("gap", [1, 0.1], seconds=2.0)
                used = [each._replace(cpu_seconds=share * each.seconds) for each in curve]
                yield make.result("optimizer", "p", name, r, used, target={"gap": 0.5})

    beside = replace(run, environment=replace(run.environment, jobs=2))
    for share, by, shown in ((0.5, run, ("1", "1")), (0.97, run, None), (1.0, beside, ("2", "2"))):
        (comparison,) = summarize(by, list(results(share))).comparisons
        table = headline_table(comparison)
        columns = dict(zip(table.header, zip(*table.rows, strict=True), strict=False))
        assert columns.get("CPU time to target, s") == shown
        assert columns["time to target, s"] == ("2", "2")
        assert comparison.row(comparison.cells[0], "cpu_seconds_to_target").interval.estimate == 2 * share


def test_arrivals_of_which_some_are_at_the_start_have_no_ratio_in_any_unit(make, run):
    results = [
        make.result(
            "optimizer", "p", name, r,
            make.curve("gap", [0.5, 0.4] if r < 2 else [9, 0.5], cost=cost * (1 + r), seconds=0.1),
            target={"gap": 1.0},
        )
        for name, cost in (("a", 10.0), ("b", 20.0))
        for r in range(6)
    ]  # fmt: skip
    (comparison,) = summarize(run, results).comparisons
    _, other = comparison.cells
    for quantity in ("cost_to_target", "seconds_to_target", "iterations_to_target"):
        assert comparison.row(other, quantity).ratio is None
    assert comparison.verdict(other, "seconds_to_target") is Verdict.NOT_COMPARABLE
    header, (_, row) = headline_table(comparison).header, headline_table(comparison).rows
    assert [cell for name, cell in zip(header, row, strict=True) if name == "ratio"] == ["—", "—"]
    # the median: a geometric mean of zeros is none
    assert comparison.row(other, "cost_to_target").interval.estimate == pytest.approx(70, rel=0.2)


def test_targets_that_a_last_step_beyond_the_budget_met_are_not_met_in_figures(make, run):
    def result(name, cost):
        curve = make.curve("gap", [9, 0.5], cost=cost)
        found = make.result("optimizer", "p", name, 0, curve, target={"gap": 1.0})
        return replace(found, trial=replace(found.trial, budget=Budget(cost=100)))

    (comparison,) = summarize(run, [result("a", 100.0), result("late", 500.0)]).comparisons
    first, late = comparison.hits["cost"].T
    assert np.all(np.isfinite(first))
    assert not np.any(np.isfinite(late[first > 0]))
