"""Bias, variance and cost of the gradient estimators, against exact population formulas."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError, CountedProblem
from benchfw_firstorder import (
    SAGA,
    Exact,
    LogisticRegression,
    Minibatch,
    Quadratic,
    SagaGradient,
    SvrgGradient,
)

DRAWS = 4000
EVERY = [
    Minibatch(size=1),
    Minibatch(size=10),
    Minibatch(size=10, replace=False),
    SvrgGradient(size=5),
    SvrgGradient(size=5, replace=False),
    SagaGradient(size=5),
]


@pytest.fixture(scope="module")
def problem(backend):
    return LogisticRegression(backend, backend.rng(21), samples=50, features=6)


def draws_of(estimator, problem, params, seed=17):
    rng = problem.backend.rng(seed)
    return np.array([estimator.draw(problem, rng)(params) for _ in range(DRAWS)])


def population(problem, params, anchor=None):
    """Return each sample's (corrected) gradient, (n, d)."""
    everything = np.arange(problem.num_samples)
    rows = problem.grad_samples(params, everything)
    return rows if anchor is None else rows - problem.grad_samples(anchor, everything)


def expected_variance(estimator, rows):
    """Return the trace of the covariance of a mini-batch mean over these rows."""
    count = len(rows)
    single = rows.var(axis=0).sum()
    factor = 1.0 if estimator.replace else (count - estimator.size) / (count - 1)
    return single / estimator.size * factor


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
@pytest.mark.sampled(3)
def test_estimator_is_unbiased(problem, estimator):
    params = problem.optimum
    values = draws_of(estimator, problem, params)
    error = values.std(axis=0, ddof=1) / DRAWS**0.5
    z = (values.mean(axis=0) - problem.grad(params)) / error
    assert np.abs(z).max() < 4


@pytest.mark.parametrize("estimator", EVERY, ids=repr)
@pytest.mark.sampled(3)
def test_variance_is_that_of_the_population_formula(problem, estimator):
    params = problem.optimum
    anchor = None
    if not isinstance(estimator, Minibatch):
        anchor = problem.start()
        for _ in range(estimator.anchor_steps):
            anchor = anchor - problem.grad(anchor) / problem.constants.smoothness
    values = draws_of(estimator, problem, params)
    squares = ((values - problem.grad(params)) ** 2).sum(axis=1)
    error = squares.std(ddof=1) / DRAWS**0.5
    assert abs(squares.mean() - expected_variance(estimator, population(problem, params, anchor))) < 4 * error


def test_full_batch_without_replacement_is_the_gradient(problem):
    estimator = Minibatch(size=50, replace=False)
    draw = estimator.draw(problem, problem.backend.rng(1))
    np.testing.assert_allclose(draw(problem.optimum), problem.grad(problem.optimum), atol=1e-14)


@pytest.mark.parametrize("kind", [SvrgGradient, SagaGradient])
def test_control_variate_is_exact_at_its_anchor(problem, kind):
    draw = kind(size=2, anchor_steps=0).draw(problem, problem.backend.rng(4))
    np.testing.assert_allclose(draw(problem.start()), problem.grad(problem.start()), atol=1e-14)


@pytest.mark.parametrize(
    ("estimator", "setup", "each"),
    [
        (Minibatch(5), 0.0, 0.1),
        (SvrgGradient(5, anchor_steps=3), 4.0, 0.2),
        (SagaGradient(5, anchor_steps=3), 5.0, 0.1),
    ],
    ids=repr,
)
def test_the_anchor_is_paid_for_once_and_each_draw_its_share(backend, estimator, setup, each):
    problem = LogisticRegression(backend, backend.rng(21), samples=50, features=6)
    rng = backend.rng(1)
    for _ in range(10):
        estimator.draw(problem, rng)(problem.optimum)
    assert problem.cost == pytest.approx(setup + 10 * each)


def test_minibatch_smoothness_lies_between_the_mean_and_the_worst_sample(problem):
    assert Minibatch(1).smoothness(problem) == pytest.approx(problem.constants.sample_smoothness)
    assert (
        problem.constants.smoothness < Minibatch(10).smoothness(problem) < problem.constants.sample_smoothness
    )


def test_impossible_minibatches_are_refused(backend, problem):
    with pytest.raises(BenchfwError, match="51 of 50 samples without replacement; take a smaller size, or"):
        Minibatch(size=51, replace=False).draw(problem, backend.rng(1))
    with pytest.raises(BenchfwError, match="the problem has no grad_batch; use another problem"):
        Minibatch().draw(Quadratic(backend, backend.rng(1)), backend.rng(1))


def test_a_batch_that_is_too_large_is_refused_by_the_name_that_the_method_has_for_it(backend, problem):
    steps = SAGA(step=0.1, batch=51).run(problem, backend.rng(1))
    next(steps)
    with pytest.raises(BenchfwError, match=r"51 of 50 samples without replacement; take a smaller batch$"):
        next(steps)


def test_an_exact_gradient_that_is_not_there_is_refused_with_what_to_do(backend):
    class Valued:
        def value(self, params):
            return 0.0

    with pytest.raises(BenchfwError, match='the problem has no exact grad; set estimates = "value"'):
        Exact("grad").draw(Valued(), backend.rng(1))
    with pytest.raises(BenchfwError, match="the problem has no exact value; use another estimator"):
        Exact().draw(object(), backend.rng(1))


def test_sample_gradients_of_a_stranger_come_one_by_one(backend):
    class Stranger(CountedProblem):
        """A finite sum with no more than the contract asks for."""

        def __init__(self):
            self.backend, self.num_samples = backend, 4

        def start(self):
            return np.zeros(2)

        def project(self, params):
            return params

        def grad(self, params):
            return self.grad_batch(params, np.arange(4))

        def grad_batch(self, params, batch):
            return params - np.mean(batch)

    draw = SagaGradient(size=2, anchor_steps=0).draw(Stranger(), backend.rng(1))
    np.testing.assert_allclose(draw(np.zeros(2)), -1.5)
