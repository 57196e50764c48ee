from __future__ import annotations

import re
import sys
from xml.etree import ElementTree as ET

import pytest

from benchfw.errors import BenchfwError
from benchfw.report.figures import build_figures
from benchfw.report.figures.paper import Paper, choose_methods, choose_sheets, write_figures
from benchfw.report.figures.plot import PALETTE
from benchfw.report.latex import latex_captions
from benchfw.summary.summarize import summarize


@pytest.fixture
def summary(realistic, run):
    return summarize(run, realistic(problems=("least-squares",), repetitions=2, last=300))


@pytest.fixture
def figures(summary):
    """Lines against three axes, and dots."""
    lines, *_, dots = build_figures(summary)
    return [lines, dots]


def write(figures, folder, form="svg", **asked):
    pytest.importorskip("matplotlib")
    paper = Paper(form, **asked)
    return write_figures(choose_sheets(figures, paper), folder, paper)


def texts(path):
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    return {part.text for part in root.iter("{http://www.w3.org/2000/svg}text")}


def test_every_view_is_a_file_in_the_colours_of_the_page(figures, tmp_path):
    written = write(figures, tmp_path)
    assert len(written) == sum(len(figure.views) for figure in figures)
    text = written[0].read_text(encoding="utf-8")
    assert all(colour in text for colour in PALETTE)
    assert {"gd", "svrg", "gradients", "gap", "theorem"} <= texts(written[0])


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_formats_are_what_they_say(figures, tmp_path, form, start):
    (written, *_) = write(figures[-1:], tmp_path, form)
    assert written.read_bytes().startswith(start)


@pytest.mark.parametrize("form", ["svg", "pdf"])
def test_the_same_figures_give_the_same_file(figures, tmp_path, form):
    (first, *_) = write(figures[1:], tmp_path / "a", form)
    (second, *_) = write(figures[1:], tmp_path / "b", form)
    assert first.read_bytes() == second.read_bytes()


def test_a_figure_has_the_width_and_the_font_that_were_asked_for(figures, tmp_path):
    (written, *_) = write(figures[1:], tmp_path, width=3.25, font_size=8.0)
    text = written.read_text(encoding="utf-8")
    assert 'width="234pt"' in text  # 3.25 inches
    assert "8px" in text


def place_of(text):
    """Return where a text is: one of several lines is moved there."""
    moved = re.search(r"translate\((\S+) (\S+)\)", text.get("transform"))
    return tuple(map(float, moved.groups() if moved else (text.get("x"), text.get("y"))))


@pytest.mark.parametrize("width", [3.25, 5.5])
@pytest.mark.parametrize("panel", [False, True])
def test_the_legend_lies_below_the_axes_and_is_not_wider_than_the_file(make, run, tmp_path, width, panel):
    results = [
        make.result("optimizer", "p", f"method number {number} of several", r, make.curve("gap", [9, 5, 1]))
        for number in range(5)
        for r in range(2)
    ]
    figures = build_figures(summarize(run, results))[:1]
    (written, *_) = write(figures, tmp_path, panel=panel, width=width, x="cost")
    root = ET.fromstring(written.read_text(encoding="utf-8"))
    (legend,) = (part for part in root.iter() if part.get("id") == "legend_1")
    entries = list(legend.iter("{http://www.w3.org/2000/svg}text"))
    assert sum(each.text.startswith("method number") for each in entries) == 5
    across, down = zip(*map(place_of, entries), strict=True)
    (label,) = (part for part in root.iter() if part.text == "gradients")
    assert place_of(label)[1] < min(down) < max(down) < float(root.get("viewBox").split()[-1])
    assert 0 < min(across) <= max(across) < 72 * width - 80  # about what a name takes


def test_curves_are_drawn_against_the_axis_that_was_asked_for(figures, tmp_path):
    written = write(figures[:1], tmp_path, x="cost")
    assert [each.name for each in written] == ["01-least-squares-gap-gradients.svg"]


def test_only_the_methods_that_were_asked_for_are_drawn_in_their_own_colours(figures, summary, tmp_path):
    (drawn,) = write(choose_methods(figures[:1], summary, ["svrg"]), tmp_path, x="cost")
    assert "svrg" in texts(drawn)
    assert "gd" not in texts(drawn)
    (colour,) = {each["line"]["color"] for each in figures[0].views[0].data if each["name"] == "svrg"}
    assert colour in drawn.read_text(encoding="utf-8")
    with pytest.raises(BenchfwError, match="no method 'svgr' in the run; did you mean 'svrg'"):
        choose_methods(figures, summary, ["svgr"])


def test_a_panel_has_all_figures_lettered_in_one_file(figures, tmp_path):
    (panel,) = write(figures, tmp_path, panel=True)
    assert {"(a) gap"} <= texts(panel)
    assert any(each and each.startswith("(b)") for each in texts(panel))
    with pytest.raises(BenchfwError, match="a panel has 1 to 26 figures, this run has 0; leave out --panel"):
        write([], tmp_path, panel=True)


def test_a_figure_that_is_too_narrow_for_its_labels_is_one_sentence(figures, tmp_path):
    with pytest.raises(BenchfwError, match="the labels leave no room for the axes of a figure; use a larger"):
        write(figures[1:], tmp_path, width=1.0, font_size=30.0)


def test_a_caption_is_what_is_shown_where_it_was_run_and_what_lines_and_bands_are(figures, summary, run):
    sheets = choose_sheets(figures, Paper("svg", x="cost"))
    text = latex_captions(sheets, summary, run)
    what = "% 01-least-squares-gap-gradients.svg\n\\caption{least-squares: gap against gradients; "
    assert f"{what}suite {run.suite}, {run.started[:10]}, Example 3000, 2 cores. Lines are medians" in text
    assert "medians over 2 repetitions; bands hold all of them; thin dotted lines are what theorems" in text
    assert "2 cores. Each dot is one method, its bar the 95 \\% interval over repetitions." in text
    panel = latex_captions(choose_sheets(figures, Paper("svg", panel=True)), summary, run)
    assert "% panel.svg (b)\n" in panel


def test_names_show_as_text(make, run, tmp_path):
    name = r"<b>x</b> $\frac{1$ / ../y"
    results = [
        make.result("optimizer", name, name, r, make.curve("gap", [9, 5, 1]), target={"gap": 5.0})
        for r in range(2)
    ]
    written = write(build_figures(summarize(run, results)), tmp_path)
    assert {path.parent for path in written} == {tmp_path}
    assert name in texts(written[0])


def test_without_matplotlib_one_line_says_how_to_get_it(figures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    paper = Paper("pdf")
    with pytest.raises(BenchfwError, match=r"need matplotlib.*; pip install 'benchfw\[paper\]'"):
        write_figures(choose_sheets(figures, paper), tmp_path, paper)
