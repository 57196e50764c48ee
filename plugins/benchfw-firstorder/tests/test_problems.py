"""Oracles, constants and optima of the problems."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import sklearn.linear_model

from benchfw import BenchfwError
from benchfw_firstorder import (
    BoxLeastSquares,
    ElasticNet,
    Lasso,
    LeastSquares,
    LogisticRegression,
    Quadratic,
)

EVERY = [
    (Quadratic, {"size": 20}),
    (Quadratic, {"size": 20, "matrix": "chain"}),
    (LeastSquares, {"samples": 60, "features": 8}),
    (LogisticRegression, {"samples": 60, "features": 8}),
    (Lasso, {"samples": 30, "features": 50, "nonzeros": 5}),
    (ElasticNet, {"samples": 30, "features": 50, "nonzeros": 5}),
    (BoxLeastSquares, {"samples": 60, "features": 8}),
]
SUMS = EVERY[2:]


def build(backend, kind, seed=11):
    problem_class, params = kind
    return problem_class(backend, backend.rng(seed), **params)


def somewhere(backend, problem, seed=3):
    return problem.project(0.3 * backend.rng(seed).standard_normal(problem.optimum.shape[0]))


@pytest.mark.parametrize("kind", SUMS)
def test_sample_gradients_are_batches_of_one(backend, kind):
    problem = build(backend, kind)
    x, batch = somewhere(backend, problem), np.array([4, 0, 17])
    singles = [problem.grad_batch(x, np.array([i])) for i in batch]
    np.testing.assert_allclose(problem.grad_samples(x, batch), singles, atol=1e-13)


@pytest.mark.parametrize("kind", EVERY)
def test_every_oracle_call_is_counted_and_metrics_are_not(backend, kind):
    problem = build(backend, kind)
    x = problem.start()
    assert problem.cost == 0.0
    problem.metrics(x)
    assert problem.cost == 0.0
    problem.grad(x)
    assert problem.cost == 1.0
    problem.value(x)
    assert problem.cost == (2.0 if kind[0] is Quadratic else 1.5)


def test_a_method_cannot_write_the_data_by_accident(backend):
    squares, bowl = (
        LeastSquares(backend, backend.rng(0), samples=9, features=3),
        Quadratic(backend, backend.rng(0)),
    )
    for array in (squares.features, squares.targets, squares.optimum, bowl.hessian, bowl.optimum):
        with pytest.raises(ValueError, match="read-only"):
            array += 1


@pytest.mark.parametrize("kind", SUMS)
def test_a_batch_costs_its_share_of_a_gradient(backend, kind):
    problem = build(backend, kind)
    problem.grad_batch(problem.start(), np.array([1, 2, 3]))
    problem.grad_samples(problem.start(), np.array([1, 2, 3]))
    assert problem.cost == pytest.approx(6 / problem.num_samples)


@pytest.mark.parametrize("kind", EVERY)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_optimum_satisfies_the_first_order_conditions(backend, kind, seed):
    problem = build(backend, kind, seed)
    x = problem.optimum
    moved = x - problem.grad(x)
    after = problem.prox(moved, 1.0) if hasattr(problem, "prox") else problem.project(moved)
    np.testing.assert_allclose(after, x, atol=1e-11)
    assert problem.metrics(x)["gap"] <= 1e-15


@pytest.mark.parametrize("kind", EVERY)
def test_gap_is_the_objective_above_its_minimum(backend, kind):
    problem = build(backend, kind)
    x = somewhere(backend, problem)
    found = problem.metrics(x)
    assert next(iter(found)) == "gap"
    least = problem.metrics(problem.optimum)["objective"]
    assert found["gap"] == pytest.approx(found["objective"] - least, rel=1e-9)
    assert found["distance"] == pytest.approx(np.linalg.norm(x - problem.optimum))
    assert problem.constants.distance == pytest.approx(np.linalg.norm(problem.start() - problem.optimum))


@pytest.mark.parametrize("kind", EVERY)
def test_constants_bound_the_curvature(backend, kind):
    problem = build(backend, kind)
    rng = backend.rng(8)
    for _ in range(30):
        x, y = rng.standard_normal((2, problem.optimum.shape[0]))
        slope = (problem.grad(x) - problem.grad(y)) @ (x - y) / ((x - y) @ (x - y))
        assert (
            problem.constants.strong_convexity * (1 - 1e-9)
            <= slope
            <= problem.constants.smoothness * (1 + 1e-9)
        )


@pytest.mark.parametrize("condition", [1.0, 30.0, 1e4])
def test_quadratic_has_the_spectrum_it_was_asked_for(backend, condition):
    problem = Quadratic(backend, backend.rng(2), size=40, condition=condition)
    values = np.linalg.eigvalsh(problem.hessian)
    np.testing.assert_allclose(values, np.geomspace(1 / condition, 1, 40), rtol=1e-9)


def test_chain_has_the_spectrum_and_optimum_of_its_formula(backend):
    problem = Quadratic(backend, backend.rng(2), size=30, matrix="chain")
    values = np.linalg.eigvalsh(problem.hessian)
    assert problem.constants.strong_convexity == pytest.approx(values[0])
    assert problem.constants.smoothness == pytest.approx(values[-1])
    np.testing.assert_allclose(problem.hessian @ problem.optimum, np.eye(30)[0] / 4, atol=1e-14)


def test_least_squares_optimum_is_the_least_norm_solution(backend):
    for samples in (80, 10):
        problem = LeastSquares(backend, backend.rng(4), samples=samples, features=20)
        expected = np.linalg.lstsq(problem.features, problem.targets, rcond=None)[0]
        np.testing.assert_allclose(problem.optimum, expected, atol=1e-10)
        assert ("distance" in problem.metrics(expected)) == (samples > 20)


def test_lasso_optimum_agrees_with_scikit_learn(backend):
    problem = Lasso(backend, backend.rng(4), penalty_ratio=0.05)
    peer = sklearn.linear_model.Lasso(alpha=problem.weight, fit_intercept=False, tol=1e-12, max_iter=100_000)
    peer.fit(problem.features, problem.targets)
    np.testing.assert_allclose(problem.optimum, peer.coef_, atol=1e-7)


def test_elastic_net_optimum_agrees_with_scikit_learn(backend):
    problem = ElasticNet(backend, backend.rng(4), ridge=0.05)
    total = problem.weight + problem.ridge
    peer = sklearn.linear_model.ElasticNet(
        alpha=total, l1_ratio=problem.weight / total, fit_intercept=False, tol=1e-12, max_iter=100_000
    )
    peer.fit(problem.features, problem.targets)
    np.testing.assert_allclose(problem.optimum, peer.coef_, atol=1e-7)


def test_logistic_regression_optimum_agrees_with_scikit_learn(backend):
    problem = LogisticRegression(backend, backend.rng(4), samples=200, features=10, ridge=0.02)
    peer = sklearn.linear_model.LogisticRegression(
        C=1 / (0.02 * 200), fit_intercept=False, tol=1e-12, max_iter=10_000
    )
    peer.fit(problem.features, problem.targets)
    np.testing.assert_allclose(problem.optimum, peer.coef_[0], atol=1e-6)


def test_box_least_squares_optimum_agrees_with_scipy(backend):
    problem = BoxLeastSquares(backend, backend.rng(4), samples=100, features=20)
    peer = scipy.optimize.lsq_linear(problem.features, problem.targets, problem.box, method="bvls", tol=1e-14)
    np.testing.assert_allclose(problem.optimum, peer.x, atol=1e-8)
    assert 0 < np.sum(np.abs(problem.optimum) == 0.1) < 20


def test_gradient_bound_holds_over_the_box(backend):
    problem = BoxLeastSquares(backend, backend.rng(4), samples=50, features=5)
    rng = backend.rng(9)
    for _ in range(50):
        x = problem.box[1] * np.sign(rng.standard_normal(5))
        squares = (problem.grad_samples(x, np.arange(50)) ** 2).sum(axis=1)
        assert squares.mean() <= problem.constants.gradient_bound**2


def test_a_point_outside_the_box_has_an_infinite_gap(backend):
    problem = BoxLeastSquares(backend, backend.rng(4), samples=50, features=5)
    assert problem.metrics(np.full(5, 1.0))["gap"] == np.inf


def test_the_kept_solution_is_not_that_of_other_parameters(backend):
    weights = (0.5, 0.05, 0.5)
    sizes = [np.count_nonzero(Lasso(backend, backend.rng(1), penalty_ratio=w).optimum) for w in weights]
    assert sizes[0] == sizes[2] < sizes[1]


@pytest.mark.parametrize("problem_class", [LeastSquares, LogisticRegression])
def test_a_method_that_spoils_the_optimum_spoils_it_for_itself_alone(backend, problem_class):
    spoiled = problem_class(backend, backend.rng(1))
    expected = spoiled.optimum.copy()
    spoiled.optimum.base[:] = 0.0  # what lies below the read-only view
    np.testing.assert_array_equal(problem_class(backend, backend.rng(1)).optimum, expected)


@pytest.mark.parametrize(
    ("problem_class", "params", "message"),
    [
        (Lasso, {"nonzeros": 300}, "nonzeros must be from 1 to the number of features, 200, got 300"),
        (BoxLeastSquares, {"lower": 1.0, "upper": 0.0}, "lower must be below upper, got 1.0 and 0.0"),
    ],
)
def test_parameters_that_contradict_each_other_are_refused_in_one_sentence(
    backend, problem_class, params, message
):
    with pytest.raises(BenchfwError, match=message):
        problem_class(backend, backend.rng(1), **params)


@pytest.mark.parametrize("make", [Quadratic, LeastSquares, LogisticRegression])
def test_hessp_is_the_derivative_of_the_gradient(backend, make):
    problem = make(backend, backend.rng(4))
    params, direction = (backend.rng(seed).standard_normal(problem.optimum.size) for seed in (5, 6))
    step = 1e-5  # a central difference is off by step² and by rounding / step
    slopes = [problem.grad(params + sign * step * direction) for sign in (1, -1)]
    expected = (slopes[0] - slopes[1]) / (2 * step)
    np.testing.assert_allclose(problem.hessp(params, direction), expected, atol=1e-8 * abs(expected).max())


def test_least_squares_is_half_the_sum_of_its_squared_residuals(backend):
    problem = LeastSquares(backend, backend.rng(4), samples=40, features=6)
    params, direction = (backend.rng(seed).standard_normal(6) for seed in (5, 6))
    residuals, jacobian = problem.residuals(params), problem.jacobian(params)
    assert residuals @ residuals / 2 == pytest.approx(problem.value(params), rel=1e-13)
    np.testing.assert_allclose(problem.jvp(params, direction), jacobian @ direction, rtol=1e-12)
    np.testing.assert_allclose(problem.vjp(params, residuals), problem.grad(params), rtol=1e-11, atol=1e-14)
    np.testing.assert_allclose(problem.vjp(params, residuals), jacobian.T @ residuals, rtol=1e-11, atol=1e-14)
