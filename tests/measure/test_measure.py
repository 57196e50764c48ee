"""What is measured, when, and how a trial ends."""

import math
import time
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from benchfw import CountedProblem, clip_gap, from_callback
from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, PluginError, Untrue
from benchfw.measure.audit import Rebuild
from benchfw.measure.endings import explain
from benchfw.measure.meter import next_look
from benchfw.measure.observer import OTHER_START
from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Counting, Ending, Outcome, Status


class Line(CountedProblem):
    """A problem on the line: the answer is a number, its gap is its size; every oracle call costs one."""

    cost_unit = "calls"

    def __init__(self, pause=0.0):
        self.backend, self.pause, self.optimum = get_backend("numpy"), pause, 0.0
        self._count(5.0)

    def start(self):
        self._count(1)
        return 1.0

    def value(self, params):
        self._count(1)
        return params

    def metrics(self, answer):
        time.sleep(self.pause)
        return {"gap": abs(self.value(answer)), "steps": 0.0}


class Steps:
    """An optimizer that yields the answers given, one oracle call each, and then raises or ends."""

    def __init__(self, answers, fault=None):
        self.answers, self.fault = answers, fault

    def run(self, problem, rng):
        for number, answer in enumerate(self.answers):
            if number:
                problem.value(answer)
            yield answer
        if self.fault:
            raise self.fault


def halving():
    return Steps([0.5**k for k in range(2000)])


@pytest.fixture
def follow(make_trial):
    """Return a function that measures an optimizer; it gives the outcome and the records of the gap."""

    def measured(method, problem=None, rebuild=None, **changes):
        records, emit = collector()
        outcome = measure_optimizer(make_trial(**changes), problem or Line(), method, None, emit, rebuild)
        return outcome, [each for each in records if each.metric == "gap"]

    return measured


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


def test_answers_are_compared_with_the_problems_start(follow):
    with pytest.raises(BenchfwError, match=r"answer 0 has shape \(1,\), the start has \(\)"):
        follow(Steps([np.ones(1)] * 5))
    with pytest.raises(BenchfwError, match=r"answer 2 has complex numbers, the start has real ones"):
        follow(Steps([1.0, 0.5, 0.5j, 0.1]))


def test_a_trial_that_ends_far_above_its_start_has_diverged(follow):
    outcome, records = follow(Steps([1.0, 0.5, 20.0, 30.0]))
    assert (outcome.status, outcome.ending) == (Status.DIVERGED, Ending.BLOWN_UP)
    assert records[-1].iteration == 3
    outcome, _ = follow(Steps([1.0, 3.0, 0.5]))
    assert outcome.status is Status.DONE
    assert outcome.caveats == ("gap was above 2 times its start for a while",)


class Wrong(Line):
    """Its reference is 0.25, though the least is 0; `depth` cannot be below -1 by definition."""

    limits: ClassVar = {"depth": -1.0}

    def metrics(self, answer):
        return {"gap": clip_gap(answer - 0.25, 0.25), "depth": -answer}


def test_a_metric_beyond_its_limit_is_a_fault(follow):
    with pytest.raises(Untrue, match=r"gap is -0.125 at iteration 3, and it cannot be below 0: "):
        follow(halving(), Wrong())
    with pytest.raises(Untrue, match=r"depth is -2 at iteration 1, and it cannot be below -1"):
        follow(Steps([1.0, 2.0]), Wrong())
    records = follow(Steps([1.0, 0.25 - 1e-12]), Wrong())[1]
    assert records[-1].value == 0  # rounding


def test_what_rounding_explains_goes_by_the_size_of_now_and_hardly_by_that_of_the_start(follow):
    class Steep(Line):
        def metrics(self, answer):
            return {"gap": answer}

    with pytest.raises(Untrue, match=r"gap is -7 at iteration 1, and it cannot be below 0"):
        follow(Steps([9e9, -7.0]), Steep())
    assert follow(Steps([9e9, -1e-3]), Steep())[0].status is Status.DONE  # terms of 9e9 that cancel
    single = [np.float32(9e9), np.float32(-7.0)]
    assert follow(Steps(single), Steep())[0].status is Status.DONE


class Movable(Line):
    def metrics(self, answer):
        return {"gap": float(np.abs(answer - self.optimum).max())}


class Plane(Movable):
    def start(self):
        return np.ones(2)


class Angled(Plane):
    """Has an angle to the start, which the start itself has not."""

    def metrics(self, answer):
        return {"loss": float(answer[0] - self.optimum), "angle": math.nan if answer[0] == 1 else 0.0}


class Strict(Plane):
    """Does not take an answer that is not finite."""

    def metrics(self, answer):
        return super().metrics(np.asarray_chkfinite(answer))


class Startless(CountedProblem):
    backend, optimum, metrics = get_backend("numpy"), 0.0, Movable.metrics


class Breaking:
    """Halves its answer, changes the problem or an answer that it gave, and raises or yields NaN."""

    def __init__(self, *changes, ends="raises", start=1.0, fault=None):
        self.changes, self.ends, self.start = changes, ends, start
        self.fault = fault or FloatingPointError("underflow")

    def run(self, problem, rng):
        x = np.full(2, self.start)
        for _ in range(4):
            yield x
            x = x / 2
            if "each step" in self.changes:
                problem.optimum = x.copy()
        if "once" in self.changes:
            problem.optimum = x.copy()
            yield x
        if "answer" in self.changes:
            yield x
            x *= 3
        if self.ends == "diverges":
            yield x * np.nan
        if self.ends == "overwrites":
            yield x
            x *= np.nan
            yield x
        if self.ends == "reshapes":
            yield x[None]
        if self.ends == "exits":
            raise SystemExit(3)
        raise self.fault


def test_the_last_answer_is_measured_again_on_a_problem_that_the_method_has_not_seen(follow):
    class Tampering(Steps):
        def run(self, problem, rng):
            for answer in self.answers:
                yield answer
                problem.optimum = answer / 2

    def check(method, build, seconds=0.0):
        return follow(method, Movable(), budget=Budget(iterations=3), rebuild=Rebuild(build, seconds))

    assert check(halving(), Movable)[0].status is Status.DONE
    sentence = r"gap of the last answer is 0, and 0.0625 on the same problem built again from its seed"
    with pytest.raises(Untrue, match=sentence):
        check(Tampering([0.5**k for k in range(1, 9)]), Movable)
    assert (
        check(Tampering(halving().answers), Movable, 2.0)[0].status is Status.DONE
    )  # too slow to build again

    def fail():
        raise OSError("no more data")

    (caveat,) = check(halving(), fail)[0].caveats
    assert "not checked on a problem built again (OSError: no more data)" in caveat


@pytest.mark.parametrize("changes", [("once",), ("each step",), ("once", "answer")])
@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("raises", "built again from its seed: .*; and then: FloatingPointError: underflow"),
        ("exits", "built again from its seed: .*; and then: SystemExit: 3"),
        ("diverges", "of the last finite answer is .* built again from its seed"),
        ("overwrites", "of the (start|last finite answer) is .* built again from its seed"),
        ("reshapes", "built again from its seed: .*; and then: answer . has shape"),
    ],
)
def test_a_method_that_changes_its_problem_before_it_breaks_has_untrue_records(follow, changes, ends, said):
    with pytest.raises(Untrue, match=said):
        follow(Breaking(*changes, ends=ends), Plane(), rebuild=Rebuild(Plane, 0.0))


@pytest.mark.parametrize("changes", [(), ("answer",)])
def test_a_method_that_breaks_on_a_problem_as_it_was_has_a_fault_of_its_own(follow, changes):
    with pytest.raises(FloatingPointError, match="underflow"):
        follow(Breaking(*changes), Plane(), rebuild=Rebuild(Plane, 0.0))
    diverged = follow(Breaking(*changes, ends="diverges"), Plane(), rebuild=Rebuild(Plane, 0.0))[0]
    assert diverged.status is Status.DIVERGED


class Unprintable(ValueError):
    def __str__(self):
        raise ValueError("cannot be printed")


@pytest.mark.parametrize("fault", [FloatingPointError("underflow"), Unprintable(), RuntimeError("x" * 3000)])
def test_the_fault_after_a_change_of_the_problem_is_explained_like_any_other(follow, fault):
    with pytest.raises(Untrue) as raised:
        follow(Breaking("once", fault=fault), Plane(), rebuild=Rebuild(Plane, 0.0))
    assert str(raised.value).endswith(f"; and then: {explain(fault)}")


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            {"size": 1.0, "gap": np.ones(5)},
            r"gives an array of shape \(5,\) for gap; each metric is one number",
        ),
        ({"gap": "small"}, "gives a str for gap"),
        (None, "returned None; return a number for each name"),
    ],
)
def test_metrics_that_are_not_numbers_are_named_with_the_method_that_gives_them(follow, found, said):
    class Wrong(Line):
        def metrics(self, answer):
            return found

    with pytest.raises(PluginError, match=rf"metrics\(\) of Wrong {said}"):
        follow(halving(), Wrong())


def test_an_answer_that_cannot_be_measured_is_compared_with_the_start(follow):
    with pytest.raises(BenchfwError, match=r"answer 0 is tuple, the start is numpy's ndarray; yield answers"):
        follow(Steps([(0, np.ones(2))]), Strict())


def test_metrics_that_fail_on_the_start_too_are_not_blamed_on_the_kind_of_the_answer(follow):
    class Broken(Plane):
        def metrics(self, answer):
            raise ArithmeticError("no metrics yet")

    with pytest.raises(ArithmeticError, match="no metrics yet"):
        follow(Steps([(0, np.zeros(6))]), Broken())


@pytest.mark.parametrize(
    ("first", "caveats"),
    [(np.ones(2), ()), (np.array([1.0, 0.5]), (OTHER_START,))],
)
def test_a_method_that_does_not_yield_the_start_first_gets_a_caveat(follow, first, caveats):
    assert follow(Steps([first, np.zeros(2)]), Plane())[0].caveats == caveats


@pytest.mark.parametrize(
    ("start", "first", "caveats"),
    [
        (np.full(2, 0.1), np.full(2, 0.1, dtype=np.float32), ()),
        (np.array([0.1, math.nan]), np.array([0.1, math.nan]), ()),
        (np.array([0.1, math.nan]), np.array([0.2, math.nan]), (OTHER_START,)),
        (csr_matrix([[0.0, 0.1]]), csr_matrix([[0.0, 0.1]]), ()),
        (csr_matrix([[0.0, 0.1]]), csr_matrix([[0.0, 0.2]]), (OTHER_START,)),
    ],
)
def test_a_start_may_be_sparse_have_holes_or_come_back_in_single_precision(follow, start, first, caveats):
    class There(Plane):
        def start(self):
            return start.copy()

        def metrics(self, answer):
            return {"gap": 1.0}

    found, _ = follow(Steps([first, first]), There())
    assert (found.status, found.caveats) == (Status.DONE, caveats)


def test_an_answer_of_another_kind_than_the_start_may_come_first(follow):
    class Lists(Plane):
        def metrics(self, answer):
            return super().metrics(np.asarray(answer))

    assert follow(Steps([[0.5, 0.5]]), Lists())[0].caveats == ()
    assert follow(Steps([0.5]), Startless())[0].caveats == ()


def test_a_fault_of_metrics_stays_what_it_is_once_answers_were_measured(follow):
    class Lists(Plane):
        def metrics(self, answer):
            if answer == [0.0, 0.0]:
                raise ArithmeticError("the logarithm of 0")
            return {"gap": 1.0}

    with pytest.raises(ArithmeticError, match="the logarithm of 0"):
        follow(Steps([[1.0, 1.0], [0.0, 0.0]]), Lists())


def test_a_solver_may_have_a_start_of_its_own(follow):
    class Own:
        first = 0

        @from_callback
        def run(self, problem, rng, callback):
            callback(np.zeros(2))

    assert follow(Own(), Plane())[0].caveats == ()


def test_metrics_that_are_not_finite_show_no_change_of_the_problem(follow):
    rebuild = Rebuild(Angled, 0.0)
    outcome = follow(Breaking(), Angled(), rebuild=rebuild)[0]
    assert (outcome.status, outcome.reason) == (Status.DIVERGED, "angle became nan at iteration 0")
    with pytest.raises(FloatingPointError, match="underflow"):
        follow(Breaking(start=0.5), Angled(), rebuild=rebuild)
    overwriting = Breaking(start=0.5, ends="overwrites")
    assert follow(overwriting, Angled(), rebuild=rebuild)[0].status is Status.DIVERGED


def test_metrics_that_refuse_what_was_written_into_an_answer_are_taken_of_the_start(follow):
    with pytest.raises(Untrue, match=r"of the start is .*; and then: ValueError: array must not contain"):
        follow(Breaking("each step", ends="overwrites"), Strict(), rebuild=Rebuild(Strict, 0.0))
    changing = Breaking("each step", ends="overwrites")
    assert follow(changing, Startless(), rebuild=Rebuild(Startless, 0.0))[0].status is Status.DIVERGED


@pytest.mark.parametrize("ends", ["raises", "diverges"])
def test_a_method_that_breaks_is_checked_if_one_that_finishes_would_be(follow, monkeypatch, ends):
    method = Breaking("once", ends=ends)
    with pytest.raises(Untrue):
        follow(method, Plane(), rebuild=Rebuild(Plane, 0.9))

    def is_unchecked(seconds):
        try:
            return follow(method, Plane(), rebuild=Rebuild(Plane, seconds))[0].status is Status.DIVERGED
        except FloatingPointError:
            return True

    assert is_unchecked(2.0)
    monkeypatch.setattr("benchfw.measure.observer.perf_counter", count(step=2.0).__next__)
    assert is_unchecked(0.0)


def test_a_method_that_breaks_before_anything_is_measured_has_no_records_that_could_be_untrue(follow):
    class Early(Steps):
        def run(self, problem, rng):
            problem.optimum = 0.5
            yield from super().run(problem, rng)

    with pytest.raises(ValueError, match="mine"):
        follow(Early([], ValueError("mine")), Plane(), rebuild=Rebuild(Plane, 0.0))


@pytest.mark.parametrize(("at_start", "later", "off"), [(1.0, 1.0, 1e-9), (1.0, 1e6, 1e-4), (1e9, 1.0, 1e-4)])
def test_what_rounding_explains_shows_no_change_of_the_problem(follow, at_start, later, off):
    class Sized(Plane):
        def __init__(self, optimum=0.0):
            super().__init__()
            self.optimum = optimum

        def metrics(self, answer):
            return {**super().metrics(answer), "size": at_start if answer[0] == 1 else later}

    with pytest.raises(FloatingPointError, match="underflow"):
        follow(Breaking(), Sized(), rebuild=Rebuild(lambda: Sized(off), 0.0))
    with pytest.raises(Untrue):
        follow(Breaking(), Sized(), rebuild=Rebuild(lambda: Sized(100 * off), 0.0))


@pytest.mark.parametrize("ends", ["finishes", "raises"])
def test_a_shared_array_that_is_changed_and_locked_is_a_change_of_the_problem(follow, ends):
    table = np.zeros(2)

    class Locking:
        def run(self, problem, rng):
            yield np.ones(2)
            table[:] = 0.5
            table.flags.writeable = False
            if ends == "raises":
                raise FloatingPointError("underflow")

    with pytest.raises(Untrue, match="changed and cannot be put back"):
        follow(Locking(), Plane(), rebuild=Rebuild(Plane, 0.0, [table]))


def test_a_diverged_trial_says_so_if_its_problem_cannot_be_built_again(follow):
    def fail():
        raise OSError("no more data")

    (caveat,) = follow(Breaking(ends="diverges"), Plane(), rebuild=Rebuild(fail, 0.0))[0].caveats
    assert "not checked on a problem built again (OSError: no more data)" in caveat


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
