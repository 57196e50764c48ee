"""Tables for LaTeX have nothing that LaTeX does not read, and powers of ten as formulas."""

from __future__ import annotations

import re

import pytest

from benchfw.report.figures import build_figures
from benchfw.report.figures.paper import Paper, choose_sheets
from benchfw.report.latex import _escape, latex_captions, latex_tables
from benchfw.summary.summarize import summarize


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("3.1\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}10⁷", r"$3.1\times10^{7}$"),
        ("12.5 × 10⁷", r"$12.5\times10^{7}$"),
        ("sgd 2010¹", "sgd 2010¹"),
        ("gap 10⁻⁶", r"gap $1\times10^{-6}$"),
        ("1.2e-05", r"$1.2\times10^{-5}$"),
        ("50 % of a_b", r"50 \% of a\_b"),
        ("µs … ∞", r"\textmu{}s \dots{} $\infty$"),
    ],
)
def test_numbers_and_signs_are_written_as_latex_reads_them(text, shown):
    assert _escape(text) == shown


def test_a_table_of_small_targets_and_large_ratios_is_plain_text(make, run):
    results = [
        make.result(
            "optimizer", "p", method, r, make.curve("gap", [9, 1, 1e-7], cost=cost), target={"gap": 1e-6}
        )
        for method, cost in (("gd", 1.0), ("slow", 3e7))
        for r in range(6)
    ]
    text = latex_tables(summarize(run, results), run)
    assert r"10^{-6}" in text
    assert r"10^{7}" in text
    assert not re.findall(r"[^\x00-\x7f±–]", text)


def test_a_caption_says_what_its_figure_shows_and_not_what_the_table_shows(tuned, run):
    takes = lambda step, repetition: 100.0 + step + repetition  # noqa: E731
    summary = tuned({"gd": takes, "sgd": takes}, {"gd": 100, "sgd": 200})
    sheets = choose_sheets(build_figures(summary), Paper("pdf", x="cost"))
    captions = {each.figure.title: latex_captions([each], summary, run).replace("\\", "") for each in sheets}
    assert "p: sensitivity, step; target gap 1; suite " in captions["p: sensitivity"]
    assert "cores. Each dot is a setting" in captions["p: sensitivity"]
    assert "cores. A line is how well the best" in captions["p: tuning allowance"]
    assert all(each.count(". ") == 1 for each in captions.values())
    assert "its bar from the lowest to the highest run" in captions["p: to the target"]
    assert not any("ratios to" in each for each in captions.values())
