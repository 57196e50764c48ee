"""What a person sees while a run goes on, in a terminal and elsewhere, and how long the rest may take."""

import io
import math
import re
from collections import Counter
from dataclasses import replace

import pytest

from benchfw.api import progress
from benchfw.api.progress import Pace, duration
from benchfw.harness.events import Begun, Finished, Started
from benchfw.records import Budget, Ending, Outcome, Spec, Status, Trial

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
nap = 0.1

[[optimizer]]
use = "faulty"
nap = 0.5
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


@pytest.mark.thorough
def test_a_terminal_that_cannot_move_its_cursor_gets_plain_lines(cli):
    sent, code = cli.in_terminal("run", "bowls.toml", "--no-report", "--only", "step=0.5", TERM="dumb")
    assert code == 0
    assert sent.startswith("run 1: 2 trials to run, 0 in the store already\r\n")
    assert "━" not in sent.partition("\n")[2].partition("\n")[0]


@pytest.mark.thorough
def test_a_label_cannot_steer_the_terminal(cli):
    cli.write("rude.toml", SLOW.replace('use = "slide"', 'use = "slide"\nlabel = "\\u001b[31mred [bold]x"'))
    sent, _ = cli.in_terminal("run", "rude.toml", "--no-report", "--only", "red")
    assert "\x1b[31mred" not in sent
    assert "red [bold]x on bowl" in CONTROL.sub("", sent)


def count(trials):
    return Counter(trial.cell for trial in trials)


def test_without_a_terminal_there_are_plain_lines(make_trial, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS_BETWEEN_LINES", 0.0)
    trials = [make_trial(repetition=number) for number in range(2)]
    file = io.StringIO()
    with progress.display("Naps", file) as shown:
        shown(Begun(1, 5, count(trials)))
        for trial, status in zip(trials, (Status.FAILED, Status.DONE), strict=True):
            shown(Started(trial))
            shown(Finished(trial, Outcome(status, Ending.FAULT, "as told", seconds=2.0)))
    assert file.getvalue().splitlines() == [
        "run 1: 2 trials to run, 5 in the store already",
        "failed: slide on bowl (numpy, repetition 0): as told",
        "0 of 2 trials done, 1 failed, 1 left; 0 s so far, about 2 s to go",
        "1 of 2 trials done, 1 failed, 0 left; 0 s so far",
    ]


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def start(clock, make_trial):
    """Return a function that begins a run of two methods, so many repetitions each; gives pace and trials."""

    def begin(repetitions=3, jobs=1, budget=None):
        trials = [
            make_trial(method=Spec(name, {}, name), repetition=number, budget=budget or Budget(iterations=9))
            for name in ("quick", "slow")
            for number in range(repetitions)
        ]
        pace = Pace(clock)
        pace.hear(Begun(1, 2, count(trials), jobs, seconds=trials[0].budget.seconds))
        return pace, trials

    return begin


def finish(pace, trial, seconds, status=Status.DONE):
    pace.hear(Started(trial))
    pace.hear(Finished(trial, Outcome(status, Ending.ITERATIONS, seconds=seconds)))


def test_what_the_store_had_is_not_to_do(start):
    pace, trials = start()
    assert (pace.total, pace.done, pace.failed, pace.left) == (6, 0, 0, 6)
    finish(pace, trials[0], 1.0)
    finish(pace, trials[1], 1.0, Status.CRASHED)
    assert (pace.done, pace.failed, pace.left) == (1, 1, 4)


def test_each_method_is_expected_to_take_what_its_own_trials_took(start):
    pace, trials = start()
    finish(pace, trials[0], 1.0)
    finish(pace, trials[3], 10.0)
    assert pace.seconds_left() == pytest.approx(2 * 1.0 + 2 * 10.0)


def test_jobs_share_what_is_left_but_one_trial_is_not_shared(start, clock):
    pace, trials = start(jobs=4)
    finish(pace, trials[0], 1.0)
    finish(pace, trials[3], 10.0)
    assert pace.seconds_left() == pytest.approx(22 / 4)
    pace.hear(Started(trials[4]))
    clock.now = 2.0
    assert pace.seconds_left() == pytest.approx(8.0)


def test_a_trial_that_a_second_worker_starts_is_still_one_trial(start):
    pace, trials = start(budget=Budget(seconds=10))
    pace.hear(Started(trials[0]))
    pace.hear(Started(trials[0]))
    assert len(pace.running) == 1
    assert pace.seconds_left() == pytest.approx(6 * 10)


def test_a_trial_that_outlives_the_estimate_counts_as_nearly_done(start, clock):
    pace, trials = start(repetitions=2)
    for trial in (trials[0], trials[1], trials[2]):
        finish(pace, trial, 1.0)
    pace.hear(Started(trials[3]))
    clock.now = 50.0
    assert pace.seconds_left() == 0


def test_before_a_method_has_ended_its_budget_of_seconds_is_expected(start):
    pace, trials = start(budget=Budget(seconds=30))
    assert pace.seconds_left() == pytest.approx(6 * 30)
    finish(pace, trials[0], 2.0)
    assert pace.seconds_left() == pytest.approx(2 * 2 + 3 * 30)


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_time_left_counts_what_starting_processes_takes(start, clock, jobs):
    pace, trials = start(repetitions=50, jobs=jobs)
    quick, slow = trials[:50], trials[50:]
    left = [trial for pair in zip(quick, slow, strict=True) for trial in pair]
    running: list[tuple[float, Trial]] = []
    said = {}
    while left or running:  # 0.1 or 0.3 s of its own, and 0.7 s until its process has started
        while left and len(running) < jobs:
            trial = left.pop(0)
            running.append((clock.now + 0.7 + (0.1 if trial in quick else 0.3), trial))
            pace.hear(Started(trial))
        running.sort(key=lambda each: each[0])
        clock.now, trial = running.pop(0)
        seconds = 0.1 if trial in quick else 0.3
        pace.hear(Finished(trial, Outcome(Status.DONE, Ending.ITERATIONS, seconds=seconds)))
        said[pace.ended] = clock.now, pace.seconds_left()
    for ended in (20, 50, 80):
        then, expected = said[ended]
        assert expected == pytest.approx(clock.now - then, rel=0.15)


def test_trials_that_a_worker_was_given_together_do_not_hide_what_they_take(start, clock):
    pace, trials = start(repetitions=50)
    for first in range(0, 50, 10):
        for trial in trials[first : first + 10]:
            pace.hear(Started(trial))
        for trial in trials[first : first + 10]:
            clock.now += 0.03
            pace.hear(Finished(trial, Outcome(Status.DONE, Ending.ITERATIONS, seconds=0.01)))
    assert pace.seconds_left() == pytest.approx(50 * 0.03)


def test_without_a_budget_of_seconds_nothing_is_known_until_a_trial_has_ended(start):
    pace, trials = start()
    assert pace.seconds_left() == math.inf
    finish(pace, trials[0], 2.0)
    assert pace.seconds_left() == pytest.approx(5 * 2.0)


def test_a_skipped_trial_says_nothing_about_time(start):
    pace, trials = start()
    absent = replace(trials[0], backend="cupy")
    pace.hear(Begun(1, 0, count([absent, trials[1]])))
    pace.hear(Finished(absent, Outcome(Status.SKIPPED, Ending.ABSENT, "no GPU")))
    assert (pace.done, pace.left) == (1, 1)
    assert pace.seconds_left() == math.inf


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (41.2, "41 s"), (185, "3 min"), (5400, "90 min"), (9000, "2.5 h")]
)
def test_times_are_said_as_a_person_would(seconds, said):
    assert duration(seconds) == said


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((1.02, True), "the machine is quiet"),
        ((2.3, False), "not quiet within 60 s (a loop of known work takes 2.3"),
    ],
)
def test_waiting_for_a_quiet_machine_is_shown_and_the_run_follows(cli, monkeypatch, answer, said):
    def wait_until_quiet(limit, tell):
        for waited in (0.0, 1.0, 6.0):
            tell(waited, 3.1)
        return answer

    monkeypatch.setattr("benchfw.harness.noise.wait_until_quiet", wait_until_quiet)
    done = cli("run", "bowls.toml", "--no-report", "--wait-quiet", "60", "--jobs", "0")
    assert done.returncode == 0
    assert done.stderr.count("waiting for a quiet machine, 0 s of 60 s") == 1
    assert (
        done.stderr.count("6 s of 60 s: a loop of known work takes 3.1 times as long as at its fastest") == 1
    )
    assert "1 s of 60 s" not in done.stderr
    assert said in done.stderr
