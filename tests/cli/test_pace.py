"""How far a run is, and how long the rest may take."""

import math
from dataclasses import replace

import pytest

from benchfw.cli.progress import Pace, duration
from benchfw.harness.events import Begun, Finished, Started
from benchfw.records import Budget, Ending, Outcome, Spec, Status


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
        pace.hear(Begun(1, 2, trials, jobs))
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


def test_without_a_budget_of_seconds_nothing_is_known_until_a_trial_has_ended(start):
    pace, trials = start()
    assert pace.seconds_left() == math.inf
    finish(pace, trials[0], 2.0)
    assert pace.seconds_left() == pytest.approx(5 * 2.0)


def test_a_skipped_trial_says_nothing_about_time(start):
    pace, trials = start()
    absent = replace(trials[0], backend="cupy")
    pace.hear(Begun(1, 0, [absent, trials[1]]))
    pace.hear(Finished(absent, Outcome(Status.SKIPPED, Ending.ABSENT, "no GPU")))
    assert (pace.done, pace.left) == (1, 1)
    assert pace.seconds_left() == math.inf


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.4, "0 s"), (41.2, "41 s"), (185, "3 min"), (5400, "90 min"), (9000, "2.5 h")]
)
def test_times_are_said_as_a_person_would(seconds, said):
    assert duration(seconds) == said
