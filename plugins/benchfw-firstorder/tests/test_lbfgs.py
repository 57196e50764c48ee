"""SciPy's L-BFGS-B."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from benchfw.measure.optimizers import measure_optimizer
from benchfw.measure.trial import collector
from benchfw.records import Budget, Spec, Trial
from benchfw_firstorder import LBFGS, BoxLeastSquares, LeastSquares, LogisticRegression, Quadratic


def test_lbfgs_finds_the_optimum_and_ends(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    found = list(LBFGS().run(problem, backend.rng(1)))
    np.testing.assert_array_equal(found[0], problem.start())
    assert problem.metrics(found[-1])["gap"] < 1e-14
    assert len({x.tobytes() for x in found}) == len(found)


def test_lbfgs_keeps_to_the_box(backend):
    problem = BoxLeastSquares(backend, backend.rng(1), samples=100, features=10)
    found = list(LBFGS().run(problem, backend.rng(1)))
    assert problem.metrics(found[-1])["gap"] < 1e-10


def test_a_trial_of_lbfgs_starts_no_thread(backend, monkeypatch):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    monkeypatch.setattr(threading.Thread, "start", lambda _: pytest.fail("a thread was started"))
    trial = Trial("optimizer", Spec("p"), Spec("m"), "numpy", 0, 1, Budget(iterations=5))
    records, emit = collector()
    measure_optimizer(trial, problem, LBFGS(), backend.rng(1), emit)
    assert records[-1].iteration == 5


def test_value_and_gradient_are_both_paid_for(backend):
    problem = LogisticRegression(backend, backend.rng(1), samples=200, features=10)
    run = LBFGS().run(problem, backend.rng(1))
    assert [next(run) is not None, problem.cost] == [True, 0.0]
    next(run)
    assert problem.cost % 1.0 == 0  # value and gradient together cost one gradient
    assert problem.cost >= 2.0
    run.close()


@pytest.mark.parametrize("make", [Quadratic, LeastSquares, LogisticRegression])
def test_value_and_gradient_together_are_the_two_for_the_price_of_one(backend, make):
    problem = make(backend, backend.rng(4))
    params = backend.rng(5).standard_normal(problem.optimum.size)
    value, gradient = problem.value_and_grad(params)
    assert problem.cost == 1.0
    assert value == pytest.approx(problem.value(params), rel=1e-12)
    np.testing.assert_allclose(gradient, problem.grad(params), rtol=1e-11, atol=1e-13)
