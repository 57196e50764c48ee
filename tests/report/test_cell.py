"""What stands below a notebook's cell."""

from __future__ import annotations

from benchfw.report.cell import render_cell
from benchfw.summary.summarize import summarize


def test_the_line_below_the_figure_says_what_band_and_theorem_are(make, run):
    curve = make.curve("gap", [9, 5, 2, 1])
    bound = make.curve("gap", [20, 10, 5, 2], role="bound")
    results = [make.result("optimizer", "p", "gd", r, [*curve, *bound]) for r in range(6)]
    cell = render_cell(summarize(run, results), run, [])
    assert "the band holds the central 80 % of them, all of them if they are ten or fewer." in cell
    assert "A thin dotted line is what a theorem promises." in cell
    names = cell.partition('<div class="names">')[2].partition("</div>")[0]
    assert names.count("<span>") == 1
