from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchfw.analysis import bands
from benchfw.analysis.bands import band, common_grid, median_line
from benchfw.analysis.convergence import (
    AXES,
    NEVER,
    Curve,
    Hit,
    automatic_target,
    curve_within,
    curves_by_metric,
    time_to_all,
    value_at,
)
from benchfw.analysis.stacks import Stack
from benchfw.records import Record


def curve(values, step=1.0):
    numbers = np.arange(len(values), dtype=float)
    return Curve(numbers, numbers * step, numbers * 10, np.array(values, dtype=float))


def stacked(curves):
    return Stack.join([Stack.of_blocks(each.block, [(0, *each.shape)]) for each in curves if each.count])


def test_records_become_one_curve_a_metric_in_order():
    records = [Record(m, i, i / 2, i * 3, i + 0.5) for i in (0, 2, 1) for m in ("gap", "rmse")]
    curves = curves_by_metric(records)
    assert list(curves) == ["gap", "rmse"]
    np.testing.assert_array_equal(curves["gap"].iterations, [0, 1, 2])
    np.testing.assert_array_equal(curves["gap"].values, [0.5, 1.5, 2.5])
    np.testing.assert_array_equal(curves["gap"].along("cost"), [0, 3, 6])


def test_value_is_that_of_the_last_point_seen():
    found = value_at(curve([9, 5, math.nan]), "seconds", np.array([-1, 0, 0.99, 1, 1.5, 2, 50]))
    np.testing.assert_array_equal(found, [np.inf, 9, 9, 5, 5, np.inf, np.inf])


def test_band_is_median_and_range_of_few_curves():
    drawn = band(stacked([curve([8, 4]), curve([8, 1]), curve([8, 2])]), "iterations")
    np.testing.assert_array_equal(drawn.grid, [0, 1])
    np.testing.assert_array_equal(drawn.median, [8, 2])
    np.testing.assert_array_equal(drawn.low, [8, 1])
    np.testing.assert_array_equal(drawn.high, [8, 4])
    assert drawn.count == 3


def test_band_of_many_curves_leaves_out_the_tails():
    drawn = band(stacked([curve([100, value]) for value in range(21)]), "iterations")
    assert (drawn.low[-1], drawn.median[-1], drawn.high[-1]) == (2, 10, 18)


def test_one_diverged_repetition_does_not_move_the_median_of_three():
    drawn = band(stacked([curve([8, 4]), curve([8, math.nan]), curve([8, 2])]), "iterations")
    assert drawn.median[-1] == 4
    assert drawn.high[-1] == math.inf


@given(
    lengths=st.lists(st.integers(1, 400), min_size=1, max_size=5),
    axis=st.sampled_from(["iterations", "seconds", "cost"]),
    points=st.integers(2, 50),
)
def test_grid_is_short_sorted_and_keeps_first_and_last(lengths, axis, points):
    curves = [curve(np.ones(length), step=0.1 * (number + 1)) for number, length in enumerate(lengths)]
    grid = common_grid(stacked(curves), axis, points)
    assert np.all(np.diff(grid) > 0)
    assert grid[0] == 0
    assert len(grid) <= points + 1
    ends = sorted(found.along(axis)[-1] for found in curves)
    assert grid[-1] == ends[(len(ends) - 1) // 2]


def test_no_curve_gives_an_empty_band():
    assert band(stacked([]), "seconds").count == 0


def test_first_hit_is_the_first_measured_point_at_or_below():
    assert time_to_all([curve([9, 3, 1, 2], step=0.5)], [2]) == Hit(2, 1.0, 20)
    assert time_to_all([curve([9, 3, math.nan])], [2]) == NEVER


def test_targets_are_met_at_the_first_look_at_which_all_hold_together():
    assert time_to_all([curve([9, 1, 1]), curve([9, 9, 1])], [1, 1]).iterations == 2
    assert time_to_all([curve([9, 1, 9]), curve([9, 9, 1])], [1, 1]) == NEVER
    assert time_to_all([curve([9, 1, 9, 1]), curve([9, 9, 1, 0])], [1, 1]).iterations == 3
    assert time_to_all([curve([9, 1, 1]), curve([9, 9, 1])], [1, 0]) == NEVER


def test_looks_that_overspent_the_budget_do_not_count_but_the_first_does():
    whole = curve([9, 3, 1])  # a second and ten units of cost a look
    assert curve_within(whole, None, None) is whole
    assert curve_within(whole, 1.0, None).final == 3
    assert curve_within(whole, 1.999, None).final == 1  # by less than a hundredth
    assert curve_within(whole, None, 1e-9).final == 9


def target_of(methods, floor=0.0):
    """Return the automatic target of methods that are given as the first and last values of their runs."""
    return automatic_target([np.array(runs, dtype=np.float64).reshape(-1, 2) for runs in methods], floor)


def test_automatic_target_is_met_by_all_runs_of_the_methods_that_got_far():
    first = [[9, 0.123], [9, 0.1171], [9, math.nan]]
    assert target_of([first]) == 0.13
    assert target_of([first, [[9, 0.5]]]) == 0.5
    assert target_of([[[9, 0.5]], first]) == 0.5
    # nine tenths of the way from 9 to 0.123 end at 1.0107
    assert target_of([first, [[9, 1.01]]]) == 1.01
    assert target_of([first, [[9, 1.02]]]) == 0.13
    assert math.isnan(target_of([[[9, math.nan]], []]))


def test_automatic_target_has_more_than_two_figures_where_these_would_be_a_part_of_the_way():
    assert target_of([[(8.5, 8.1312)]]) == 8.14  # 8.2 is a fifth of the way back
    assert target_of([[(8.14, 8.1312)]]) == 8.1312
    assert target_of([[(1376.0, 104.6)]]) == 110  # half a hundredth
    assert target_of([[(1.0, 1.23e-6)]]) == 1.3e-6


def test_automatic_target_is_not_rounded_beyond_what_tells_the_ends_apart():
    """Two figures, 120, would be met by both methods when they are far from their ends."""
    assert target_of([[(5_000, 109.6), (5_000, 110.0)], [(5_000, 112.0), (5_000, 114.86)]]) == 115
    assert target_of([[(1, 1e-6)], [(1, 0.00101)]]) == 0.0011


def test_automatic_target_stays_above_rounding():
    curve = Curve([0, 1], [0, 1], [0, 1], [2.0, 1e-17])
    stack = Stack.of_blocks(curve.block, [(0, *curve.shape)])
    assert stack.floors() == pytest.approx(2 * 8 * 2.0**-52)
    assert stack.floors(np.array([-1e9])) == pytest.approx(1e9 * 8 * 2.0**-52)
    assert target_of([[[2.0, 1e-17]]], float(stack.floors()[0])) == 3.6e-15
    assert target_of([[[0.0, 0.0]]]) == 0


def test_automatic_target_of_a_negative_metric_is_its_worst_end():
    assert target_of([[[5.0, -1.0]], [[5.0, -1.2]]]) == -1.0
    assert target_of([[[5.0, -1.234]]]) == -1.2
    assert target_of([[[5.0, -0.1]]]) == -0.1


@given(st.floats(-1e12, 1e12).filter(lambda value: value == 0 or abs(value) > 1e-300))
def test_automatic_target_is_never_below_the_value_it_rounds(value):
    found = target_of([[[100 * abs(value), value]]])
    assert found >= value
    assert abs(found - value) <= 0.11 * abs(value)


def test_automatic_target_lies_below_every_start():
    # one run starts below where another ends: there it would be met before the first step
    assert target_of([[[8.0, 3.0], [2.0, 1.0]]]) == 1.0


@pytest.mark.parametrize("at_once", [1, 40, 10**6])
def test_a_band_of_many_curves_is_that_of_each_curve_by_itself_however_few_are_in_memory(
    at_once, monkeypatch
):
    rng = np.random.default_rng(4)
    curves = []
    for points in (1, 0, 7, 30, 12, 30, 5):
        steps = np.cumsum(rng.integers(0, 3, points)) * 1.0
        values = np.where(rng.random(points) < 0.1, np.nan, rng.lognormal(0, 1, points))
        curves.append(Curve(steps, np.cumsum(rng.random(points)), 2 * steps, values))
    monkeypatch.setattr(bands, "MOST_VALUES", at_once)
    measured = [curve for curve in curves if len(curve.values)]
    for axis in AXES:
        found = band(stacked(curves), axis, coverage=0.6)
        each = np.sort([value_at(curve, axis, found.grid) for curve in measured], axis=0)
        assert found.count == 6
        np.testing.assert_array_equal(found.median, (each[2] + each[3]) / 2)
        np.testing.assert_array_equal(found.low, each[1])
        np.testing.assert_array_equal(found.high, each[4])


def test_the_best_point_of_very_many_curves_is_looked_for_at_a_bounded_number_of_positions(monkeypatch):
    rng = np.random.default_rng(5)
    steps = np.arange(50.0)
    curves = [
        Curve(steps, np.cumsum(rng.random(50)), steps, np.exp(-steps / 9) * rng.lognormal(0, 1, 50))
        for _ in range(40)
    ]
    around = band(stacked(curves), "seconds", points=10)
    whole = median_line(stacked(curves), "seconds", around)
    monkeypatch.setattr(bands, "MOST_VALUES", 1)
    monkeypatch.setattr(bands, "FEWEST_POSITIONS", 3)
    looked = []
    real = bands._values_at
    monkeypatch.setattr(bands, "_values_at", lambda *each: looked.append(len(each[2])) or real(*each))
    few = median_line(stacked(curves), "seconds", around)
    assert sum(looked) == 3
    assert min(whole[1]) <= min(few[1])
    assert (few[0][0], few[0][-1]) == (around.grid[0], around.grid[-1])
