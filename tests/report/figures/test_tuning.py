"""Figures on tuning: lines that end where no choice arrives, dots for settings, categories for choices."""

import math

import pytest

from benchfw.report.figures import build_figures
from benchfw.report.figures.paper import Paper, choose_sheets, write_figures


def figures_of(summary):
    return {each.title: each for each in build_figures(summary)}


@pytest.fixture
def summary(tuned):
    narrow = lambda step, repetition: 100.0 + repetition if 0.05 < step < 0.3 else math.inf  # noqa: E731
    wide = lambda step, repetition: 500.0 + step + repetition  # noqa: E731
    return tuned({"wide": wide, "narrow": narrow}, {"wide": 500, "narrow": 100}, choices=("fast", "slow"))


def test_lines_of_the_allowance_leave_out_what_never_arrives_and_end_at_the_verdict(summary):
    view = figures_of(summary)["p: tuning allowance"].views[0]
    assert view.layout["xaxis"]["tickvals"] == [1, 2, 4, 8, 16]
    assert view.layout["xaxis"]["ticktext"][-1] == "16"
    parts = {(each["name"], each["meta"]["part"]): each for each in view.data}
    assert parts["wide", "line"]["x"] == [1, 2, 4, 8, 16]
    # with fewer, three settings of 16 are mostly not among them
    assert parts["narrow", "line"]["x"] == [4, 8, 16]
    assert parts["narrow", "verdict"]["x"] == [16]
    assert parts["narrow", "verdict"]["y"][0] == pytest.approx(105, abs=1)


def test_dots_of_the_sensitivity_are_settings_and_crosses_those_that_fail(summary):
    step, mode = figures_of(summary)["p: sensitivity"].views
    assert (step.label, step.layout["xaxis"]["type"]) == ("step", "log")
    parts = {(each["name"], each["meta"]["part"]): each for each in step.data}
    assert len(parts["wide", "dots"]["x"]) == 16
    assert parts["narrow", "dots"]["x"] == [0.07499, 0.1334, 0.2371]
    assert parts["narrow", "chosen"]["x"] == [0.07499]
    assert len(parts["narrow", "failed"]["x"]) == 13
    assert min(parts["narrow", "failed"]["y"]) > max(parts["wide", "dots"]["y"])
    assert mode.layout["xaxis"]["ticktext"] == ["fast", "slow"]
    assert all(-0.5 < x < 1.5 for each in mode.data for x in each["x"])


def test_settings_without_a_value_have_a_word_for_it_and_no_number(tuned):
    never = lambda step, repetition: math.inf  # noqa: E731
    figures = figures_of(tuned({"gd": never, "sgd": never}, {"gd": math.nan, "sgd": math.nan}))
    assert "p: tuning allowance" not in figures
    figure = figures["p: sensitivity"]
    (view,) = figure.views
    assert view.layout["yaxis"]["ticktext"] == ["never", "never"]
    heights = {y for each in view.data for y in each["y"]}
    assert heights == {*view.layout["yaxis"]["tickvals"]}
    assert [each["name"] for each in view.data if each["meta"]["part"] == "chosen"] == ["gd", "sgd"]
    assert "each cross is one that never reached the target" in figure.how_to_read


def test_they_are_drawn_for_a_paper_too(summary, tmp_path):
    pytest.importorskip("matplotlib")
    found = [each for each in build_figures(summary) if "tuning" in each.title or "sensitivity" in each.title]
    paper = Paper("svg")
    assert len(write_figures(choose_sheets(found, paper), tmp_path, paper)) == 3
