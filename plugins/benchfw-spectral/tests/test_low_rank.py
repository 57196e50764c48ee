"""The gradient of matrix completion from its largest singular values."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from benchfw_firstorder import Fista
from benchfw_spectral import LowRank, MatrixCompletion

RATINGS = "movielens-like(users=60, items=40, ratings=900)"


def build(backend, **params):
    return MatrixCompletion(backend, backend.rng(11), dataset=RATINGS, **params)


def relative_error(found, exact):
    return np.linalg.norm(found - exact) / np.linalg.norm(exact)


@pytest.mark.parametrize("data_term", ["gradient", "prox"])
def test_the_gradient_of_full_rank_is_the_exact_one(backend, data_term):
    problem = build(backend, data_term=data_term)
    params = np.random.default_rng(3).uniform(0, 5, problem.shape)
    found = LowRank(rank=1000).draw(problem, backend.rng(1))(params)
    np.testing.assert_allclose(found, problem.grad(params), atol=1e-12)


def test_many_sweeps_give_the_truncated_singular_values(backend):
    problem, rank = build(backend, data_term="prox", smoothing=50.0), 6
    params = problem.start()
    left, singular, right = np.linalg.svd(params, full_matrices=False)
    slopes = singular / 50**0.5
    slopes[:rank] = singular[:rank] / np.sqrt(singular[:rank] ** 2 + 50)
    found = LowRank(rank=rank, sweeps=300).draw(problem, backend.rng(1))(params)
    np.testing.assert_allclose(found, (left * slopes) @ right, atol=1e-3)


def test_draws_go_on_from_one_another_while_each_stays_a_function(backend):
    problem = build(backend)
    params, exact = problem.start(), problem.grad(problem.start())
    estimator = LowRank(rank=20)
    draws = [estimator.draw(problem, backend.rng(1))]
    errors = []
    for _ in range(6):
        errors.append(relative_error(draws[-1](params), exact))
        draws.append(estimator.draw(problem, backend.rng(1)))
    assert errors[-1] < 0.7 * errors[0]
    assert relative_error(draws[0](params), exact) == errors[0]
    assert relative_error(LowRank(rank=30).draw(problem, backend.rng(1))(params), exact) < errors[0]


def test_a_sweep_costs_one_and_a_half_products_a_singular_value(backend):
    problem = build(backend)
    LowRank(rank=8, sweeps=2).draw(problem, backend.rng(1))(problem.start())
    assert problem.cost == 24


def test_fista_with_half_of_the_singular_values_ends_near_the_minimum(backend):
    ends = []
    for method in (Fista(), Fista(estimator=LowRank(rank=20))):
        problem = build(backend, data_term="prox", dtype="float32")
        answer = next(itertools.islice(method.run(problem, backend.rng(0)), 60, None))
        assert answer.dtype == np.float32
        ends.append(problem.metrics(answer)["objective"])
    assert ends[1] == pytest.approx(ends[0], rel=0.01)
