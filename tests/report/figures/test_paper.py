from __future__ import annotations

import sys
from xml.etree import ElementTree as ET

import pytest

from benchfw.errors import BenchfwError
from benchfw.report.figures import build_figures
from benchfw.report.figures.paper import write_figures
from benchfw.report.figures.plot import PALETTE
from benchfw.summary.summarize import summarize


@pytest.fixture
def figures(realistic, run):
    """Lines against three axes, and dots."""
    results = realistic(problems=("least-squares",), repetitions=2, last=300)
    lines, *_, dots = build_figures(summarize(run, results))
    return [lines, dots]


def test_every_view_is_a_file_in_the_colours_of_the_page(figures, tmp_path):
    pytest.importorskip("matplotlib")
    written = write_figures(figures, tmp_path, "svg")
    assert len(written) == sum(len(figure.views) for figure in figures)
    text = written[0].read_text(encoding="utf-8")
    assert all(colour in text for colour in PALETTE)
    names = {part.text for part in ET.fromstring(text).iter("{http://www.w3.org/2000/svg}text")}
    assert {"gd", "svrg", "gradients", "gap"} <= names


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_formats_are_what_they_say(figures, tmp_path, form, start):
    pytest.importorskip("matplotlib")
    (written, *_) = write_figures(figures[-1:], tmp_path, form)
    assert written.read_bytes().startswith(start)


def test_the_same_figures_give_the_same_file(figures, tmp_path):
    pytest.importorskip("matplotlib")
    (first, *_) = write_figures(figures[1:], tmp_path / "a", "svg")
    (second, *_) = write_figures(figures[1:], tmp_path / "b", "svg")
    assert first.read_bytes() == second.read_bytes()


def test_names_show_as_text(make, run, tmp_path):
    pytest.importorskip("matplotlib")
    name = r"<b>x</b> $\frac{1$ / ../y"
    results = [
        make.result("optimizer", name, name, r, make.curve("gap", [9, 5, 1]), target={"gap": 5.0})
        for r in range(2)
    ]
    written = write_figures(build_figures(summarize(run, results)), tmp_path, "svg")
    assert {path.parent for path in written} == {tmp_path}
    root = ET.fromstring(written[0].read_text(encoding="utf-8"))
    assert name in {part.text for part in root.iter("{http://www.w3.org/2000/svg}text")}


def test_without_matplotlib_one_line_says_how_to_get_it(figures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BenchfwError, match=r"needs matplotlib.*pip install 'benchfw\[paper\]'"):
        write_figures(figures, tmp_path, "pdf")
