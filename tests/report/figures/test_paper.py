from __future__ import annotations

import math
import re
import sys
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from benchfw.errors import BenchfwError
from benchfw.records import Record
from benchfw.report.figures import build_figures
from benchfw.report.figures.paper import Paper, choose_methods, choose_sheets, describe_sheets, write_figures
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


def write(figures, summary, folder, form="svg", **paper):
    pytest.importorskip("matplotlib")
    chosen = Paper(**paper)
    return list(write_figures(choose_sheets(figures, chosen), folder, form, chosen))


def texts(path):
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    return {part.text for part in root.iter("{http://www.w3.org/2000/svg}text")}


def test_every_view_is_a_file_in_the_colours_of_the_page(figures, summary, tmp_path):
    written = write(figures, summary, tmp_path, legend="inside")
    assert len(written) == sum(len(figure.views) for figure in figures)
    text = written[0].read_text(encoding="utf-8")
    assert all(colour in text for colour in PALETTE)
    assert {"gd", "svrg", "gradients", "gap"} <= texts(written[0])


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_other_formats_are_what_they_say(figures, summary, tmp_path, form, start):
    (written, *_) = write(figures[-1:], summary, tmp_path, form)
    assert written.read_bytes().startswith(start)


def test_the_same_figures_give_the_same_file(figures, summary, tmp_path):
    (first, *_) = write(figures[1:], summary, tmp_path / "a")
    (second, *_) = write(figures[1:], summary, tmp_path / "b")
    assert first.read_bytes() == second.read_bytes()


def test_a_figure_has_the_width_and_the_font_that_were_asked_for(figures, summary, tmp_path):
    (written, *_) = write(figures[1:], summary, tmp_path, width=3.25, font_size=8.0)
    text = written.read_text(encoding="utf-8")
    assert 'width="234pt"' in text  # 3.25 inches
    assert "8px" in text


def boxes_of(path):
    """Return the width and height of the axes box: matplotlib's white patch behind a drawing."""
    root = ET.fromstring(path.read_text(encoding="utf-8"))
    (patch,) = (part for part in root.iter() if part.get("id") == "patch_2")
    numbers = [float(each) for each in re.findall(r"-?[\d.]+", patch[0].get("d"))]
    return [round(max(side) - min(side), 3) for side in (numbers[::2], numbers[1::2])]


def test_the_axes_boxes_of_all_curves_have_one_size(figures, summary, tmp_path):
    gap, *_ = figures
    wide = replace(gap.views[0], layout={**gap.views[0].layout, "yaxis": {"title": {"text": "a<br>b"}}})
    other = replace(gap, title="least-squares: other", views=(wide,))
    first, second = write([gap, other], summary, tmp_path, x="cost", legend="none")
    assert boxes_of(first) == boxes_of(second)


def test_the_legend_can_be_a_file_of_its_own(figures, summary, tmp_path):
    *drawn, legend = write(figures[:1], summary, tmp_path, x="cost", legend="file")
    assert legend.name == "legend.svg"
    assert "gd" in texts(legend)
    assert "gd" not in texts(drawn[0])


def curves(make, run, *ends):
    """Return the first figure of methods that fall to these ends, straight on logarithmic axes."""
    places = [10 ** (each / 10) for each in range(31)]
    results = [
        make.result(
            "optimizer", "p", f"method number {number} of several", r,
            [Record("gap", round(at), at, at, at ** (math.log10(end) / 3)) for at in places],
        )
        for number, end in enumerate(ends)
        for r in range(2)
    ]  # fmt: skip
    return build_figures(summarize(run, results))[:1]


def test_a_legend_that_would_hide_a_curve_is_a_file_of_its_own(make, run, tmp_path):
    asked = {"x": "cost", "width": 3.25, "font_size": 8.0}
    diagonal = write(curves(make, run, 1e-5), None, tmp_path / "a", **asked)
    assert [each.name for each in diagonal] == ["01-p-gap-gradients.svg"]
    everywhere = curves(make, run, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
    assert write(everywhere, None, tmp_path / "b", **asked)[-1].name == "legend.svg"
    assert len(write(everywhere, None, tmp_path / "c", legend="inside", **asked)) == 1


@pytest.mark.parametrize("width", [3.25, 5.5])
def test_the_legend_of_a_panel_lies_inside_it(make, run, tmp_path, width):
    (panel,) = write(curves(make, run, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5), None, tmp_path, panel=True, width=width)
    root = ET.fromstring(panel.read_text(encoding="utf-8"))
    (legend,) = (part for part in root.iter() if part.get("id") == "legend_1")
    across = [float(part.get("x")) for part in legend.iter("{http://www.w3.org/2000/svg}text")]
    assert min(across) > 0
    assert max(across) + 80 < 72 * width  # about what a name takes


def test_curves_are_drawn_against_the_axis_that_was_asked_for(figures, summary, tmp_path):
    written = write(figures[:1], summary, tmp_path, x="cost", legend="inside")
    assert [each.name for each in written] == ["01-least-squares-gap-gradients.svg"]


def test_only_the_methods_that_were_asked_for_are_drawn_in_their_own_colours(figures, summary, tmp_path):
    (drawn,) = write(
        choose_methods(figures[:1], summary, ["svrg"]), summary, tmp_path, x="cost", legend="inside"
    )
    assert "svrg" in texts(drawn)
    assert "gd" not in texts(drawn)
    (colour,) = {each["line"]["color"] for each in figures[0].views[0].data if each["name"] == "svrg"}
    assert colour in drawn.read_text(encoding="utf-8")
    with pytest.raises(BenchfwError, match="no method 'svgr' in the run; did you mean 'svrg'"):
        choose_methods(figures, summary, ["svgr"])


def test_a_panel_has_all_figures_lettered_in_one_file(figures, summary, tmp_path):
    (panel,) = write(figures, summary, tmp_path, panel=True)
    assert {"(a) gap"} <= texts(panel)
    assert any(each and each.startswith("(b)") for each in texts(panel))


def test_a_figure_that_is_too_narrow_for_its_labels_is_one_sentence(figures, summary, tmp_path):
    with pytest.raises(BenchfwError, match="--width 1 is too narrow for the labels at --font-size 30"):
        write(figures[1:], summary, tmp_path, width=1.0, font_size=30.0)


def test_a_caption_says_what_lines_and_bands_are_and_where_it_was_run(figures, summary, run, tmp_path):
    pytest.importorskip("matplotlib")
    paper = Paper(x="cost", legend="none")
    written = write_figures(choose_sheets(figures, paper), tmp_path, "svg", paper)
    text = latex_captions(describe_sheets(written), summary, run)
    assert "% 01-least-squares-gap-gradients.svg\n\\caption{least-squares: gap against gradients. " in text
    assert "medians over 2 repetitions; bands hold the central 80 \\% of them" in text
    assert f"Suite {run.suite}, {run.started[:10]}" in text


def test_names_show_as_text(make, run, tmp_path):
    name = r"<b>x</b> $\frac{1$ / ../y"
    results = [
        make.result("optimizer", name, name, r, make.curve("gap", [9, 5, 1]), target={"gap": 5.0})
        for r in range(2)
    ]
    summary = summarize(run, results)
    written = write(build_figures(summary), summary, tmp_path, legend="inside")
    assert {path.parent for path in written} == {tmp_path}
    assert name in texts(written[0])


def test_without_matplotlib_one_line_says_how_to_get_it(figures, summary, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BenchfwError, match=r"needs matplotlib.*pip install 'benchfw\[paper\]'"):
        write_figures(choose_sheets(figures, Paper()), tmp_path, "pdf", Paper())
