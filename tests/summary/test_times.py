"""One unit for a quantity: in every table, figure and sentence of a report."""

from __future__ import annotations

import math
import re

import pytest

from benchfw.records import Counting
from benchfw.report.figures import build_figures
from benchfw.report.first_screen import find_answers
from benchfw.report.page import write_report
from benchfw.report.tables import full_table, headline_table
from benchfw.summary.summarize import summarize
from benchfw.summary.times import choose_unit


@pytest.mark.parametrize(
    ("seconds", "unit"),
    [
        ([0.5, 2.0], (1.0, "s")),
        ([0.012, 2.0, math.inf, 0.0], (1e-3, "ms")),
        ([0.012, 20.0], (1.0, "s")),  # 20 000 ms would be the other end of it
        ([3e-10], (1e-9, "ns")),
        ([], (1.0, "s")),
    ],
)
def test_a_unit_suits_the_shortest_time_unless_the_longest_is_far_from_it(seconds, unit):
    assert choose_unit(seconds) == unit


@pytest.fixture
def summary(make, run):
    """Two problems, one a hundred times as fast as the other; on neither does anybody know a cost."""
    results = [
        make.result(
            "optimizer", problem, name, r, make.curve("gap", [9, 1, 1e-3], seconds=pace * (1 + r / 50)),
            target={"gap": 0.5},
        )
        for problem, slow in (("small", 1.0), ("large", 100.0))
        for name, pace in (("gd", 0.02 * slow), ("sgd", 0.03 * slow))
        for r in range(2)
    ]  # fmt: skip
    return summarize(run, results)


def test_tables_figures_and_sentences_of_all_problems_have_the_same_unit(summary, run, tmp_path):
    headers = [name for each in summary.comparisons for name in headline_table(each).header]
    assert [name for name in headers if name.startswith("time to target")] == ["time to target, ms"] * 2
    rows = [row for each in summary.comparisons for row in full_table(each).rows]
    assert {row[1] for row in rows if "time to target" in row[1]} >= {"time to target, ms"}
    titles = {
        str(view.layout["xaxis"]["title"]["text"])
        for figure in build_figures(summary)
        for view in figure.views
    }
    assert {title for title in titles if title.startswith("time")} == {"time, ms", "time to target, ms"}
    page = write_report(summary, run, tmp_path / "run-1").read_text(encoding="utf-8")
    body = page.partition("<main>")[2].partition('<section id="provenance">')[0]
    assert set(re.findall(r"[\d.]+ (ns|µs|ms|s)\b", body)) <= {"ms"}


def test_a_dot_of_a_figure_is_the_number_of_the_table(summary):
    table = headline_table(summary.comparisons[1])
    column = table.header.index("time to target, ms")
    (dots,) = (
        view
        for figure in build_figures(summary)
        if figure.problem == "large"
        for view in figure.views
        if view.label == "time to target, ms"
    )
    shown = [float(row[column].partition(" [")[0]) for row in table.rows]
    assert [trace["x"][0] for trace in dots.data] == pytest.approx(shown, rel=1e-2)


def test_a_sentence_on_a_time_has_the_unit_of_its_table(make, run):
    results = [
        make.result(
            "optimizer", "p", name, 0, make.curve("gap", [9, 0.1], seconds=0.02), target={"gap": 0.5},
            counting=Counting.UNKNOWN,
        )
        for name in ("gd", "sgd")
    ]  # fmt: skip
    (answer,) = find_answers(summarize(run, results))
    assert re.search(r"in [\d.]+ and [\d.]+ ms", answer.text)
