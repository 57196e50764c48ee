"""A drawing for a page: small XML in which nothing acts, whose words are text, for light and dark."""

from __future__ import annotations

import re
import sys
from xml.etree import ElementTree as ET

import pytest

from benchfw.report.figures.plot import PALETTE, View

pytest.importorskip("matplotlib")

from benchfw.errors import Unavailable
from benchfw.report.figures.drawing import INK, SCREEN, draw_for_screen

SVG = "{http://www.w3.org/2000/svg}"
LINE = {
    "type": "scatter", "mode": "lines", "name": "gd", "x": [0.001, 1, 10, 100], "y": [1, 0.1, None, 1e-4],
    "line": {"color": PALETTE[0]},
}  # fmt: skip
AXES = {"xaxis": {"type": "log", "title": {"text": "cost &lt;1&gt;"}}, "yaxis": {"type": "log"}}


def draw(*traces, layout=AXES, **options):
    return draw_for_screen(View("", list(traces), layout), "A <title>", **options)


def texts(drawing):
    return [part.text for part in ET.fromstring(drawing).iter(f"{SVG}text")]


def test_words_and_numbers_are_text_and_escaped_once():
    drawing = draw({**LINE, "name": "a &amp; b 0.001234"}, layout={**AXES, "xaxis": {**AXES["xaxis"]}})
    assert ET.fromstring(drawing).get("aria-label") == "A <title>"
    assert {"cost <1>", "a & b 0.001234", "10⁻³", "1", "10"} <= set(texts(drawing))


def test_numbers_of_a_short_logarithmic_axis_are_written_out():
    short = {**LINE, "x": [700, 9000], "y": [0.004, 0.04]}
    assert {"1,000", "2,000", "5,000", "0.005", "0.01"} <= set(texts(draw(short)))


def test_text_takes_the_colour_of_the_page_or_the_ink_and_lines_are_seen_on_both():
    for ink in ("currentColor", "#767676"):
        drawing = draw({**LINE, "name": f"{INK} {PALETTE[0]}"}, ink=ink)
        assert f"{INK} {PALETTE[0]}" in texts(drawing)
        styles = " ".join(part.get("style", "") for part in ET.fromstring(drawing).iter())
        assert f"fill: {ink}" in styles
        assert SCREEN[PALETTE[0]] in styles
        assert INK not in styles
    assert set(SCREEN) == set(PALETTE)


def test_a_drawing_is_the_same_each_time_and_has_names_that_no_other_one_has():
    other = {**LINE, "y": [2, 1, 1, 1]}
    assert draw(LINE) == draw(LINE)
    named = [set(re.findall(r' id="([^"]+)"', draw(each))) for each in (LINE, other)]
    assert all(named)
    assert not named[0] & named[1]


def test_a_drawing_has_no_date_no_style_for_the_page_around_it_and_nothing_that_acts():
    evil = "</text><script>$1$"
    drawing = draw({**LINE, "name": evil})
    assert evil in texts(drawing)
    tags = {part.tag.removeprefix(SVG) for part in ET.fromstring(drawing).iter()}
    assert tags <= {"svg", "g", "path", "text", "defs", "use", "clipPath", "rect"}


def test_rows_of_names_are_as_high_as_their_names_need():
    def height(names):
        dots = [
            {"type": "scatter", "mode": "markers", "x": [1.0], "y": [name], "marker": {"color": PALETTE[0]}}
            for name in names
        ]
        rows = {"yaxis": {"type": "category", "categoryarray": names}}
        drawing = draw(*dots, layout=rows)
        assert {line for name in names for line in name.split("<br>")} <= set(texts(drawing))
        return float(ET.fromstring(drawing).get("height"))

    assert height(["a"]) < height(["a", "b"]) < height(["a<br>c", "b"])


def test_without_matplotlib_a_drawing_names_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        Unavailable, match=r"matplotlib, which is not installed; pip install 'benchfw\[paper\]'"
    ):
        draw(LINE)
