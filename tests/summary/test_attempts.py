"""How tuning runs are scored, which setting is chosen, and what a report makes of what was tried."""

import math
from dataclasses import replace

import numpy as np
import pytest

from benchfw.records import Budget, Cell, Counting, Ending, Outcome, Record, Result, Spec, Status, Trial
from benchfw.search import Choice, Log
from benchfw.summary.attempts import (
    BROKEN,
    Aim,
    Attempt,
    Score,
    Spending,
    attempt_of,
    choose,
    choose_across,
    rank_attempts,
)
from benchfw.summary.exports import tuning_rows
from benchfw.summary.histories import Reader
from benchfw.summary.summarize import summarize
from benchfw.summary.tuned import TunedMethod, find_leads

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


def test_the_first_of_equals_is_chosen_among_those_with_the_largest_share_of_the_budget():
    tried = [attempt((0, 1.0), share=1 / 3), attempt((0, 5.0)), attempt((0, 4.0)), attempt((0, 4.0))]
    assert choose(tried) == 2
    assert rank_attempts(tried) == [0, 2, 0, 0]
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


def test_an_allowance_counts_what_began_within_it():
    tried = [attempt((0, 1.0), cost=6.0, seconds=1.0) for _ in range(5)]
    assert len(Spending().within(tried)) == 5
    assert len(Spending(cost=12.0).within(tried)) == 2
    assert len(Spending(cost=12.1).within(tried)) == 3
    assert len(Spending(seconds=2.5).within(tried)) == 3
    assert len(Spending(cost=0.1).within(tried)) == 1


def test_an_attempt_adds_up_what_its_runs_spent():
    found = attempt_of({"step": 1.0}, [history([1.0, 0.1]), history([1.0, 0.5, 0.2])], Aim.of("", GAP))
    assert (found.cost, found.seconds) == (pytest.approx(60.0), pytest.approx(0.03))
    assert [each.standing for each in found.scores] == [0, 1]


def tuned(table, name="m", settings=None, **more):
    """Return a method whose setting in row i takes table[i, j] in run j, and never arrives at infinity."""
    attempts = tuple(
        Attempt(
            settings[row] if settings else {"step": 10.0 ** (row / len(table))},
            tuple(Score(0, value) if math.isfinite(value) else BROKEN for value in values),
            cost=1.0,
        )
        for row, values in enumerate(table)
    )
    return TunedMethod(
        Cell("p", "optimizer", name, "numpy"), {"step": Log(1, 10)}, (attempts,), "cost", **more
    )


def test_held_out_runs_do_not_rank_their_own_values():
    table = np.random.default_rng(1).lognormal(size=(8, 3))
    for run, fold in enumerate(tuned(table).held):
        others = np.max(np.delete(table, run, 1), axis=1)  # of two runs the worse
        assert fold.order.tolist() == np.argsort(others).tolist()
        assert fold.values.tolist() == table[:, run].tolist()


def test_fewer_trials_are_looked_at_for_sequences_of_eight_settings_with_two_runs():
    table = np.random.default_rng(2).lognormal(size=(8, 2))
    assert [each.trials for each in tuned(table).by_allowance] == [1, 2, 4]
    for nothing in (tuned(table[:7]), tuned(table[:, :1]), tuned(table, is_sequence=False)):
        assert nothing.by_allowance == []
        assert nothing.share_near_best is None


def test_edges_are_named_with_their_direction_and_choices_have_none():
    table = np.linspace(1, 2, 8)[:, None].repeat(2, 1)
    (edge,) = tuned(table).edges
    assert (edge.path, edge.end, edge.limit) == ("step", "lower", 1)
    (edge,) = tuned(table[::-1], settings=[{"step": 1 + 9 * each / 7} for each in range(8)]).edges
    assert (edge.end, edge.limit) == ("upper", 10)
    inside = TunedMethod(
        Cell("p", "optimizer", "m", "numpy"),
        {"rule": Choice(["a", "b"])},
        ((Attempt({"rule": "a"}, (Score(0, 1.0),)),),),
        "cost",
    )
    assert inside.edges == ()


def test_flat_optima_and_ties_are_counted():
    found = tuned(np.array([1.0, 1.05, 1.0, 1.2, 3, 4, 5, math.inf])[:, None].repeat(2, 1))
    assert (found.as_good, found.equals, found.reached) == (3, 2, 7)


def test_a_method_that_takes_a_tenth_leads_with_every_allowance_and_its_equal_does_not():
    rng = np.random.default_rng(3)
    base = np.abs(np.linspace(-2, 2, 32))[:, None] + 0.05 * rng.standard_normal((32, 3))
    fast, slow = tuned(np.exp(base), "fast"), tuned(10 * np.exp(base), "slow")
    assert [(each.trials, each.leader.method) for each in find_leads([slow, fast])] == [
        (count, "fast") for count in (1, 2, 4, 8, 16)
    ]
    assert {each.leader for each in find_leads([fast, tuned(np.exp(base), "same")])} == {None}
    assert find_leads([fast]) == []


def test_what_the_data_of_three_runs_do_to_a_method_is_no_lead():
    rng = np.random.default_rng(4)
    base = np.abs(np.linspace(-2, 2, 32))[:, None] + 0.01 * rng.standard_normal((32, 3))
    lucky = tuned(np.exp(base - [0.1, 0.6, 0.3]), "lucky")
    assert {each.leader for each in find_leads([tuned(np.exp(base), "m"), lucky])} == {None}


def test_a_trial_that_two_rounds_of_a_tuner_share_counts_once_and_shares_are_rounded(make, run):
    told = {"trials": 3, "repetitions": 1, "tuner": "halving", "spaces": {"m": {"step": Log(1, 10).table}}}
    tuning = replace(run, environment=replace(run.environment, tuning=told))

    def tried(step, iterations):
        curve = make.curve("gap", [9, 0.5], cost=7.0)
        found = make.result("optimizer", "p", "m", 0, curve, target={"gap": 1.0}, params={"step": step})
        budget = Budget(iterations=iterations)
        return replace(found, trial=replace(found.trial, tuning=1, budget=budget))

    shared = tried(2.0, 1)
    (found,) = summarize(tuning, [shared, tried(3.0, 1), shared, tried(2.0, 3)]).tuned
    assert (found.runs, found.cost, found.tried) == (3, 21.0, (2,))
    columns, rows = tuning_rows([found])
    assert [row[columns.index("share")] for row in rows] == [0.33, 0.33, 1.0]


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
