from __future__ import annotations

import math

import pytest

from benchfw.analysis.intervals import Interval
from benchfw.report.figures.open_ends import arrow_traces, find_edges
from benchfw.report.figures.plot import Style

STYLE = Style(0, "solid", "circle")
CLOSED = Interval(2.0, 1.0, 4.0, 5)


def arrows(intervals, **options):
    edges = find_edges(intervals, **options)
    traces = arrow_traces("gd", intervals, range(len(intervals)), edges, STYLE)
    return edges, {each["marker"]["symbol"]: (each["x"], each["y"]) for each in traces}


def test_intervals_that_fit_have_no_arrow():
    edges, found = arrows([CLOSED, Interval(3.0, 0.5, 9.0, 5)])
    assert found == {}
    assert edges.clip(CLOSED) == CLOSED


def test_an_interval_without_an_end_gets_an_arrow_at_the_edge():
    edges, found = arrows([CLOSED, Interval(3.0, 2.0, math.inf, 5), Interval(3.0, 0.0, 4.0, 5)])
    assert found == {
        "triangle-left": ([pytest.approx(edges.low, rel=1e-5)], [2.0]),
        "triangle-right": ([pytest.approx(edges.high, rel=1e-5)], [1.0]),
    }
    assert edges.low < 1.0
    assert edges.high > 4.0


def test_one_very_long_interval_does_not_squeeze_the_others():
    edges, found = arrows([CLOSED, Interval(2.0, 1e-9, 1e9, 5)])
    assert 0.1 < edges.low < edges.high < 40
    assert set(found) == {"triangle-left", "triangle-right"}


def test_an_unknown_upper_end_takes_a_small_share_of_the_axis_where_that_is_asked_for():
    edges, found = arrows([CLOSED, Interval(2.0, 1.0, math.inf, 5)], stub=0.1)
    ((end,), _) = found["triangle-right"]
    assert 2.0 < end < edges.high


def test_an_interval_that_says_nothing_has_neither_bar_nor_arrow():
    nothing = Interval(2.0, 0.0, math.inf, 5)
    edges, found = arrows([CLOSED, nothing])
    assert found == {}
    assert edges.clip(nothing) == nothing


def test_a_linear_axis_has_room_for_an_arrow_above_only():
    edges, found = arrows([Interval(1.0, -3.0, 2.0, 5), Interval(1.0, 0.5, math.inf, 5)], log=False)
    assert set(found) == {"triangle-right"}
    assert edges.high == pytest.approx(2.4)


def test_zeros_among_the_estimates_leave_the_edges_to_the_others():
    zero = Interval(0.0, 0.0, 0.0, 5)
    assert find_edges([zero, CLOSED]) == find_edges([CLOSED])
    assert find_edges([zero]).clip(zero) == zero
    assert find_edges([zero, CLOSED], log=False).high > CLOSED.high
