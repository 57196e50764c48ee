from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.report.figures import build_figures
from benchfw.report.figures.critical_difference import rank_methods
from benchfw.summary.summarize import summarize

inf = math.inf


def test_ranks_are_those_of_the_published_example():
    # Demšar 2006, table 6: areas under the curve of C4.5 and three variants on 14 data sets
    plain = [0.763, 0.599, 0.954, 0.628, 0.882, 0.936, 0.661, 0.583, 0.775, 1, 0.94, 0.619, 0.972, 0.957]
    leaf = [0.768, 0.591, 0.971, 0.661, 0.888, 0.931, 0.668, 0.583, 0.838, 1, 0.962, 0.666, 0.981, 0.978]
    prune = [0.771, 0.590, 0.968, 0.654, 0.886, 0.916, 0.609, 0.563, 0.866, 1, 0.965, 0.614, 0.9751, 0.946]
    both = [0.798, 0.569, 0.967, 0.657, 0.898, 0.931, 0.685, 0.625, 0.875, 1, 0.962, 0.669, 0.975, 0.970]
    found = rank_methods(-np.array([plain, leaf, prune, both]).T)
    np.testing.assert_allclose(found.means, [3.143, 2.000, 2.893, 1.964], atol=6e-4)
    # 2.569 sqrt(4 x 5 / (6 x 14)) = 1.25, and the chi-square statistic is 9.28
    assert found.difference == pytest.approx(1.25, abs=0.005)
    assert found.alike < 0.05


def test_all_that_never_arrive_share_the_last_ranks():
    assert rank_methods(np.array([[1, inf, inf]] * 5)).means.tolist() == [1, 2.5, 2.5]


@pytest.mark.parametrize("values", [np.ones((5, 3)), np.array([[1.0, 2.0]] * 5)], ids=["tied", "two methods"])
def test_friedmans_test_says_nothing_of_ties_alone_or_of_two_methods(values):
    assert math.isnan(rank_methods(values).alike)


@pytest.fixture
def draw(make, run):
    """Return the figure of ranks of methods with these seconds to the target, a number a problem."""

    def find(seconds):
        results = [
            make.result(
                "optimizer", f"p{number}", method, repetition,
                make.curve("gap", [9.0, 0.5], seconds=each), target={"gap": 1.0},
            )
            for method, times in seconds.items()
            for number, each in enumerate(times)
            for repetition in range(3)
        ]  # fmt: skip
        found = build_figures(summarize(run, results))
        return next((each for each in found if each.title == "All problems: average ranks"), None)

    return find


def bars(view):
    """Return from which rank to which each bar goes."""
    return [trace["x"] for trace in view.data if trace["meta"].get("part") == "bar"]


def test_a_bar_lies_over_methods_whose_ranks_are_closer_than_the_critical_difference(draw):
    # that of four methods on six problems is 1.91
    figure = draw({"a": [1.0] * 6, "c": [3.0] * 6, "d": [4.0] * 6, "b": [2.0] * 6})
    time = figure.views[0]
    assert time.layout["yaxis"]["ticktext"] == ["a", "b", "c", "d"]
    assert [trace["x"] for trace in time.data[:4]] == [[1], [2], [3], [4]]
    assert sorted(bars(time)) == [[1, 2], [2, 3], [3, 4]]
    assert "Friedman's p-value: 4.4\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁻⁴ in time" in figure.how_to_read
    height = {trace["y"][0] for trace in time.data if trace["meta"].get("part") == "bar"}
    assert len(height) == 3  # and none lies on a row
    assert max(height) < -0.5


def test_a_group_that_lies_within_another_has_no_bar_of_its_own(draw):
    figure = draw({"a": [1, 3, 2, 1, 3], "b": [2, 1, 3, 2, 1], "c": [3, 2, 1, 3, 2]})
    assert bars(figure.views[0]) == [[1.8, 2.2]]


def test_of_fewer_than_five_problems_no_ranks_are_drawn(draw):
    assert draw({"a": [1.0] * 4, "b": [2.0] * 4, "c": [3.0] * 4}) is None


def test_a_method_that_was_not_run_on_every_problem_is_not_ranked(draw):
    figure = draw({"a": [1.0] * 5, "b": [2.0] * 5, "c": [3.0] * 4})
    assert figure.views[0].layout["yaxis"]["ticktext"] == ["a", "b"]
    assert "Friedman" not in figure.how_to_read
