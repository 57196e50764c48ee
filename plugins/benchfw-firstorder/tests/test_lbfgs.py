"""SciPy's L-BFGS-B as a generator."""

from __future__ import annotations

import threading
import time
from itertools import islice

import numpy as np
import pytest

from benchfw_firstorder import LBFGS, BoxLeastSquares, LeastSquares, LogisticRegression, Quadratic
from benchfw_firstorder.optimizers.lbfgs import iterates


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "lbfgs"]


def test_lbfgs_finds_the_optimum_and_ends(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    found = list(LBFGS().run(problem, backend.rng(1)))
    np.testing.assert_array_equal(found[0], problem.start())
    assert problem.metrics(found[-1])["gap"] < 1e-14
    assert len({x.tobytes() for x in found}) == len(found)
    assert not threads()


def test_lbfgs_keeps_to_the_box(backend):
    problem = BoxLeastSquares(backend, backend.rng(1), samples=100, features=10)
    found = list(LBFGS().run(problem, backend.rng(1)))
    assert problem.metrics(found[-1])["gap"] < 1e-10


def test_closing_the_generator_ends_its_thread(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    run = LBFGS().run(problem, backend.rng(1))
    assert len(list(islice(run, 4))) == 4
    assert len(threads()) == 1
    run.close()
    assert not threads()


def test_scipy_works_only_while_an_iterate_is_asked_for(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    run = LBFGS().run(problem, backend.rng(1))
    list(islice(run, 3))
    cost = problem.cost
    time.sleep(0.05)
    assert problem.cost == cost
    run.close()


def test_value_and_gradient_are_both_paid_for(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    run = LBFGS().run(problem, backend.rng(1))
    assert [next(run) is not None, problem.cost] == [True, 0.0]
    next(run)
    assert problem.cost % 1.0 == 0  # value and gradient together cost one gradient
    assert problem.cost >= 2.0
    run.close()


def test_a_fault_in_the_routine_is_raised_where_it_is_asked():
    def routine(report):
        report(1)
        raise ZeroDivisionError("in the thread")

    run = iterates(routine)
    assert next(run) == 1
    with pytest.raises(ZeroDivisionError, match="in the thread"):
        next(run)
    assert not threads()


@pytest.mark.parametrize("make", [Quadratic, LeastSquares, LogisticRegression])
def test_value_and_gradient_together_are_the_two_for_the_price_of_one(backend, make):
    problem = make(backend, backend.rng(4))
    params = backend.rng(5).standard_normal(problem.optimum.size)
    value, gradient = problem.value_and_grad(params)
    assert problem.cost == 1.0
    assert value == pytest.approx(problem.value(params), rel=1e-12)
    np.testing.assert_allclose(gradient, problem.grad(params), rtol=1e-11, atol=1e-13)
