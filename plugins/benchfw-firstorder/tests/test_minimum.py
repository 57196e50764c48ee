"""The exact minimum, where the Hessian is singular and only the penalty or the box decides."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw_firstorder import SGD, BoxLeastSquares, Lasso
from benchfw_firstorder.problems.minimum import quadratic_minimum


def flat_problem(seed):
    """Return H and c of least squares with fewer samples than features, of any conditioning up to 1e4."""
    rng = np.random.default_rng(seed)
    samples = int(rng.integers(3, 25))
    features = int(rng.integers(samples + 1, 50))
    condition = 10 ** rng.uniform(0, 4)
    rows = rng.standard_normal((samples, features)) * condition ** (-rng.uniform(0, 1, features) / 2)
    return rng, rows.T @ rows / samples, rows.T @ rng.standard_normal(samples) / samples


@pytest.mark.parametrize("seed", range(30))
def test_lasso_minimum_with_fewer_samples_than_features_meets_its_conditions(backend, seed):
    rng, hessian, linear = flat_problem(seed)
    weight = float(10 ** rng.uniform(-3, -0.1) * np.abs(linear).max())
    x = quadratic_minimum(backend, hessian, linear, weight=weight).params
    slope = hessian @ x - linear
    off = np.where(x == 0, np.maximum(np.abs(slope) - weight, 0), np.abs(slope + weight * np.sign(x)))
    assert off.max() <= 1e-11 * np.abs(linear).max()


@pytest.mark.parametrize("seed", range(30, 60))
def test_box_minimum_with_fewer_samples_than_features_meets_its_conditions(backend, seed):
    rng, hessian, linear = flat_problem(seed)
    lower, upper = np.array([-1, rng.uniform(0.5, 2)]) * 10 ** rng.uniform(-2, 0.5)
    x = quadratic_minimum(backend, hessian, linear, lower=lower, upper=upper).params
    assert np.all((lower <= x) & (x <= upper))
    slope = hessian @ x - linear
    off = np.where(x == lower, np.maximum(-slope, 0), np.where(x == upper, np.maximum(slope, 0), abs(slope)))
    assert off.max() <= 1e-11 * np.abs(linear).max()


@pytest.mark.parametrize("condition", [1.0, 100.0, 1e4])
@pytest.mark.parametrize("kind", [Lasso, BoxLeastSquares])
def test_problems_with_fewer_samples_than_features_know_their_optimum(backend, kind, condition):
    for seed in range(3):
        problem = kind(backend, backend.rng(seed), samples=20, features=60, condition=condition)
        x = problem.optimum
        np.testing.assert_allclose(problem.prox(x - problem.grad(x), 1.0), x, atol=1e-11)


@pytest.mark.parametrize("side", [{"lower": -np.inf}, {"upper": np.inf}, {"lower": -np.inf, "upper": np.inf}])
def test_an_endless_box_has_no_gradient_bound_and_so_no_theorem(backend, side):
    problem = BoxLeastSquares(backend, backend.rng(4), samples=50, features=5, **side)
    assert problem.constants.gradient_bound is None
    assert np.isfinite(problem.metrics(problem.start())["gap"])
    assert SGD(step=0.1, average=True).bound(problem, np.arange(5)) is None
