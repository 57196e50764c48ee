"""What a person sees while a run goes on: in a terminal, and elsewhere."""

import io
import re

from benchfw.cli import progress
from benchfw.harness.events import Begun, Finished, Started
from benchfw.records import Ending, Outcome, Status

CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")

SLOW = """
title = "Naps"
seed = 3
repetitions = 1
plugins = ["bowls.py"]
budget = { iterations = 10 }

[[problem]]
use = "bowl"

[[optimizer]]
use = "slide"
nap = 0.06

[[optimizer]]
use = "faulty"
"""


def test_a_terminal_shows_a_bar_the_running_trials_and_every_failure_above_it(cli):
    cli.write("naps.toml", SLOW)
    sent, code = cli.in_terminal("run", "naps.toml", "--no-report", "--jobs", 2)
    assert code == 1
    shown = CONTROL.sub("", sent)
    assert re.search(r"Naps ━+", shown)
    assert "0 of 2 trials done, 2 left" in shown
    assert re.search(r"\d s  slide on bowl \(numpy, repetition 0\)", shown)
    assert re.search(r"0 of 2 trials done, 1 failed, 1 left; \d+ s so far, about \d+ s to go", shown)
    failure = "failed: faulty on bowl (numpy, repetition 0): RuntimeError: third time unlucky"
    assert shown.count(failure) == 1  # printed once, above a bar that is drawn again below it
    assert shown.index(failure) < shown.index("1 failed, 1 left")
    # the bar is gone when the summary comes: its lines were cleared, and nothing of it follows
    last_bar = sent.rindex("━━━")
    assert "\x1b[2K" in sent[last_bar:]
    assert "trials done" not in CONTROL.sub("", sent[sent.rindex("\x1b[2K") :])


def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(cli):
    sent, code = cli.in_terminal("run", "bowls.toml", "--no-report", "--only", "step=0.5", TERM="dumb")
    assert code == 0
    assert sent.startswith("run 1: 2 trials to run, 0 in the store already\r\n")
    assert "━" not in sent.partition("\n")[2].partition("\n")[0]


def test_a_label_cannot_steer_the_terminal(cli):
    cli.write("rude.toml", SLOW.replace('use = "slide"', 'use = "slide"\nlabel = "\\u001b[31mred [bold]x"'))
    sent, _ = cli.in_terminal("run", "rude.toml", "--no-report", "--only", "red")
    assert "\x1b[31mred" not in sent
    assert "red [bold]x on bowl" in CONTROL.sub("", sent)


def test_without_a_terminal_there_are_plain_lines(make_trial, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    trials = [make_trial(repetition=number) for number in range(2)]
    file = io.StringIO()
    with progress.display("Naps", file) as shown:
        shown(Begun(1, 5, trials))
        for trial, status in zip(trials, (Status.FAILED, Status.DONE), strict=True):
            shown(Started(trial))
            shown(Finished(trial, Outcome(status, Ending.FAULT, "as told", seconds=2.0)))
    assert file.getvalue().splitlines() == [
        "run 1: 2 trials to run, 5 in the store already",
        "failed: slide on bowl (numpy, repetition 0): as told",
        "0 of 2 trials done, 1 failed, 1 left; 0 s so far, about 2 s to go",
        "1 of 2 trials done, 1 failed, 0 left; 0 s so far",
    ]
