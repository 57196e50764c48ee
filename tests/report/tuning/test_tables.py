"""The tables on tuning, and where every report shows them."""

import io
import math

import pytest

from benchfw.report.cell import render_cell
from benchfw.report.markdown import markdown
from benchfw.report.page import write_report
from benchfw.report.terminal import plain_lines, print_summary
from benchfw.report.tuning.problems import tuned_problems
from benchfw.report.tuning.tables import tuning_table
from benchfw.summary.exports import summary_rows


class Screen(io.StringIO):
    def isatty(self):
        return True


def methods():
    return {
        "wide": lambda step, repetition: 500.0 + step + repetition,
        "narrow": lambda step, repetition: 100.0 + repetition if 0.05 < step < 0.3 else math.inf,
    }


def test_the_table_has_choices_scores_how_many_are_as_good_and_costs(tuned):
    (found,) = tuned_problems(tuned(methods(), {"wide": 500, "narrow": 100}))
    table = tuning_table(found).table
    assert table.header == (
        "method", "chosen", "gradients to target in tuning", "settings that arrive", "within 2 x the best",
        "cost of tuning, gradients", "time of tuning, s",
    )  # fmt: skip
    wide, narrow = table.rows
    assert wide[:5] == ("wide", "step 0.001334", "501", "16 of 16", "16 of 16")
    assert narrow[:5] == ("narrow", "step 0.07499", "101", "3 of 16", "3 of 16")
    assert narrow[5] == f"{3 * (100 + 101 + 102) + 13 * 3 * 10:,}"


def test_the_summary_has_what_tuning_cost(tuned):
    rows = {row[1:4:2]: row[4:] for row in summary_rows(tuned(methods(), {"wide": 500, "narrow": 100}))}
    assert rows["wide", "tuning_cost"][0] == pytest.approx(sum(3 * 500 + 3 for _ in range(16)), rel=0.01)


def test_every_report_shows_tuning_also_while_it_goes_on(tuned, run, tmp_path, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    ended = tuned(methods(), {"wide": 500, "narrow": 100}, choices=("fast", "slow"))
    going = tuned(methods())
    for name, summary in (("ended", ended), ("going", going)):
        screen = Screen()
        print_summary(summary, screen, 100)
        page = write_report(summary, run, tmp_path / name).read_text(encoding="utf-8")
        text = "\n".join(plain_lines(summary, 1000))
        shown = [text, screen.getvalue(), markdown(summary, run), page]
        phrase = "Chosen: " if name == "ended" else "No verdict yet"
        for each in [*shown, render_cell(summary, run, [])]:
            assert phrase in each
            assert "settings x 3 runs" in " ".join(each.split())
        assert all("3 of 16" in each for each in shown)
        assert "p: sensitivity" in page
        assert ("p: tuning allowance" in page) == (name == "ended")
        rows = (tmp_path / name / "tuning.csv").read_text(encoding="utf-8").splitlines()
        assert len(rows) == 1 + 2 * 16
