from __future__ import annotations

import pytest
from fixtures.scenes import estimator

from benchfw.records import Cell
from benchfw.report.figures import build_figures
from benchfw.report.figures.chosen import headline_figure, headline_first
from benchfw.report.figures.drawing import draw_view
from benchfw.report.figures.overlay import overlay_figures
from benchfw.report.figures.plot import styles_of
from benchfw.summary.summarize import summarize

NEVER = 0.0


@pytest.fixture
def headline(make, run):
    """Return the first figure of methods by problem, from their costs to the target."""

    def draw(costs):
        results = [
            make.result(
                "optimizer", problem, method, repetition,
                make.curve("gap", [9, 0.5 if cost else 8], cost=cost + 1 + repetition / 10),
                target={"gap": 1},
            )
            for problem, methods in costs.items()
            for method, cost in methods.items()
            for repetition in range(6)
        ]  # fmt: skip
        summary = summarize(run, results)
        return headline_figure(summary, build_figures(summary))

    return draw


def test_the_dots_of_all_problems_have_one_reference_which_title_and_axis_name(headline):
    figure = headline({name: {"gd": 8.0, "sgd": 4.0} for name in ("p", "q")})
    assert figure.title == "All problems: gradients to target, relative to gd"
    (view,) = figure.views
    assert view.layout["xaxis"]["title"]["text"].startswith("gradients, compared with<br>gd")
    assert view.layout["yaxis"]["ticktext"] == ["p", "q"]
    assert "No dot" not in figure.how_to_read


def test_a_problem_whose_reference_never_arrives_names_its_own_and_the_words_say_why(headline):
    figure = headline(
        {"p": {"gd": 8.0, "sgd": 4.0, "adam": 5.0}, "q": {"gd": NEVER, "sgd": 4.0, "adam": 5.0}}
    )
    assert figure.title.endswith("relative to the reference (in brackets)")
    assert figure.views[0].layout["yaxis"]["ticktext"] == ["p (gd)", "q (sgd)"]
    assert "The reference is gd, or, where that never reaches the target, the first" in figure.how_to_read


def test_the_ticks_speak_as_the_findings_do(headline):
    figure = headline({name: {"gd": 8.0, "sgd": 2.0, "adam": 40.0} for name in ("p", "q")})
    axis = figure.views[0].layout["xaxis"]
    assert dict(zip(axis["tickvals"], axis["ticktext"], strict=True)) == {
        0.5: "2× fewer",
        1.0: "equal",
        2.0: "2× more",
        5.0: "5× more",
    }


def test_the_dot_of_an_interval_without_an_end_is_hollow(headline):
    figure = headline(
        {"p": {"gd": 8.0, "sgd": 4.0, "adam": NEVER}, "q": {"gd": 8.0, "sgd": 4.0, "adam": 5.0}}
    )
    dots = [
        each for each in figure.views[0].data if each["meta"]["part"] == "line" and each["name"] == "adam"
    ]
    hollow = {each["marker"]["symbol"].endswith("-open"): each["y"] for each in dots}
    assert [len(each) for each in hollow.values()] == [1, 1]
    assert hollow[True] < hollow[False]  # on p, which is above q
    assert [each["showlegend"] for each in dots] == [True, False]
    assert "is hollow" in figure.how_to_read


def test_methods_without_a_dot_are_named_with_the_reason(headline):
    arriving = {"gd": 8.0, "sgd": 4.0, "adam": 5.0}
    figure = headline(
        {"p": arriving, "q": {**arriving, "gd": NEVER, "adam": NEVER}, "r": dict.fromkeys(arriving, NEVER)}
    )
    assert (
        "No dot: adam on q; sgd and adam on r (neither they nor the reference reach the target)."
        in figure.how_to_read
    )


def test_problems_with_other_methods_are_named_as_left_out(headline):
    same = {"gd": 8.0, "sgd": 4.0}
    figure = headline({"p": same, "q": same, "r": {"adam": 3.0, "adagrad": 2.0}})
    assert "Left out: r, with other methods than the other problems." in figure.how_to_read


def test_no_two_of_many_methods_look_alike_as_lines_or_as_dots():
    cells = [
        Cell("p", "optimizer", f"{family} {number}", backend)
        for family in range(8) for number in range(3) for backend in ("numpy", "cupy")
    ]  # fmt: skip
    for families in (None, {cell: cell.method[0] for cell in cells}):
        styles = styles_of(cells, families).values()
        assert len({(each.hue, each.symbol) for each in styles}) == len(cells)
        assert len({(each.hue, each.dash, each.marked and each.symbol) for each in styles}) == len(cells)


def test_a_paper_has_the_problems_beside_the_axis_and_a_line_where_methods_are_equal(headline):
    drawing = pytest.importorskip("matplotlib.figure")
    axes = drawing.Figure().add_subplot()
    figure = headline({name: {"gd": 8.0, "sgd": 4.0, "adam": NEVER} for name in ("p", "q")})
    draw_view(axes, figure.views[0])
    assert [each.get_text() for each in axes.get_yticklabels()] == ["p", "q"]
    assert "equal" in {each.get_text() for each in axes.get_xticklabels()}
    assert axes.get_ylim() == (1.5, -0.5)
    across = {tuple(line.get_xdata()) for line in axes.lines if len(line.get_xdata()) == 2}
    between = {tuple(line.get_ydata()) for line in axes.lines if len(line.get_ydata()) == 2}
    assert (1, 1) in across
    assert (0.5, 0.5) in between


def test_the_dot_of_a_bound_is_hollow_in_a_paper_too(headline):
    drawing = pytest.importorskip("matplotlib.figure")
    figure = headline({name: {"gd": 8.0, "sgd": 4.0, "adam": NEVER} for name in ("p", "q")})
    symbols = {each["marker"]["symbol"] for each in figure.views[0].data}
    assert any(each.endswith("-open") for each in symbols)
    axes = drawing.Figure().add_subplot()
    draw_view(axes, figure.views[0])
    dots = [line for line in axes.lines if line.get_marker() in "sDoP^*X"]
    assert {line.get_markerfacecolor() == "none" for line in dots} == {True, False}
    assert {line.get_marker() for line in dots} <= set("sDoP^*X")


def test_no_figure_comes_twice_where_the_first_one_shows_another_view_first(make, run):
    results = [*estimator(make, "a", 1.0), *estimator(make, "b", 3.0)]
    summary = summarize(run, results)
    figures = build_figures(summary)
    assert headline_figure(summary, figures) not in figures
    ordered = headline_first(summary, figures)
    assert sorted(each.title for each in ordered) == sorted(each.title for each in figures)
    assert headline_first(summary, []) == []


def test_an_earlier_run_is_laid_below_hollow_whether_its_dots_were_hollow_or_not(headline):
    figure = headline({name: {"gd": 8.0, "sgd": 4.0, "adam": NEVER} for name in ("p", "q")})
    (laid,) = overlay_figures([figure], [figure], "run 1")
    ghosts = [each for each in laid.views[0].data if each["name"].endswith("(run 1)")]
    assert {each["marker"]["symbol"].count("-open") for each in ghosts} == {1}


def test_what_is_said_of_variances_speaks_of_the_view_that_comes_first(realistic, run):
    results = realistic(problems=["least-squares"], optimizers=0, estimators=3, repetitions=3)
    summary = summarize(run, results)
    figure = headline_figure(summary, build_figures(summary))
    assert figure.views[0].label == "against cost"
    assert "Against cost, lower is a smaller variance and further left a cheaper draw." in figure.how_to_read
    assert "By method, further left is better." in figure.how_to_read
