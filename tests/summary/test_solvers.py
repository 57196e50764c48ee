"""Calls from scratch: what the summary and the page make of points that are calls of their own."""

from dataclasses import replace

import numpy as np
import pytest

from benchfw.analysis.convergence import Curve, value_at
from benchfw.analysis.stacks import Stack, place_arrivals
from benchfw.records import Ending, Status
from benchfw.report.figures import method_styles
from benchfw.report.figures.convergence import convergence_figures, points_a_line
from benchfw.summary.faults import FROM_SCRATCH
from benchfw.summary.summarize import summarize

EFFORTS = [0, 1, 2, 3, 4, 6, 9, 13, 19, 28, 42, 63, 52, 57, 60]  # 60 is the first that was seen to arrive


def called(make, repetition=0, **changes):
    """A trial of growing effort, then in between: seconds are 2 + effort, but one call was slow."""
    curve = make.curve("gap", [0.9**k for k in EFFORTS], seconds=1.0, cost=1.0, iterations=EFFORTS)
    curve = [
        each._replace(seconds=100.0 if each.iteration == 4 else 2.0 + each.iteration)
        if each.iteration
        else each
        for each in curve
    ]
    result = make.result("optimizer", "p", "m", repetition, curve, target={"gap": 0.9**58.5})
    ended = {"status": Status.REACHED, "ending": Ending.TARGET, "from_scratch": True, **changes}
    return replace(result, outcome=replace(result.outcome, **ended))


def test_a_target_is_met_between_the_last_effort_that_is_short_and_the_first_that_is_enough(make, run):
    summary = summarize(run, [called(make, each) for each in range(3)])
    (comparison,) = summary.comparisons
    (cell,) = comparison.cells
    for quantity, at in (("iterations_to_target", 59), ("cost_to_target", 59), ("seconds_to_target", 61)):
        found = comparison.row(cell, quantity).interval
        assert found.estimate == pytest.approx(at)
        assert at - 1.5 < found.low <= at <= found.high < at + 1.5
    # what was tried beyond is not where it ended
    assert comparison.row(cell, "gap").interval.estimate == 0.9**60


def test_a_reader_is_told_that_each_point_is_a_call_and_no_rate_is_read_from_efforts(make, run):
    summary = summarize(run, [called(make, each) for each in range(3)])
    (comparison,) = summary.comparisons
    assert FROM_SCRATCH in [each.text for each in summary.caveats]
    assert comparison.rates == ()
    figures = convergence_figures(comparison, method_styles(summary), points_a_line(summary))
    assert "Of m, each point is a call from scratch" in figures[0].how_to_read
    plain = summarize(run, [called(make, each, from_scratch=False) for each in range(3)])
    assert FROM_SCRATCH not in [each.text for each in plain.caveats]
    assert plain.comparisons[0].rates != ()
    figures = convergence_figures(plain.comparisons[0], method_styles(plain), points_a_line(plain))
    assert "call from scratch" not in figures[0].how_to_read


def test_the_value_at_a_time_is_that_of_the_greatest_effort_that_took_no_longer():
    curve = Curve([0, 1, 2, 3], [0.0, 5.0, 2.0, 3.0], [0, 1, 2, 3], [1.0, 0.5, 0.25, 0.125])
    found = value_at(curve, "seconds", np.array([0.0, 1.0, 2.0, 2.5, 3.0, 5.0]))
    assert found.tolist() == [1.0, 1.0, 0.25, 0.25, 0.125, 0.125]


def test_a_bracket_of_seconds_is_in_order_where_the_greater_effort_took_less_time():
    curve = Curve([0, 10, 20], [0.0, 5.0, 4.0], [0, 10, 20], [1.0, 0.5, 0.1])
    stack = Stack.of_blocks(curve.block, [(0, *curve.shape)])
    ((low,), (high,)) = place_arrivals([stack], [0.3], np.array([2])).brackets(curve.seconds)
    assert low < 4.0 < 4.9 < high
