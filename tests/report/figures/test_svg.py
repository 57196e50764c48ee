"""The figure below a notebook's cell: lines, bands, marks and bars without a script."""

import re
from xml.etree import ElementTree as ET

import pytest

from benchfw.report.figures.plot import MARKS, View
from benchfw.report.figures.svg import HEIGHT, WIDTH, Scale, draw_svg

LINE = {"type": "scatter", "mode": "lines", "name": "gd", "x": [0, 1, 10, 100], "y": [1, 0.1, None, 1e-4]}
AXES = {"xaxis": {"type": "log", "title": {"text": "cost &lt;1&gt;"}}, "yaxis": {"type": "log"}}


def draw(*traces, layout=AXES):
    drawn = draw_svg(
        View("", [{"line": {"color": "#d55e00"}, **each} for each in traces], layout), "A <title>"
    )
    return ET.fromstring(drawn)


def test_a_drawing_is_xml_whose_words_are_escaped_once():
    found = draw(LINE)
    assert found.get("aria-label") == "A <title>"
    assert "cost <1>" in [each.text for each in found.iter("text")]
    assert "10⁻³" in [each.text for each in found.iter("text")]


def test_lines_bands_marks_and_bars_are_drawn_in_their_colours():
    band = {"mode": "none", "x": [1, 10, 10, 1], "y": [1, 1, 2, 2], "fillcolor": "#d55e00", "opacity": 0.2}
    bars = {"visible": True, "array": [1.0, None], "arrayminus": [0.5, None]}
    marks = {"mode": "markers", "x": [1, 2], "y": [1.0, 2.0], "marker": {"symbol": "x"}, "error_y": bars}
    dots = {"mode": "lines+markers", "x": [1, 2], "y": [1.0, 2.0]}
    inside = draw(LINE, band, marks, dots).find("svg")
    filled = [each for each in inside if each.get("fill-opacity")]
    assert [(each.get("fill"), each.get("fill-opacity")) for each in filled] == [("#d55e00", "0.2")]
    assert filled[0] is inside[0]  # below the lines
    drawn = [each.get("d") for each in inside if each.get("transform")]
    assert [drawn.count(MARKS[symbol]) for symbol in ("x", "circle")] == [2, 2]
    assert len(re.findall("V", "".join(each.get("d", "") for each in inside if each.get("stroke")))) == 1
    assert {each.get("stroke") for each in inside if each.get("stroke")} == {"#d55e00"}


def test_hollow_marks_are_outlines_of_their_symbol():
    marks = {"mode": "markers", "x": [1], "y": [1.0], "marker": {"symbol": "square-open"}}
    (mark,) = [each for each in draw(marks).find("svg") if each.get("transform")]
    assert (mark.get("d"), mark.get("fill"), mark.get("stroke")) == (MARKS["square"], "none", "#d55e00")


def test_what_is_outside_of_the_drawing_has_a_place_that_any_browser_takes():
    inside = draw(LINE, layout={**AXES, "yaxis": {"type": "log", "range": [3, 4]}}).find("svg")
    numbers = [float(each) for each in re.findall(r"-?\d+\.?\d*", inside[0].get("d"))]
    assert max(map(abs, numbers)) <= 1e4


@pytest.mark.parametrize(
    ("scale", "labels"),
    [
        (Scale(-3, 0, True, 0, WIDTH), ["10⁻³", "10⁻²", "10⁻¹", "1"]),
        (
            Scale(-30, 0, True, 0, WIDTH),
            [f"10{each}" for each in ("⁻³⁰", "⁻²⁵", "⁻²⁰", "⁻¹⁵", "⁻¹⁰", "⁻⁵")] + ["1"],
        ),
        (Scale(-0.5, 0.8, True, 0, WIDTH), ["0.5", "1", "2", "5"]),
        (Scale(0, 10, False, 0, WIDTH), ["0", "2", "4", "6", "8", "10"]),
        (Scale(0.1, 0.4, True, HEIGHT, 0), ["1.5", "2", "2.5"]),
    ],
)
def test_an_axis_has_few_round_labels(scale, labels):
    assert [label for _, label in scale.ticks()] == labels


def test_rows_of_names_are_left_to_the_page():
    assert draw_svg(View("", [{**LINE, "y": ["a", "b", "c", "d"]}], AXES), "") == ""
    assert draw_svg(View("", [], AXES), "") == ""
