"""Answers are like the start, and what is measured of them is true of a problem that no method has seen."""

import math
from itertools import count
from typing import ClassVar

import numpy as np
import pytest
from fixtures.lines import Line, Steps, halving
from scipy.sparse import csr_matrix

from benchfw import CountedProblem, clip_gap, from_callback
from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, PluginError, Untrue
from benchfw.measure.audit import Rebuild
from benchfw.measure.endings import explain
from benchfw.measure.observer import OTHER_START
from benchfw.records import Budget, Ending, Status


def test_answers_are_compared_with_the_problems_start(follow):
    with pytest.raises(BenchfwError, match=r"answer 0 has shape \(1,\), the start has \(\)"):
        follow(Steps([np.ones(1)] * 5))
    with pytest.raises(PluginError, match="an answer is None; yield the parameters, as in `yield x`"):
        follow(Steps([None] * 5))
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
