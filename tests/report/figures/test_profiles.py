from __future__ import annotations

from benchfw.report.figures import build_figures
from benchfw.summary.summarize import summarize


def solved(make, seconds: dict[str, list[float]]):
    """Trials of methods that reach 1 after so many seconds on each problem."""
    return [
        make.result(
            "optimizer", f"p{number}", method, repetition,
            make.curve("gap", [9.0, 0.5], seconds=each), target={"gap": 1.0},
        )
        for method, times in seconds.items()
        for number, each in enumerate(times)
        for repetition in range(3)
    ]  # fmt: skip


def test_the_profile_says_how_often_a_method_is_within_a_factor_of_the_best(make, run):
    results = solved(make, {"gd": [1.0, 1.0, 4.0], "sgd": [2.0, 2.0, 1.0]})
    figure = build_figures(summarize(run, results))[0]
    assert figure.title == "All problems: performance profile"
    lines = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in figure.views[0].data}
    assert lines == {
        "gd": {1.0: 2 / 3, 2.0: 2 / 3, 4.0: 1.0},
        "sgd": {1.0: 1 / 3, 2.0: 1.0, 4.0: 1.0},
    }


def test_targets_met_count_every_problem_and_repetition(make, run):
    results = solved(make, {"gd": [1.0, 1.0, 4.0], "sgd": [2.0, 2.0, 1.0]})
    figure = build_figures(summarize(run, results))[1]
    assert figure.title == "All problems: targets met"
    # every target lies between 9 and 0.5, and is met with the second answer
    lines = {trace["name"]: dict(zip(trace["x"], trace["y"], strict=True)) for trace in figure.views[0].data}
    assert lines["gd"] == {0.0: 0.0, 1.0: 2 / 3, 2.0: 2 / 3, 4.0: 1.0}
    assert lines["sgd"] == {0.0: 0.0, 1.0: 1 / 3, 2.0: 1.0, 4.0: 1.0}


def test_two_problems_have_no_profile(make, run):
    results = solved(make, {"gd": [1.0, 1.0], "sgd": [2.0, 2.0]})
    assert not [each for each in build_figures(summarize(run, results)) if "profile" in each.title]


def test_a_method_that_was_not_run_on_every_problem_is_left_out(make, run):
    results = solved(make, {"gd": [1.0] * 3, "sgd": [2.0] * 3, "adam": [3.0] * 2})
    figure = build_figures(summarize(run, results))[0]
    assert [trace["name"] for trace in figure.views[0].data] == ["gd", "sgd"]
    assert "ran on all problems" in figure.how_to_read
