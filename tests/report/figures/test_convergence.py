from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchfw.analysis.bands import band, median_line
from benchfw.analysis.convergence import AXES, Curve
from benchfw.analysis.stacks import Stack
from benchfw.records import Status
from benchfw.report.figures import build_figures, convergence
from benchfw.summary.histories import Reader
from benchfw.summary.lines import MOST_STOPS, find_stop
from benchfw.summary.summarize import summarize


def noisy_curves(seed: int, repetitions: int, points: int) -> list[Curve]:
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(repetitions):
        steps = np.cumsum(rng.integers(1, 4, points)) - 1.0
        seconds = np.cumsum(rng.lognormal(0, 1, points))
        found.append(Curve(steps, seconds, 3 * steps, rng.lognormal(0, 2, points)))
    return found


@settings(max_examples=20)
@given(seed=st.integers(0, 999), repetitions=st.integers(1, 3), points=st.integers(1, 250))
def test_first_last_and_best_point_of_the_median_are_always_drawn(seed, repetitions, points):
    curves = noisy_curves(seed, repetitions, points)
    for axis in AXES:
        stack = Stack.join([Stack.of_blocks(each.block, [(0, *each.shape)]) for each in curves])
        thinned = band(stack, axis)
        places, values = median_line(stack, axis, thinned)
        # at every measured point, one by one
        start, end = thinned.grid[0], thinned.grid[-1]
        measured = sorted({x for curve in curves for x in curve.along(axis) if start <= x <= end})
        seen = [
            np.median([_last_seen(curve.along(axis), curve.values, place) for curve in curves])
            for place in measured
        ]
        assert (places[0], places[-1]) == (start, end)
        assert min(values) == min(seen)
        assert values[-1] == seen[-1]
        assert np.all(np.diff(places) > 0)
        assert len(places) <= 103


def _last_seen(places, values, place):
    before = values[places <= place]
    return before[-1] if len(before) else math.inf


@pytest.mark.parametrize("status", [Status.DIVERGED, Status.TIMEOUT, Status.FAILED, Status.CRASHED])
def test_a_trial_that_broke_off_is_a_cross_in_every_view(make, run, status):
    whole = make.curve("gap", np.geomspace(1, 1e-3, 300))
    cut = make.curve("gap", [1.0, 0.9, 1e9, math.nan])
    results = [make.result("optimizer", "p", "gd", r, whole) for r in range(19)]
    results.append(make.result("optimizer", "p", "gd", 19, cut, status=status, reason="gone"))
    (figure,) = [each for each in build_figures(summarize(run, results)) if "gap" in each.title]
    assert "cross" in figure.how_to_read
    for view, position in zip(figure.views, (30.0, 3.0, 3), strict=True):
        (cross,) = [trace for trace in view.data if trace["meta"]["part"] == "stop"]
        assert cross["x"] == [position]
        assert cross["y"][0] == pytest.approx(10 ** view.layout["yaxis"]["range"][1], rel=1e-5)  # at the top
        assert f"{status.value} (repetition 19): gone; 1e+09" in cross["text"][0]


def test_methods_that_share_a_start_are_drawn_from_one_point_on_every_axis(make, run):
    values = [1.0, 0.5, 0.25, 0.1]
    results = [
        make.result("optimizer", "p", name, r, make.curve("gap", values, seconds=pace, cost=price))
        for name, pace, price in (("sgd", 0.01, 1.0), ("gd", 1.0, 1000.0))
        for r in range(2)
    ]
    (figure, *_) = build_figures(summarize(run, results))
    for view, first in zip(figure.views, ((1, 1000), (10, 1000), (1, 1)), strict=True):
        lines = [trace for trace in view.data if trace["meta"]["part"] in {"line", "band"}]
        starts = {next((x, y) for x, y in zip(line["x"], line["y"], strict=True) if x) for line in lines}
        assert starts == {(round(0.7 * min(first), 6), 1.0)}
        for line, step in zip((each for each in lines if each["meta"]["part"] == "line"), first, strict=True):
            assert (line["x"][0], line["y"][0]) == (0.0, 1.0)  # for an axis that has a 0
            points = list(zip(line["x"], line["y"], strict=True))
            assert points[2:4] == [(step, 1.0), (step, 0.5)]


def test_gaps_that_are_rounding_are_drawn_at_a_floor_which_the_caption_names(make, run):
    def drawn(metric, *values):
        results = [make.result("optimizer", "p", "gd", 0, make.curve(metric, values))]
        figure = build_figures(summarize(run, results))[0]
        (line,) = (trace for trace in figure.views[0].data if trace["meta"]["part"] == "line")
        return figure, min(line["y"])

    figure, least = drawn("gap", 100.0, 1.0, 1e-33, 0.0)
    assert least == pytest.approx(100 * 2.2e-16, rel=0.02)
    assert 10 ** figure.views[0].layout["yaxis"]["range"][0] > 1e-15
    assert "Values below 2e-14 are drawn there" in figure.how_to_read
    figure, least = drawn("gap", 100.0, 1.0, 1e-6)
    assert least == 1e-6
    assert "drawn there" not in figure.how_to_read
    assert drawn("distance", 100.0, 1.0, 1e-33)[1] == 1e-33  # its size is known to any power


def test_a_trial_that_broke_before_its_first_step_is_a_cross_at_the_edge(make, run):
    results = [make.result("optimizer", "p", "gd", 0, make.curve("gap", [1.0, 0.5]))]
    cut = make.curve("gap", [1.0])
    results.append(make.result("optimizer", "p", "bad", 0, cut, status=Status.FAILED, reason="gone"))
    (figure, *_) = build_figures(summarize(run, results))
    (view,) = [each for each in figure.views if each.axis == "iterations"]
    (cross,) = [trace for trace in view.data if trace["meta"]["part"] == "stop"]
    assert cross["x"] == [0.7]


def test_a_trial_that_ended_well_has_no_stop(make):
    result = make.result("optimizer", "p", "gd", 0, make.curve("gap", [1.0]))
    assert find_stop(Reader().read(result), noisy_curves(0, 1, 5)[0]) is None


def test_many_trials_that_broke_are_a_bounded_number_of_crosses_and_the_figure_says_so(make, run):
    cut = make.curve("gap", [1.0, 0.9])
    results = [
        make.result("optimizer", "p", "gd", r, cut, status=Status.FAILED) for r in range(MOST_STOPS + 1)
    ]
    results.append(make.result("optimizer", "p", "gd", MOST_STOPS + 1, cut))
    for shown, said in ((results[1:], False), (results, True)):
        (figure, *_) = build_figures(summarize(run, shown))
        (cross,) = [trace for trace in figure.views[0].data if trace["meta"]["part"] == "stop"]
        assert len(cross["x"]) == MOST_STOPS
        assert (f"At most {MOST_STOPS} crosses a method" in figure.how_to_read) is said


def test_lines_of_a_page_with_very_many_have_fewer_points_and_their_best_one(make, run, monkeypatch):
    values = np.geomspace(1, 1e-3, 80)
    values[50] = 1e-5
    results = [make.result("optimizer", "p", "gd", r, make.curve("gap", values)) for r in range(3)]
    monkeypatch.setattr(convergence, "MOST_POINTS", 3 * 30)
    (figure, *_) = build_figures(summarize(run, results))
    assert figure.views
    for view in figure.views:
        around, line = view.data[:2]
        assert len(line["x"]) in (30, 30 + 1, 30 + 2, 30 + 3)  # with the best, and two at the edge
        assert len(around["x"]) <= 2 * (30 + 2)
        assert min(line["y"]) == 1e-5
        assert line["y"][-1] == 1e-3


def test_lines_of_sixty_methods_are_all_told_apart(make, run):
    results = [
        make.result("optimizer", "p", f"m{i}", r, make.curve("gap", [9, 5, 1 + i]))
        for i in range(60)
        for r in range(2)
    ]
    (figure, *_) = build_figures(summarize(run, results))
    lines = [trace for trace in figure.views[0].data if trace["meta"]["part"] == "line"]
    marks = ["markers" in trace["mode"] and trace["marker"]["symbol"] for trace in lines]
    looks = {
        (each["line"]["color"], each["line"]["dash"], mark) for each, mark in zip(lines, marks, strict=True)
    }
    assert len(lines) == len(looks) == 60


def test_a_method_has_one_colour_in_every_figure_of_its_kind(realistic, run):
    results = realistic()
    colours: dict[str, set[str]] = {}
    for figure in build_figures(summarize(run, results)):
        kind = (
            "estimator" if any(word in figure.title for word in ("variance", "bias", "mse")) else "optimizer"
        )
        for view in figure.views:
            for trace in view.data:
                if "," not in trace["name"]:
                    colours.setdefault((kind, trace["name"]), set()).add(trace["marker"]["color"])
    assert len(colours) == 8 + 6
    assert {len(found) for found in colours.values()} == {1}
