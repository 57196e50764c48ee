"""Solvers that do not yield: called with growing effort, or calling back."""

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar

import numpy as np
import pytest

from benchfw import CountedProblem, Smooth, from_callback
from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, PluginError, Unavailable
from benchfw.measure import meter, optimizers, solvers
from benchfw.measure.audit import check_outcome
from benchfw.measure.observer import SLOW_FIRST
from benchfw.measure.optimizers import checked_answers, measure_optimizer
from benchfw.measure.trial import collector, run_trial
from benchfw.records import Budget, Counting, Ending, Outcome, Record, Spec, Status, change
from benchfw.registry import Registry

NUMPY = get_backend("numpy")


class Line(CountedProblem):
    """A problem on the line: its gap is the size of the answer; a gradient costs one and sleeps."""

    cost_unit = "calls"

    def __init__(self, nap=0.0):
        self.backend, self.nap = NUMPY, nap
        self._count(5.0)

    def start(self):
        self._count(1)
        return np.ones(1)

    def grad(self, params):
        self._count(1)
        time.sleep(self.nap)
        return params

    def metrics(self, answer):
        time.sleep(7.0)
        self._count(3)
        return {"gap": float(abs(answer[0]))}


@dataclass(frozen=True)
class Halving:
    """Halves so many times; from its `ends` on, greater effort changes nothing."""

    ends: int = 10**9
    solves: ClassVar[type] = Smooth

    def solve(self, problem, rng, effort):
        x = problem.start()
        for _ in range(min(effort, self.ends)):
            x = x - 0.1 * problem.grad(x)
        return x


@pytest.fixture
def follow(make_trial, slept):
    """Return a function that measures an optimizer with a clock that goes on only by sleep."""

    def measured(method, problem=None, **changes):
        records, emit = collector()
        rng = NUMPY.rng(3)
        outcome = measure_optimizer(make_trial(**changes), problem or Line(), method, rng, emit)
        return outcome, records

    return measured


def test_each_point_is_the_time_and_the_cost_of_one_call_alone(follow):
    outcome, records = follow(Halving(), Line(nap=0.5), budget=Budget(iterations=20))
    assert [each.iteration for each in records] == [0, 1, 2, 3, 4, 6, 9, 13, 19, 20]
    assert [each.seconds for each in records] == [0.5 * each.iteration for each in records]
    assert [each.cost for each in records] == [0, *[each.iteration + 1.0 for each in records[1:]]]
    assert [each.value for each in records] == pytest.approx([0.9**each.iteration for each in records])
    assert (outcome.status, outcome.ending, outcome.from_scratch) == (Status.DONE, Ending.ITERATIONS, True)


@pytest.mark.parametrize("arrival", [1, 5, 8, 37, 300])
def test_efforts_between_are_tried_until_the_first_that_meets_the_target_is_known(follow, arrival):
    goal = {"gap": 0.9**arrival * (1 + 1e-9)}
    outcome, records = follow(Halving(), target=goal, budget=Budget(iterations=10**6))
    assert outcome.status is Status.REACHED
    values = {each.iteration: each.value for each in records}
    enough = min(effort for effort, value in values.items() if value <= goal["gap"])
    short = max(effort for effort, value in values.items() if value > goal["gap"])
    assert short < arrival <= enough <= short + max(1, 0.05 * enough)
    assert outcome.reason.endswith(f"at effort {enough}")
    assert len(records) == len(values)
    assert check_outcome(change(outcome, records=tuple(records)), 1e9).status is Status.REACHED


def test_a_budget_counts_the_last_call_alone_and_is_used_up_to_a_twentieth(follow):
    outcome, records = follow(Halving(), Line(nap=0.1), budget=Budget(seconds=10.0))
    assert outcome.ending is Ending.SECONDS
    within = [each.seconds for each in records if each.seconds <= 10]
    assert max(within) >= 9.4
    outcome, records = follow(Halving(), budget=Budget(cost=100.0))
    assert outcome.ending is Ending.COST
    assert max(each.cost for each in records if each.cost <= 100) >= 95


def test_all_calls_together_have_a_limit_of_their_own(follow):
    class Slow(Halving):
        def solve(self, problem, rng, effort):
            time.sleep(0.9)
            return super().solve(problem, rng, effort)

    outcome, records = follow(Slow(), budget=Budget(seconds=1.0))
    assert (outcome.status, outcome.ending) == (Status.DONE, Ending.SECONDS)
    assert outcome.reason == "6 times the budget of 1 seconds, all calls together"
    assert sum(each.seconds for each in records) == pytest.approx(6.3)


def test_a_solver_that_has_converged_is_not_called_for_ever(follow):
    outcome, records = follow(Halving(ends=5), budget=Budget(cost=1e9))
    assert outcome.ending is Ending.BY_ITSELF
    assert outcome.reason == "the answer is the same from effort 6 to 28"
    assert records[-1].cost == 6


def test_a_solver_may_have_efforts_of_its_own(follow):
    class Digits(Halving):
        efforts = (2, 20, 200)

    outcome, records = follow(Digits(), budget=Budget(iterations=10**6))
    assert [each.iteration for each in records] == [0, 2, 20, 200]
    assert (outcome.ending, outcome.reason) == (Ending.BY_ITSELF, "the last of its efforts is 200")
    outcome, records = follow(Digits(), target={"gap": 0.5}, budget=Budget(iterations=10**6))
    assert records[-1].iteration == 20
    for wrong, words in (
        ((3, 2), "2 comes after 3"),
        ((0,), "0 comes after 0"),
        ((), "are empty"),
        (7, "got 7"),
    ):
        with pytest.raises(PluginError, match=words):
            follow(type("Wrong", (Halving,), {"efforts": wrong})())


def test_every_call_gets_the_same_random_numbers(follow):
    drawn = []

    class Drawing(Halving):
        def solve(self, problem, rng, effort):
            drawn.append((float(rng.random()), float(np.random.random())))  # noqa: NPY002
            return super().solve(problem, rng, effort)

    follow(Drawing(), budget=Budget(iterations=9))
    assert len(drawn) == 6
    assert len(set(drawn)) == 1


def test_a_problem_without_a_start_has_no_point_at_effort_0(follow):
    class Free(Line):
        start = property()

    class Ones(Halving):
        def solve(self, problem, rng, effort):
            problem.grad(1.0)
            return np.full(1, 1.0 / effort)

    _, records = follow(Ones(), Free(), budget=Budget(iterations=4))
    assert [each.iteration for each in records] == [1, 2, 3, 4]


def test_a_call_that_returns_nothing_is_a_fault(follow):
    with pytest.raises(PluginError, match=r"solve\(\) of Silent returned None; return the answer"):
        follow(type("Silent", (Halving,), {"solve": lambda *_: None})())


@from_callback
def descend(problem, rng, callback, most: int = 10**9):
    """Descend, and write into one array."""
    x = problem.start()
    for _ in range(most):
        x -= 0.1 * problem.grad(x)
        callback(x, "more", that="is ignored")
    return "ignored"


@dataclass(frozen=True)
class Descend:
    """The same as a class."""

    step: float = 0.1
    solves: ClassVar[type] = Smooth

    @from_callback
    def run(self, problem, rng, callback):
        x = problem.start()
        while True:
            x = x - self.step * problem.grad(x)
            callback(x)


@dataclass(frozen=True)
class Yielding:
    """The same as a generator."""

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - 0.1 * problem.grad(x)


class Passes(Line):
    """The same with passes of eight calls."""

    pass_cost = 8


@pytest.mark.parametrize("problem", [Line, Passes])
@pytest.mark.parametrize("limits", [Budget(iterations=200), Budget(seconds=11.0), Budget(cost=77.0)])
def test_a_callback_measures_what_a_generator_would_and_the_clock_stands_still_meanwhile(
    follow, limits, problem
):
    outcome, expected = follow(Yielding(), problem(nap=0.25), budget=limits)
    for method in (descend(), Descend()):
        found, records = follow(method, problem(nap=0.25), budget=limits)
        assert found == outcome
        # the start is the solver's: what it asks for there is not in iteration 0
        assert [each.cost for each in records[1:]] == [each.cost for each in expected[1:]]
        assert [(each.iteration, each.seconds, each.value) for each in records] == [
            (each.iteration, each.seconds, each.value) for each in expected
        ]


def test_a_solver_that_calls_back_ends_at_the_target_by_itself_or_by_a_fault(follow):
    outcome, _ = follow(descend(), target={"gap": 0.5}, budget=Budget(iterations=100))
    assert (outcome.status, outcome.reason) == (Status.REACHED, "gap ≤ 0.5 at iteration 7")
    outcome, records = follow(descend(most=43), budget=Budget(iterations=100))
    assert outcome.reason == "method ended by itself after 43 iterations"
    assert records[-1].iteration == 43
    outcome, _ = follow(descend(most=0), budget=Budget(iterations=100))
    assert (outcome.status, "without calling back" in outcome.reason) == (Status.FAILED, True)

    @from_callback
    def stumble(problem, rng, callback):
        descend(most=43).run.solve(problem, rng, callback)
        raise ZeroDivisionError("the solver's own")

    with pytest.raises(ZeroDivisionError, match="the solver's own"):
        follow(stumble(), budget=Budget(iterations=100))


@dataclass(frozen=True)
class InPlace:
    """Descends in one array, spoils it after the last answer, and returns or raises."""

    wrap: Callable = lambda x: x
    raises: bool = False

    def run(self, problem, rng):
        x = problem.start()
        yield self.wrap(x)
        for _ in range(43):
            x -= 0.1 * problem.grad(x)
            yield self.wrap(x)
        x += 1e4
        if self.raises:
            raise ZeroDivisionError("in the middle of a step")


@dataclass(frozen=True)
class InPlaceCallingBack(InPlace):
    """The same, calling back."""

    @from_callback
    def run(self, problem, rng, callback):
        answers = InPlace.run(self, problem, rng)
        next(answers)  # the start
        for answer in answers:
            callback(answer)


class Wrapped(Line):
    """A problem whose answers are tuples, or tables, of arrays."""

    def metrics(self, answer):
        (x,) = answer.values() if isinstance(answer, dict) else answer
        return super().metrics(x)


@pytest.mark.parametrize("kind", [InPlace, InPlaceCallingBack])
@pytest.mark.parametrize(
    ("wrap", "problem"),
    [
        (lambda x: x, Line),
        (lambda x: x[:], Line),
        (lambda x: (x,), Wrapped),
        (lambda x: {"x": x}, Wrapped),
    ],
    ids=["array", "view", "tuple", "dict"],
)
def test_the_last_answer_is_measured_as_it_was_before_the_solver_overwrote_it(follow, kind, wrap, problem):
    outcome, records = follow(kind(wrap), problem(), budget=Budget(iterations=100))
    assert (outcome.status, outcome.ending) == (Status.DONE, Ending.BY_ITSELF)
    assert (records[-1].iteration, records[-1].value) == (43, pytest.approx(0.9**43))


@pytest.mark.parametrize("kind", [InPlace, InPlaceCallingBack])
def test_a_solver_that_spoils_its_last_answer_and_raises_keeps_what_it_had(make_trial, slept, kind):
    records, emit = collector()
    with pytest.raises(ZeroDivisionError):
        measure_optimizer(
            make_trial(budget=Budget(iterations=100)), Line(), kind(raises=True), NUMPY.rng(3), emit
        )
    assert (records[-1].iteration, records[-1].value) == (43, pytest.approx(0.9**43))


@pytest.mark.parametrize("kind", [InPlace, InPlaceCallingBack])
def test_copies_of_answers_that_are_overwritten_take_none_of_the_time(follow, monkeypatch, kind):
    def copy_slowly(answer):
        time.sleep(3.0)
        return np.array(answer)

    for module in (meter, optimizers, solvers):
        monkeypatch.setattr(module, "copy_answer", copy_slowly)
    _, records = follow(kind(), Line(nap=0.25), budget=Budget(iterations=30))
    assert [each.seconds for each in records] == [0.25 * each.iteration for each in records]


def test_a_fault_of_the_harness_passes_through_a_solver_that_catches_everything(follow):
    @from_callback
    def deaf(problem, rng, callback):
        for answer in (np.ones(1), np.ones(2), np.ones(1), np.ones(1)):
            with contextlib.suppress(BaseException):  # as some libraries do
                callback(answer)

    with pytest.raises(BenchfwError, match=r"answer 2 has shape \(2,\), the start has \(1,\)"):
        follow(deaf())


def test_a_first_step_that_sets_something_up_is_a_caveat_unless_it_is_prepared(follow):
    @dataclass(frozen=True)
    class Compiling(Yielding):
        first: float = 3.0
        calls: int = 0

        def run(self, problem, rng):
            for number, x in enumerate(super().run(problem, rng)):
                if number == 1:
                    time.sleep(self.first)
                    for _ in range(self.calls):
                        problem.grad(x)
                yield x

    assert follow(Compiling(), Line(0.01))[0].caveats == (SLOW_FIRST,)
    assert follow(Compiling(0.05), Line(0.01))[0].caveats == ()  # not worth a word
    assert follow(Compiling(calls=30), Line(0.01))[0].caveats == ()  # its cost explains it

    class Slow(Halving):
        def solve(self, problem, rng, effort):
            time.sleep(3.0 * (effort == 1))
            return super().solve(problem, rng, effort)

    assert follow(Slow(), Line(0.01))[0].caveats == (SLOW_FIRST,)
    assert follow(Halving(), Line(0.01))[0].caveats == ()


def test_what_is_not_installed_skips_the_trial_with_what_to_install(plugin_file, toys, make_trial):
    path = plugin_file(
        "from dataclasses import dataclass\n"
        "from benchfw import Smooth, Unavailable, hookimpl\n\n\n"
        "@dataclass(frozen=True)\nclass Absent:\n    solves = Smooth\n\n"
        "    def solve(self, problem, rng, effort):\n"
        "        raise Unavailable('glmnet is not installed; pip install glmnet')\n\n\n"
        "@hookimpl\ndef register_optimizers(register):\n    register('absent', Absent)\n",
        "absent.py",
    )
    registry = Registry([str(path), str(toys)])
    _, emit = collector()
    outcome = run_trial(make_trial(method=Spec("absent", {}, "absent")), registry, emit)
    assert (outcome.status, outcome.ending) == (Status.SKIPPED, Ending.ABSENT)
    assert outcome.reason == "glmnet is not installed; pip install glmnet"
    assert isinstance(Unavailable("x"), BenchfwError)


def test_answers_of_solvers_can_be_asked_for_one_by_one():
    problem = Line()
    problem.metrics = lambda answer: {"gap": float(abs(answer[0]))}
    found = [float(each[0]) for each in islice(checked_answers(Halving(), problem, NUMPY.rng(1)), 6)]
    assert found == pytest.approx([0.9**effort for effort in (0, 1, 2, 3, 4, 6)])


def test_calls_from_scratch_may_take_less_time_than_those_before_but_come_once_each():
    taken = tuple(Record("gap", *each) for each in ((9, 2.0, 9.0, 0.1), (7, 3.0, 7.0, 0.2)))
    outcome = Outcome(Status.DONE, Ending.ITERATIONS, records=taken)
    assert check_outcome(outcome, 10.0).status is Status.FAILED
    assert check_outcome(change(outcome, from_scratch=True), 10.0).status is Status.DONE
    twice = change(outcome, from_scratch=True, records=(*taken, taken[0]))
    assert check_outcome(twice, 10.0).reason == "gap of effort 9 was recorded 2 times"


@dataclass(frozen=True)
class FromItsOwnStart:
    """Answers effort + 5: a start that the problem does not know."""

    solves: ClassVar[type] = Smooth
    first: ClassVar[int] = 0

    def solve(self, problem, rng, effort):
        problem.grad(np.ones(1))
        return np.full(1, effort + 5.0)


def test_a_solver_that_begins_with_its_start_is_called_with_effort_0_first(follow):
    outcome, records = follow(FromItsOwnStart(), budget=Budget(iterations=4))
    assert [(each.iteration, each.value) for each in records] == [(0, 5), (1, 6), (2, 7), (3, 8), (4, 9)]
    assert outcome.ending is Ending.ITERATIONS


def test_an_answer_that_stays_the_start_ends_the_calls_at_effort_4(follow):
    class Idle(FromItsOwnStart):
        def solve(self, problem, rng, effort):
            return np.ones(1)

    outcome, records = follow(Idle())
    assert [each.iteration for each in records] == [0, 1, 2, 3, 4]
    assert outcome.ending is Ending.BY_ITSELF


@dataclass(frozen=True)
class CallsWithItsStart:
    """Calls back with its start, then with 1, 2, 3."""

    solves: ClassVar[type] = Smooth
    first: ClassVar[int] = 0

    @from_callback
    def run(self, problem, rng, callback):
        for step in range(4):
            callback(np.full(1, float(step)))


def test_the_first_callback_of_a_solver_that_begins_with_its_start_is_iteration_0(follow):
    _, records = follow(CallsWithItsStart())
    assert [(each.iteration, each.value) for each in records] == [(0, 0), (1, 1), (2, 2), (3, 3)]
    answers = checked_answers(CallsWithItsStart(), Line(), NUMPY.rng(0))
    assert [float(each[0]) for each in answers] == [0, 1, 2, 3]


def test_what_prepares_a_call_is_off_the_clock_and_not_counted(follow):
    class Compiled(Halving):
        def prepare_call(self, problem, effort):
            time.sleep(3.0)
            problem.grad(np.ones(1))

    _, records = follow(Compiled(), Line(nap=0.5), budget=Budget(iterations=2))
    assert [(each.seconds, each.cost) for each in records] == [(0, 0), (0.5, 2), (1, 3)]


@pytest.mark.parametrize("first", [2, -1, True])
def test_the_first_answer_is_number_0_or_1(follow, first):
    class Wrong(Halving):
        pass

    Wrong.first = first
    with pytest.raises(PluginError, match="first of Wrong must be 0 or 1"):
        follow(Wrong())


def test_the_cost_of_a_single_call_that_asks_for_nothing_is_not_counted(follow):
    @dataclass(frozen=True)
    class Once:
        solves: ClassVar[type] = Smooth
        efforts: ClassVar[tuple[int, ...]] = (1,)

        def solve(self, problem, rng, effort):
            return np.ones(1)

    outcome, _ = follow(Once())
    assert outcome.counting is Counting.UNCOUNTED
