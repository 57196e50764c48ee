"""When a trial with finite numbers counts as diverged."""

import math

import pytest

from benchfw.measure.divergence import judge_divergence
from benchfw.records import Ending, Outcome, Record, Status

DONE = Outcome(Status.DONE, Ending.ITERATIONS, "budget of 9 iterations")
LIMITS = {"gap": 0.0, "loss": 0.0}


def judged(curves, outcome=DONE, limits=LIMITS, gains=()):
    """Judge a trial with these values of each metric, look by look."""
    looks = zip(*curves.values(), strict=True)
    taken = [
        Record(name, k, float(k), float(k), value)
        for k, values in enumerate(looks)
        for name, value in zip(curves, values, strict=True)
    ]
    return judge_divergence(outcome, taken, limits, gains)


def test_a_trial_that_ends_above_ten_times_its_start_has_diverged():
    outcome, caveats = judged({"loss": [0.5, 0.4, 5.5]})
    assert (outcome.status, outcome.ending, caveats) == (Status.DIVERGED, Ending.BLOWN_UP, ())
    assert outcome.reason == "loss rose to 11 times its start at iteration 2 and ended at 11 times"
    assert judged({"loss": [0.5, 0.4, 4.9]})[0] == DONE


def test_two_looks_above_ten_times_are_a_divergence_unless_the_run_comes_back_below_its_start():
    assert judged({"loss": [1.0, 11.0, 12.0, 1.5]})[0].status is Status.DIVERGED
    single, caveats = judged({"loss": [1.0, 11.0, 3.0, 1.5]})
    assert single == DONE
    assert caveats == ("loss was above 10 times its start for a while",)
    assert judged({"loss": [1.0, 11.0, 12.0, 0.9]}) == (DONE, caveats)


def test_a_caveat_begins_at_twice_the_start():
    assert judged({"loss": [1.0, 1.9, 0.5]}) == (DONE, ())
    assert judged({"loss": [1.0, 2.1, 0.5]}) == (DONE, ("loss was above 2 times its start for a while",))


@pytest.mark.parametrize(
    ("curves", "status"),
    [
        ({"likelihood": [0.1, 9.0], "gap": [1.0, 5.0]}, Status.DONE),  # may be negative: the gap decides
        ({"likelihood": [1.0, 1.0], "gap": [1.0, 50.0]}, Status.DIVERGED),
        ({"likelihood": [0.1, 9.0]}, Status.DONE),
        ({"loss": [0.0, 9.0]}, Status.DONE),  # begins at the best there is
        ({"loss": [1.0, 1.0], "gap": [1.0, 50.0]}, Status.DONE),  # the leading metric decides
    ],
)
def test_only_a_metric_that_cannot_be_negative_is_judged(curves, status):
    assert judged(curves)[0].status is status


def test_gains_targets_and_numbers_that_are_not_finite_are_left_alone():
    assert judged({"loss": [1.0, 99.0]}, gains=("loss",)) == (DONE, ())
    reached = Outcome(Status.REACHED, Ending.TARGET)
    assert judged({"loss": [1.0, 99.0]}, reached)[0] == reached
    lost = Outcome(Status.DIVERGED, Ending.NOT_FINITE, "loss became inf at iteration 1")
    assert judged({"loss": [1.0, math.inf]}, lost) == (lost, ())
    assert judge_divergence(DONE, [], LIMITS, ()) == (DONE, ())


def test_a_metric_that_may_be_negative_gets_a_caveat_where_the_optimum_is_unknown():
    said = ("objective ended above its start by more than 10 times its size there",)
    assert judged({"objective": [-2.0, 18.5]}) == (DONE, said)
    assert judged({"objective": [2.0, 21.0]}) == (DONE, ())
    assert judged({"objective": [0.0, 21.0]}) == (DONE, ())  # no size to compare with
    assert judged({"objective": [2.0, 99.0], "gap": [1.0, 1.0]}) == (DONE, ())
    assert judged({"objective": [2.0, 99.0]}, gains=("objective",)) == (DONE, ())
    reached = Outcome(Status.REACHED, Ending.TARGET)
    assert judged({"objective": [2.0, 99.0]}, reached) == (reached, ())
