from __future__ import annotations

import io
import re

import pytest

from benchfw.records import Status
from benchfw.report.terminal import print_summary
from benchfw.summary.summarize import summarize

HOSTILE = "\x1b[31m[bold red]evil[/bold red]\u202e\r\nnext"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(summary, file=None, width=None):
    file = file or io.StringIO()
    print_summary(summary, file, width)
    return file.getvalue()


def test_piped_text_is_plain_aligned_and_starts_with_the_verdicts(realistic, run):
    text = printed(summarize(run, realistic()))
    assert "\x1b" not in text
    lines = text.splitlines()
    assert lines[0].startswith("All problems: The method svrg needs")
    first = next(line for line in lines if line.startswith("least-squares condition=100, optimizers: "))
    assert "The method saga needs" in first
    header = next(i for i, line in enumerate(lines) if line.startswith("  method"))
    assert len({len(line) for line in lines[header : header + 4]}) == 1
    assert "adam on logistic-regression (numpy): 1 of 5 trials diverged" in text
    assert "benchfw replay" in text


def test_a_terminal_gets_a_drawn_table(realistic, run, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    text = printed(summarize(run, realistic()), Screen(), width=100)
    assert "\x1b[" in text
    assert "─" in text
    seen = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert max(map(len, seen.splitlines())) <= 100


def test_a_narrow_terminal_has_all_ratios_in_a_table_that_continues(realistic, run, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    summary = summarize(run, realistic())
    narrow, wide = (
        re.sub(r"\x1b\[[0-9;]*m", "", printed(summary, Screen(), width=width)) for width in (80, 400)
    )
    assert max(map(len, narrow.splitlines())) <= 80
    assert ("(continued)" in narrow, "(continued)" in wide) == (True, False)
    heads = [[line for line in text.splitlines() if re.match(r" *method\b", line)] for text in (narrow, wide)]
    shown = [sum(line.count("ratio") for line in found) for found in heads]
    assert shown[0] == shown[1] > 0


@pytest.mark.parametrize("screen", [False, True])
def test_no_line_ends_before_a_unit_or_within_an_interval(realistic, run, monkeypatch, screen):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")
    summary = summarize(run, realistic())
    said = 0
    for width in range(60, 111):
        lines = printed(summary, Screen() if screen else None, width).splitlines()
        verdicts = lines[: next(i for i, line in enumerate(lines) if re.match(" *method ", line))]
        assert not [line for line in verdicts if re.search(r"\[-?\d[^\]]*$|^ *(%|ms|s)( |$)", line)]
        said += sum(line.count("] ") + line.count(" %") for line in verdicts)
    assert said > 100


def test_no_color_is_respected_in_a_terminal(realistic, run, monkeypatch):
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in printed(summarize(run, realistic(optimizers=2, estimators=0)), Screen())


@pytest.mark.parametrize("screen", [False, True])
def test_text_from_plugins_cannot_steer_the_terminal(make, run, monkeypatch, screen):
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.delenv("NO_COLOR", raising=False)
    results = [
        make.result("optimizer", HOSTILE, HOSTILE, 0, make.curve("gap", [9, 1])),
        make.result("optimizer", HOSTILE, HOSTILE, 1, [], status=Status.FAILED, reason=HOSTILE),
    ]
    text = printed(summarize(run, results), Screen() if screen else None, width=400)
    assert "\x1b[31m" not in text
    assert "\u202e" not in text
    assert "\r" not in text
    assert "\\x1b[31m[bold red]evil[/bold red]\\u202e" in text
