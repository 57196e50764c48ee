"""What stands below a notebook's cell."""

from __future__ import annotations

import sys

import pytest

from benchfw.report.cell import render_cell
from benchfw.summary.summarize import summarize


def test_the_line_below_the_figure_says_what_band_and_theorem_are(make, run):
    pytest.importorskip("matplotlib")
    curve = make.curve("gap", [9, 5, 2, 1])
    bound = make.curve("gap", [20, 10, 5, 2], role="bound")
    results = [make.result("optimizer", "p", "gd", r, [*curve, *bound]) for r in range(6)]
    cell = render_cell(summarize(run, results), run, [])
    assert "the band holds the central 80 % of them, all of them if they are ten or fewer." in cell
    assert "A thin dotted line is what a theorem promises." in cell
    assert cell.count(">gd</text>") == cell.count(">theorem</text>") == 1


def test_without_matplotlib_there_are_the_table_and_a_line_on_what_to_install(make, run, monkeypatch):
    results = [make.result("optimizer", "p", "gd", r, make.curve("gap", [9, 5, 2, 1])) for r in range(2)]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    cell = render_cell(summarize(run, results), run, [])
    assert "<table>" in cell
    assert "<svg" not in cell
    assert "figures need matplotlib, which is not installed; pip install &#x27;benchfw[paper]&#x27;." in cell
