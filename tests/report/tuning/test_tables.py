"""The tables on tuning, and where every report shows them."""

import io
import math

import pytest

from benchfw.report.cell import render_cell
from benchfw.report.markdown import markdown
from benchfw.report.page import write_report
from benchfw.report.terminal import plain_lines, print_summary
from benchfw.report.tuning.problems import tuned_problems
from benchfw.report.tuning.tables import tuning_tables
from benchfw.summary.exports import summary_rows


class Screen(io.StringIO):
    def isatty(self):
        return True


def methods():
    return {
        "wide": lambda step, repetition: 500.0 + step + repetition,
        "narrow": lambda step, repetition: 100.0 + repetition if 0.05 < step < 0.3 else math.inf,
    }


def tables_of(summary):
    (found,) = tuned_problems(summary)
    return tuning_tables(found)


def test_the_tables_have_choices_scores_shares_costs_and_what_fewer_trials_give(tuned):
    chosen, allowance = tables_of(tuned(methods(), {"wide": 500, "narrow": 100}))
    assert chosen.table.header == (
        "method", "chosen", "gradients to target in tuning", "settings that arrive",
        "share within 2 x the best, %", "cost of tuning, gradients", "time of tuning, s",
    )  # fmt: skip
    wide, narrow = chosen.table.rows
    assert wide[:4] == ("wide", "step 0.001334", "501", "16 of 16")
    assert wide[4].startswith("100 [")
    assert narrow[:4] == ("narrow", "step 0.07499", "101", "3 of 16")
    assert narrow[5] == f"{3 * (100 + 101 + 102) + 13 * 3 * 10:,}"
    assert allowance.title == "Gradients to target by the number of tuning trials"
    assert allowance.table.header == ("method", "1", "2", "4", "8", "16 (the verdict)")
    assert allowance.table.rows[1][1] == "never"
    assert allowance.table.rows[1][-1].startswith("105 [100")


def test_the_summary_has_what_tuning_cost_and_what_fewer_trials_give(tuned):
    rows = {row[1:4:2]: row[4:] for row in summary_rows(tuned(methods(), {"wide": 500, "narrow": 100}))}
    assert rows["wide", "tuning_cost"][0] == pytest.approx(sum(3 * 500 + 3 for _ in range(16)), rel=0.01)
    assert rows["wide", "share_within_2_times"][0] == 1
    assert rows["narrow", "cost_to_target_with_1_trials"][0] == math.inf
    assert rows["narrow", "cost_to_target_with_8_trials"][0] == pytest.approx(101)


def test_several_tunings_show_the_median_and_the_range_of_what_they_chose(tuned):
    both = {"a": lambda step, repetition: 100.0 * (1 + abs(math.log(step / 0.1))) + repetition}
    summary = tuned(both, {"a": 100}, repeats=True, choices=("fast", "slow"))
    chosen = tables_of(summary)[0].table.rows[0]
    assert chosen[1] == "step 0.09817 (0.07499 to 0.1259), mode fast (3 of 6 tunings)"
    assert chosen[2] == "121 (113 to 130)"


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
