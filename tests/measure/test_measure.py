"""What is measured, when, and how a trial ends."""

import math
import time

import numpy as np
import pytest
from fixtures.lines import Line, Steps, halving
from hypothesis import given
from hypothesis import strategies as st

from benchfw.errors import BenchfwError
from benchfw.measure.meter import next_look
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Counting, Ending, Outcome, Status


@given(st.integers(0, 10**9))
def test_looks_are_at_most_five_percent_apart_and_never_stand_still(iteration):
    following = next_look(iteration)
    assert iteration < following <= max(iteration + 1, math.ceil(1.05 * iteration))


def test_ten_thousand_iterations_are_looked_at_a_few_hundred_times():
    looks, at = 0, 0
    while at < 10_000:
        at, looks = next_look(at), looks + 1
    assert looks < 200


LAWS = {
    "linear": lambda k, arrival: math.exp(-8 * k / arrival),
    "power": lambda k, arrival: 1 / (k + 1) ** 0.5,
    "wavy": lambda k, arrival: (2 + math.sin(0.01 * k)) / (k + 1),
    "below zero": lambda k, arrival: -k / arrival,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("arrival", [7, 60, 993, 994, 1500, 3001])
def test_an_arrival_is_seen_at_most_one_percent_late_and_the_looks_before_stay(follow, law, arrival):
    values = [LAWS[law](k, arrival) for k in range(4000)]
    target = values[arrival]
    true = next(k for k, value in enumerate(values) if value <= target)

    class Signed(Line):
        def metrics(self, answer):
            return {"gap": answer if law != "below zero" else 5.0, "loss": answer}

    goal = {"loss": target}
    outcome, near = follow(Steps(values), Signed(), target=goal, budget=Budget(iterations=4000))
    _, plain = follow(Steps(values), Signed(), target={}, budget=Budget(iterations=4000))
    assert outcome.status is Status.REACHED
    assert true <= near[-1].iteration <= max(true, 1.011 * true)
    seen = {each.iteration: (each.value, each.cost) for each in near}
    usual = {each.iteration: (each.value, each.cost) for each in plain if each.iteration < near[-1].iteration}
    assert usual.items() <= seen.items()
    assert len(near) <= 1.2 * len(usual) + 15


def test_after_the_first_pass_answers_are_measured_at_the_ends_of_passes(follow):
    class Passes(Line):
        pass_cost = 10

    class Batches:
        """Three calls an iteration: no pass ends exactly with one."""

        def run(self, problem, rng):
            for answer in [0.9**k for k in range(500)]:
                yield answer
                problem.charge(3)

    budget = Budget(cost=500)
    _, plain = follow(halving(), Line(), target={}, budget=budget)
    _, records = follow(halving(), Passes(), target={}, budget=budget)
    costs = [each.cost for each in records]
    assert costs[:12] == [*range(11), 20]
    assert all(cost % 10 == 0 for cost in costs[11:])
    assert {each.cost for each in plain[11:]} - {each.cost for each in records}
    assert costs[-1] == 500
    _, records = follow(Batches(), Passes(), target={"gap": 0.9**40}, budget=budget)
    assert [each.cost for each in records][:7] == [0, 3, 6, 9, 12, 21, 30]
    assert records[-1].iteration == 40
    # the budget ends a trial inside of a pass too, and so does a method that is no longer counted
    _, records = follow(halving(), Passes(), target={}, budget=Budget(iterations=33))
    assert [each.iteration for each in records][-2:] == [30, 33]

    class Free(Steps):
        def run(self, problem, rng):
            for number, answer in enumerate(self.answers):
                if number < 16:
                    problem.value(answer)
                yield answer

    _, records = follow(
        Free([0.9**k for k in range(200)]), Passes(), target={}, budget=Budget(iterations=100)
    )
    assert max(np.diff([each.iteration for each in records])) <= 11 + 5

    class Wrong(Line):
        pass_cost = 0

    with pytest.raises(BenchfwError, match="pass_cost of Wrong must be above 0, got 0"):
        follow(halving(), Wrong())


def test_metrics_that_are_not_near_the_target_are_not_looked_at_more_often(follow):
    answers = [1.0 + 0.5 ** (k / 20) for k in range(2000)]
    looked = [
        [each.iteration for each in follow(Steps(answers), target=goal, budget=Budget(iterations=1999))[1]]
        for goal in ({}, {"gap": 0.9})
    ]
    assert looked[0] == looked[1]


@pytest.mark.parametrize("iterations", [1, 2, 37, 200])
def test_the_first_and_the_last_answer_are_measured(follow, iterations):
    outcome, records = follow(halving(), budget=Budget(iterations=iterations))
    assert outcome == Outcome(Status.DONE, Ending.ITERATIONS, f"budget of {iterations} iterations")
    assert (records[0].iteration, records[-1].iteration) == (0, iterations)
    assert [each.value for each in records] == [0.5**each.iteration for each in records]


def test_what_metrics_and_set_up_ask_of_the_problem_is_not_charged(follow):
    _, records = follow(halving(), budget=Budget(iterations=50))
    assert [each.cost for each in records] == [float(each.iteration) for each in records]


def test_how_the_cost_came_about_is_said(follow):
    class Charging(Steps):
        def run(self, problem, rng):
            for answer in self.answers:
                yield answer
                problem.charge(2)

    class Free(Steps):
        def run(self, problem, rng):
            problem.value(1.0)
            yield from self.answers

    class OneCall(Steps):
        def run(self, problem, rng):
            for number, answer in enumerate(self.answers):
                if number == 20:
                    problem.value(answer)
                yield answer

    class EverySecond(Steps):
        def run(self, problem, rng):
            for number, answer in enumerate(self.answers):
                if number % 2:
                    problem.value(answer)
                yield answer

    few, budget = halving().answers, Budget(iterations=37)
    outcome, records = follow(Charging(few), budget=budget)
    assert (outcome.counting, records[-1].cost) == (Counting.DECLARED, 74)
    outcome, records = follow(Free(few), budget=budget)
    assert (outcome.counting, records[-1].cost) == (Counting.UNCOUNTED, 1)
    assert follow(Free([1.0] * 50), budget=budget)[0].counting is Counting.COUNTED  # it got nowhere
    assert follow(OneCall(few), budget=budget)[0].counting is Counting.UNCOUNTED
    for counted in (halving(), EverySecond(few)):
        assert follow(counted, budget=budget)[0].counting is Counting.COUNTED


def test_a_clock_that_runs_backwards_is_a_fault(follow, monkeypatch):
    times = iter(range(10**6, 0, -100))
    monkeypatch.setattr("benchfw.measure.clock._host_timer", lambda: next(times))
    with pytest.raises(BenchfwError, match=r"the clock went from 0 to -\d+ seconds"):
        follow(halving())


def test_a_budget_of_cost_ends_the_trial_at_the_call_that_uses_it_up(follow):
    outcome, records = follow(halving(), budget=Budget(cost=33))
    assert outcome == Outcome(Status.DONE, Ending.COST, "budget of 33 calls")
    assert (records[-1].iteration, records[-1].cost) == (33, 33.0)


@pytest.mark.usefixtures("slept")
def test_a_method_is_charged_the_time_that_it_takes_and_a_budget_of_seconds_ends_the_trial(follow):
    class Slow:
        def run(self, problem, rng):
            while True:
                yield 1.0
                time.sleep(2.0)

    outcome, records = follow(Slow(), budget=Budget(seconds=5))
    assert outcome == Outcome(Status.DONE, Ending.SECONDS, "budget of 5 seconds")
    assert [each.seconds for each in records] == [0.0, 2.0, 4.0, 6.0]


def test_the_first_limit_that_is_met_ends_the_trial(follow):
    outcome, records = follow(halving(), budget=Budget(iterations=20, cost=7, seconds=60))
    assert outcome.reason == "budget of 7 calls"
    assert records[-1].iteration == 7


@pytest.mark.usefixtures("slept")
def test_time_in_metrics_is_not_on_the_clock(follow):
    _, records = follow(halving(), Line(pause=0.05), budget=Budget(iterations=5))
    assert [each.seconds for each in records] == [0.0] * 6


def test_the_target_ends_the_trial_as_reached(follow):
    outcome, records = follow(halving(), target={"gap": 0.01})
    assert outcome.status is Status.REACHED
    assert outcome.reason == "gap ≤ 0.01 at iteration 7"
    assert (records[-1].iteration, records[-1].value) == (7, 0.5**7)


def test_a_step_that_overspends_the_budget_by_more_than_a_hundredth_does_not_reach_the_target(follow):
    class Leap(Steps):
        def run(self, problem, rng):
            yield 1.0
            problem.charge(self.answers)
            yield 1e-9

    goal = {"gap": 0.01}
    late, _ = follow(Leap(5.0), target=goal, budget=Budget(cost=1))
    assert (late.status, late.ending) == (Status.DONE, Ending.COST)
    assert follow(Leap(1.005), target=goal, budget=Budget(cost=1))[0].status is Status.REACHED
    # the start is always looked at
    assert follow(Leap(5.0), target={"gap": 1.0}, budget=Budget(cost=1))[0].status is Status.REACHED


def test_a_target_of_two_metrics_needs_both(follow):
    outcome, _ = follow(halving(), target={"gap": 0.01, "steps": -1.0})
    assert outcome.status is Status.DONE


def test_a_target_that_is_no_metric_is_an_error_that_names_the_metrics(follow):
    with pytest.raises(BenchfwError, match="'gpa' is not a metric of this problem, which has gap, steps"):
        follow(halving(), target={"gpa": 0.01})


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_an_answer_that_is_not_finite_is_diverged_and_its_points_are_kept(follow, bad):
    outcome, records = follow(Steps([1.0, 2.0, bad, 3.0]))
    assert outcome.status is Status.DIVERGED
    assert outcome.reason == f"gap became {bad} at iteration 2"
    assert [each.iteration for each in records] == [0, 1, 2]


def test_an_oscillating_method_is_not_stopped_before_its_budget(follow):
    outcome, records = follow(Steps([1.0, 2.0] * 100), budget=Budget(iterations=150))
    assert outcome.reason == "budget of 150 iterations"
    assert records[-1].iteration == 150


@pytest.mark.parametrize("good", [1, 2, 3, 47])
def test_a_method_that_raises_keeps_the_answers_before_it_the_last_included(make_trial, good):
    records, emit = collector()
    method = Steps([1.0] * good, ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        measure_optimizer(make_trial(budget=Budget(iterations=100)), Line(), method, None, emit)
    assert max(each.iteration for each in records) == good - 1
    if good == 2:
        assert [each.iteration for each in records if each.metric == "gap"] == [0, 1]


def test_a_method_that_ends_by_itself_is_done_with_its_last_answer(follow):
    outcome, records = follow(Steps([1.0] * 44), budget=Budget(iterations=100))
    assert outcome == Outcome(Status.DONE, Ending.BY_ITSELF, "method ended by itself after 43 iterations")
    assert records[-1].iteration == 43


def test_a_method_that_ends_by_itself_at_the_target_has_reached_it(follow):
    outcome, _ = follow(Steps([1.0] * 43 + [0.0]), target={"gap": 0.5}, budget=Budget(iterations=100))
    assert outcome.status is Status.REACHED


def test_a_method_that_yields_nothing_has_failed_and_says_what_it_should_do(follow):
    outcome, records = follow(Steps([]))
    assert outcome.status is Status.FAILED
    assert "must yield the start first" in outcome.reason
    assert records == []


def test_a_method_is_closed_when_its_trial_is_over(follow):
    closed = []

    class Tidy:
        def run(self, problem, rng):
            try:
                while True:
                    yield 1.0
            finally:
                closed.append(True)

    follow(Tidy())
    assert closed == [True]


class Talking(float):
    """An answer that has a fact to tell."""

    def facts(self):
        return {"half": self / 2}


def test_the_facts_of_the_last_answer_are_recorded(make_trial):
    _, emit = collector()
    trial = make_trial(budget=Budget(iterations=2))
    steps = Steps([Talking(1.0), Talking(0.5), Talking(0.25)])
    assert measure_optimizer(trial, Line(), steps, None, emit).facts == {"half": 0.125}


class Bounded(Steps):
    bounds = "gap"

    def bound(self, problem, iterations):
        return np.where(iterations == 0, np.inf, 1.0 / np.maximum(iterations, 1))


def bounds_of(make_trial, method):
    records, emit = collector()
    measure_optimizer(make_trial(budget=Budget(iterations=30)), Line(), method, None, emit)
    gaps = [each for each in records if each.metric == "gap"]
    return tuple([each for each in gaps if each.role == role] for role in ("metric", "bound"))


def test_the_curve_of_a_theorem_is_recorded_beside_the_measured_points(make_trial):
    gaps, bounds = bounds_of(make_trial, Bounded([0.5**k for k in range(99)]))
    assert [each.value for each in bounds] == [1 / each.iteration for each in gaps[1:]]  # inf says nothing
    assert [(b.seconds, b.cost) for b in bounds] == [(g.seconds, g.cost) for g in gaps[1:]]


def test_a_theorem_that_says_nothing_gives_no_curve(make_trial):
    class Silent(Bounded):
        def bound(self, problem, iterations):
            return None

    assert bounds_of(make_trial, Silent([1.0] * 99))[1] == []


def test_a_bound_that_was_switched_off_is_none(make_trial):
    class Without(Bounded):
        bound = None

    assert bounds_of(make_trial, Without([1.0] * 99))[1] == []


def test_a_fault_in_a_theorem_does_not_hide_the_methods_own(make_trial):
    class Wrong(Bounded):
        def bound(self, problem, iterations):
            raise ZeroDivisionError("in the theorem")

    _, emit = collector()
    with pytest.raises(ValueError, match="mine"):
        measure_optimizer(make_trial(), Line(), Wrong([1.0], ValueError("mine")), None, emit)
