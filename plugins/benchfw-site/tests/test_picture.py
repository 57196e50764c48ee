"""The picture of a run is a small drawing without scripts that names its methods."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from benchfw.report.figures import build_figures
from benchfw.report.figures.chosen import find_headline
from benchfw.summary.summarize import summarize
from benchfw_site.exhibits import choose_slug, first_sentence
from benchfw_site.picture import GREY, MOST_NAMES, draw_picture

EVIL = """</svg><script>alert(1)</script>" onload="alert(2)"""


def summary_of(make, run, name):
    results = [
        make.result("optimizer", name, name, r, make.curve("gap", [9, 5, 1]), target={"gap": 5.0})
        for r in range(3)
    ]
    return summarize(run, results)


def texts(drawn):
    return [part.text for part in ET.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]


def test_curves_have_their_names_below(make, run):
    figure, view = find_headline(summary_of(make, run, "gd"))
    assert {"gd", "gap", "gradients"} <= set(texts(draw_picture(view, figure.alt, GREY, 400)))


def test_dots_have_their_names_beside(make, run):
    figure = build_figures(summary_of(make, run, "gd"))[-1]
    assert "gd" in texts(draw_picture(figure.views[0], figure.alt, GREY, 400))


@pytest.mark.parametrize("number", [0, -1], ids=["curves", "dots"])
def test_a_name_cannot_become_markup(make, run, number):
    figure = build_figures(summary_of(make, run, EVIL))[number]
    drawn = draw_picture(figure.views[0], figure.alt, GREY, 400)
    tags = {part.tag.rpartition("}")[2] for part in ET.fromstring(drawn).iter()}
    assert tags <= {"svg", "g", "path", "text", "defs", "use", "clipPath", "rect"}
    assert not any("onload" in part.attrib for part in ET.fromstring(drawn).iter())


@pytest.mark.parametrize("number", [0, -1], ids=["curves", "dots"])
def test_of_many_names_the_first_are_shown_and_how_many_more_there_are(make, run, number):
    results = [
        make.result("optimizer", "p", f"m{each}", r, make.curve("gap", [9, 5, 1]), target={"gap": 5.0})
        for each in range(20)
        for r in range(3)
    ]
    figure = build_figures(summarize(run, results))[number]
    shown = texts(draw_picture(figure.views[0], figure.alt, GREY, 400))
    names = [each for each in shown if each[:1] == "m" and each[1:].isdigit()]
    assert names == [f"m{each}" for each in range(len(names))]
    assert len(names) == (MOST_NAMES - 1 if number == 0 else MOST_NAMES)
    assert any(f"and {20 - len(names)} more" in each for each in shown)


def test_the_first_sentence_ends_where_a_sentence_does_and_not_in_a_number():
    assert first_sentence("a takes 1.5 [1.2, 1.9] s. b takes 2.") == "a takes 1.5 [1.2, 1.9] s."
    assert first_sentence("Nothing more.") == "Nothing more."


def test_names_of_files_are_plain_and_not_used_twice():
    taken = set()
    assert choose_slug("../..//x/<b>", taken) == "x-b"
    assert choose_slug("X b", taken) == "x-b-2"
    assert choose_slug("…", taken) == "run"
