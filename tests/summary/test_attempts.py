"""How tuning runs are scored, which setting is chosen, and what a report makes of what was tried."""

import itertools
import math
from dataclasses import replace
from statistics import median_low

import pytest

from benchfw.records import Budget, Cell, Counting, Ending, Outcome, Record, Result, Spec, Status, Trial
from benchfw.search import Choice, Log
from benchfw.summary.attempts import (
    BROKEN,
    Aim,
    Attempt,
    Score,
    attempt_of,
    choose,
    choose_across,
    rank_attempts,
)
from benchfw.summary.histories import Reader
from benchfw.summary.summarize import summarize
from benchfw.summary.tuned import TunedMethod

GAP = {"gap": 0.1}


def history(values, target=GAP, metric="gap", role="metric", status=Status.DONE, budget=None, **more):
    """Return a run with looks 10 iterations apart; an iteration costs 2 and takes a millisecond."""
    records = tuple(
        Record(metric, 10 * look, 0.01 * look, 20.0 * look, value, role) for look, value in enumerate(values)
    )
    trial = Trial(
        "optimizer", Spec("p", {}, "p"), Spec("m", {}, "m"), "numpy", 0, 1, budget or Budget(), target
    )
    return Reader().read(Result(1, trial, Outcome(status, Ending.ITERATIONS, records=records, **more)))


def attempt(*scores, **more):
    return Attempt({}, tuple(Score(*each) for each in scores), **more)


def test_scores_go_from_arrivals_by_cost_over_ends_by_value_to_runs_that_broke():
    aim = Aim.of("", GAP)
    early, late = history([1.0, 0.1]), history([1.0, 0.5, 0.1])
    near, far = history([1.0, 0.2]), history([1.0, 0.9])
    worst = [history([1.0, 0.01], status=each) for each in (Status.FAILED, Status.DIVERGED, Status.TIMEOUT)]
    scores = [aim.score(each) for each in (early, late, near, far, *worst)]
    assert scores == sorted(scores)
    assert scores[0] == Score(0, pytest.approx(20.0))
    assert scores[2:4] == [Score(1, 0.2), Score(1, 0.9)]
    assert set(scores[4:]) == {BROKEN}
    assert aim.score(history([1.0, math.nan])) == BROKEN
    assert aim.score(history([])) == BROKEN


def test_an_aim_names_an_axis_or_a_metric_and_seconds_stand_in_for_a_cost_that_is_not_counted():
    run = history([1.0, 0.1])
    assert Aim.of("seconds to target", GAP).score(run).value == pytest.approx(0.01)
    assert Aim.of("iterations to target", GAP).score(run).value == pytest.approx(10)
    assert Aim.of("gap", GAP).score(run) == Score(1, 0.1)
    assert Aim.of("", {}).score(history([1.0, 0.3], {})) == Score(1, 0.3)
    uncounted = history([1.0, 0.1], counting=Counting.UNCOUNTED)
    assert Aim.of("", GAP).score(uncounted).value == pytest.approx(0.01)


def test_a_target_beyond_the_budget_is_not_reached():
    assert Aim.of("", GAP).score(history([1.0, 0.5, 0.05], budget=Budget(cost=25.0))) == Score(1, 0.5)


def test_gains_are_scored_from_the_other_side():
    gain = {"metric": "accuracy", "role": "gain"}
    aim = Aim.of("", {"accuracy": 0.9})
    reached, better, worse = (
        aim.score(history(values, {"accuracy": 0.9}, **gain))
        for values in ([0.1, 0.95], [0.1, 0.8], [0.1, 0.7])
    )
    assert reached.standing == 0
    assert better == Score(1, -0.8)
    assert reached < better < worse


def test_the_median_run_scores_and_of_two_the_worse():
    assert attempt((0, 3.0), (0, 1.0), (2, math.inf)).score == Score(0, 3.0)
    assert attempt((0, 3.0), (0, 1.0)).score == Score(0, 3.0)
    assert attempt((0, 1.0), (2, math.inf)).score == BROKEN
    assert Attempt({}, ()).score == BROKEN


def test_the_first_of_equals_is_chosen():
    tried = [attempt((0, 5.0)), attempt((0, 4.0)), attempt((0, 4.0))]
    assert choose(tried) == 1
    assert rank_attempts(tried) == [2, 0, 0]
    assert choose([attempt((2, math.inf)), attempt((1, 0.5))]) == 1


def test_of_ends_that_a_gap_to_an_unknown_optimum_cannot_tell_apart_the_first_to_get_there_is_chosen():
    ends = {"slow": [9, 5, 2, 1.0], "fast": [9, 1.0, 1.0, 1.0 + 1e-15], "near": [9, 1.2, 1.2, 1.2]}
    tried = [
        attempt_of({"step": name}, [history(values, metric="objective") for _ in range(3)], Aim.of("", GAP))
        for name, values in ends.items()
    ]
    assert choose(tried) == 1
    assert rank_attempts(tried) == [1, 0, 2]
    by_end = [
        attempt_of({"step": name}, [history(values, metric="objective")], Aim.of("objective", GAP))
        for name, values in ends.items()
    ]
    assert choose(by_end) == 0
    known = [attempt_of({"step": name}, [history(values)], Aim.of("", GAP)) for name, values in ends.items()]
    assert not any(each.margin for each in known)


def test_across_problems_the_best_mean_rank_is_chosen_of_settings_that_nowhere_break_or_miss():
    one = [attempt((0, 1.0)), attempt((0, 1.2)), attempt((0, 3.0)), attempt((0, 1.5))]
    two = [attempt((0, 900.0)), attempt((0, 100.0)), attempt((0, 200.0)), attempt((1, 0.5))]
    assert choose_across([one, two]) == 1
    assert choose_across([[one[0], one[2]], [attempt((2, math.inf)), attempt((0, 5.0))]]) == 1
    assert choose_across([[one[3], one[2]], [two[3], two[2]]]) == 1
    assert choose_across([[one[0], one[0]]]) == 0


def test_an_attempt_adds_up_what_its_runs_spent():
    found = attempt_of({"step": 1.0}, [history([1.0, 0.1]), history([1.0, 0.5, 0.2])], Aim.of("", GAP))
    assert (found.cost, found.seconds) == (pytest.approx(60.0), pytest.approx(0.03))
    assert [each.standing for each in found.scores] == [0, 1]


def tuned(*costs, settings=None):
    """Return a method whose settings take these costs to the target, and never arrive at infinity."""
    attempts = tuple(
        Attempt(
            settings[number] if settings else {"step": 10.0 ** (number / len(costs))},
            (Score(0, cost) if math.isfinite(cost) else BROKEN,),
        )
        for number, cost in enumerate(costs)
    )
    spaces = {"step": Log(1, 10), "rule": Choice(["a", "b"])}
    return TunedMethod(Cell("p", "optimizer", "m", "numpy"), spaces, attempts, "cost")


def test_what_fewer_settings_give_is_the_median_over_all_ways_to_take_them():
    costs = [7.0, 2.0, math.inf, 5.0, 3.0, math.inf, 11.0]
    curve = tuned(*costs).curve
    assert [count for count, _ in curve] == [1, 2, 4, 7]
    for count, value in curve:
        best = sorted(min(taken) for taken in itertools.combinations(costs, count))
        assert value == median_low(best)
    assert tuned(math.inf, math.inf, 1.0).curve == [(1, math.inf), (2, 1.0), (3, 1.0)]
    assert tuned(4.0).curve == [(1, 4.0)]


def test_edges_are_named_with_their_direction_and_choices_have_none():
    (edge,) = tuned(1.0, 2.0, 3.0).find_edges()
    assert edge == ("step", 1.0, "lower")
    (edge,) = tuned(3.0, 2.0, 1.0, settings=[{"step": step} for step in (1.0, 5.0, 10.0)]).find_edges()
    assert edge == ("step", 10.0, "upper")
    assert list(tuned(1.0, settings=[{"rule": "a"}]).find_edges()) == []


def test_settings_near_the_best_are_counted_where_the_best_is_above_0():
    method = tuned(1.0, 2.0, 2.01, 1.0, math.inf)
    assert (method.near_best, method.reached) == (3, 4)
    assert tuned(0.0, 1.0).near_best is None
    assert tuned(math.inf).near_best is None


def test_a_first_run_that_breaks_does_not_hide_what_is_measured(make, run):
    told = {"trials": 2, "repetitions": 1, "metric": "accuracy", "spaces": {"m": {"step": Log(1, 10).table}}}
    tuning = replace(run, environment=replace(run.environment, tuning=told))
    curve = make.curve("accuracy", [0.1, 0.9], role="gain")
    results = [
        make.result("optimizer", "p", "m", 0, records, params={"step": step}, status=status)
        for step, records, status in ((2.0, [], Status.FAILED), (3.0, curve, Status.DONE))
    ]
    results = [replace(each, trial=replace(each.trial, tuning=1)) for each in results]
    (found,) = summarize(tuning, results).tuned
    assert (found.metric, found.gain, found.unknown) == ("accuracy", True, ())
