"""Optimizers made of solvers that call back."""

import pickle
import threading
from itertools import islice

import numpy as np
import pytest

from benchfw import Count, CountedProblem, FiniteSum, Smooth, from_callback
from benchfw.errors import PluginError
from benchfw.parameters import meanings_of, parameters_of


class Line(CountedProblem):
    def start(self):
        return 1.0


@from_callback
def halve(problem, rng, callback, times: Count = 100, *, by: float = 2.0):
    """Divide by a number.

    Parameters:
      times: how often.
      by: the number.
    """
    x = problem.start()
    for _ in range(times):
        x /= by
        callback(x)


class Halve:
    """The same as a class."""

    @from_callback
    def run(self, problem, rng, callback):
        halve().run.solve(problem, rng, callback)


def test_a_function_becomes_a_frozen_dataclass_with_its_own_parameters():
    assert list(parameters_of(halve)) == ["times", "by"] == list(meanings_of(halve))
    assert (halve.solves, halve.projects, halve.__name__) == (Smooth, False, "halve")
    method = halve(by=4.0)
    assert pickle.loads(pickle.dumps(method)) == method
    assert list(islice(method.run(Line(), None), 3)) == [1.0, 0.25, 0.0625]
    with pytest.raises(AttributeError):
        method.by = 1.0
    other = from_callback(solves=FiniteSum, projects=True)(lambda problem, rng, callback: callback(3.0))
    assert (other.solves, other.projects) == (FiniteSum, True)
    assert list(other().run(Line(), None)) == [1.0, 3.0]


def test_a_generator_of_its_answers_ends_the_solver_and_its_thread_with_it():
    threads = threading.active_count()
    answers = Halve().run(Line(), None)
    assert [next(answers) for _ in range(4)] == [1.0, 0.5, 0.25, 0.125]
    answers.close()
    assert threading.active_count() == threads
    assert len(list(Halve().run(Line(), None))) == 101
    fault = from_callback(lambda problem, rng, callback: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        list(fault().run(Line(), None))
    assert threading.active_count() == threads


def test_answers_stay_what_they_are_when_the_solver_writes_into_them():
    def count_up(problem, rng, callback):
        x = np.zeros(2)
        for _ in range(3):
            x += 1
            callback(x)

    assert [each[0] for each in list(from_callback(count_up)().run(object(), None))] == [1.0, 2.0, 3.0]


def test_a_function_without_a_place_for_the_callback_is_refused():
    with pytest.raises(PluginError, match=r"solve takes \(problem, rng\); from_callback needs a function of"):

        @from_callback
        def solve(problem, rng): ...
