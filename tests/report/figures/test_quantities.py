"""Figures of quantities: what their bars are, and what methods beside a sweep are called and look like."""

from __future__ import annotations

import pytest

from benchfw.report.figures import build_figures
from benchfw.summary.summarize import summarize


@pytest.fixture
def figures(make, run):
    """Return the figures of a sweep over four sizes with two methods that have one size each."""
    sizes = {f"sgd (size={size})": ("sgd", size, size) for size in (1, 4, 16, 64)}
    beside = {"svrg": ("svrg", 4, 9), "saga": ("saga", 4, 9)}
    results = [
        make.result(
            "optimizer", "p", label, r, make.curve("gap", [9, 5, 2, 1], cost=cost * (1 + 0.01 * r)),
            params={"size": size}, use=use, target={"gap": 2.0},
        )
        for label, (use, size, cost) in {**sizes, **beside}.items()
        for r in range(6)
    ]  # fmt: skip
    return {each.title: each for each in build_figures(summarize(run, results))}


def test_the_bars_of_what_runs_take_to_the_target_are_those_of_the_table(figures):
    for title in ("p: to the target", "p: against size"):
        said = figures[title].how_to_read
        assert "95 %" not in said
        assert "lowest" in said
        assert "highest run" in said


def test_methods_beside_a_sweep_have_their_own_names_and_do_not_hide_each_other(figures):
    figure = figures["p: against size"]
    marks = {each["name"]: each["marker"]["symbol"] for each in figure.views[0].data}
    assert list(marks) == ["sgd", "svrg", "saga"]
    assert [symbol.endswith("-open") for symbol in marks.values()] == [False, True, True]
    assert "for sgd, svrg, saga." in figure.alt
    assert "A hollow mark is a method with one value of it." in figure.how_to_read
