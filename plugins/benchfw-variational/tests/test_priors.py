"""Priors: every kind against dense algebra; numerical trouble and memory."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.kernels.cholesky import inverse_half_powers
from benchfw_variational.priors.dense import DensePrior
from benchfw_variational.priors.low_rank import LowRankPrior

MANY = 20_000


def random(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def dense(size=30):
    half = random(size, size)
    return DensePrior(half @ half.T / size, jitter=0.1)


PRIORS = {
    "dense": dense,
    "low rank": lambda: LowRankPrior(random(30, 4)),
    "more features than rows": lambda: LowRankPrior(random(30, 50)),
}


@pytest.fixture(params=PRIORS.values(), ids=PRIORS)
def prior(request):
    return request.param()


@pytest.fixture
def scales():
    """Some of them zero: examples that have said nothing yet."""
    return np.random.default_rng(1).random(30) * (np.arange(30) % 3 > 0)


def gram_of(prior):
    return prior.matmat(np.eye(prior.size))


def test_products_columns_and_diagonal_are_those_of_one_symmetric_matrix(prior):
    gram, rows = gram_of(prior), np.array([3, 1, 29])
    np.testing.assert_allclose(gram, gram.T, atol=1e-13)
    np.testing.assert_allclose(prior.columns(rows), gram[:, rows], atol=1e-13)
    np.testing.assert_allclose(prior.diagonal, np.diag(gram), atol=1e-13)
    np.testing.assert_allclose(prior.matmat(random(30, seed=2)), gram @ random(30, seed=2), atol=1e-12)


def test_a_factor_solves_with_the_scaled_matrix(prior, scales):
    matrix = np.eye(30) + np.outer(scales, scales) * gram_of(prior)
    factor = prior.factor(scales)
    for block in (random(30, seed=3), random(30, 2, seed=3)):
        np.testing.assert_allclose(factor.solve(block), np.linalg.solve(matrix, block), atol=1e-9)


def test_a_factor_knows_its_log_determinant(prior, scales):
    matrix = np.eye(30) + np.outer(scales, scales) * gram_of(prior)
    factor = prior.factor(scales)
    assert factor.log_determinant == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-10)


def test_a_factor_gives_the_posterior_variances(prior, scales):
    gram = gram_of(prior)
    matrix = np.eye(30) + np.outer(scales, scales) * gram
    scaled = scales[:, None] * gram
    expected = np.diag(gram - scaled.T @ np.linalg.solve(matrix, scaled))
    factor, rows = prior.factor(scales), np.array([7, 0])
    np.testing.assert_allclose(factor.variances(), expected, atol=1e-9)
    np.testing.assert_allclose(factor.variances(rows), expected[rows], atol=1e-9)


def test_a_tiny_variance_is_never_negative():
    """Where s says almost everything, k - explained is rounding."""
    factor = DensePrior(np.full((4, 4), 1e6), jitter=1e-3).factor(np.full(4, 1e6))
    assert np.all(factor.variances() > 0)


def test_a_weight_precision_that_is_indefinite_by_rounding_gives_no_numbers():
    factor = LowRankPrior(random(30, 4)).factor(np.array([1e25, 1e25] + 28 * [0.0]))
    assert np.isnan(factor.variances()).all()
    assert math.isnan(factor.log_determinant)


def test_jitter_grows_by_powers_of_ten_and_is_reported():
    prior = DensePrior(np.ones((5, 5)) - 1e-7 * np.eye(5), jitter=1e-9)
    assert prior.gram[0, 0] == pytest.approx(1 - 1e-7 + 1e-6, rel=1e-12)
    assert prior.caveats == (
        "the covariance was not positive definite with a jitter of 1e-09; 1e-06 was added",
    )
    assert DensePrior(np.eye(3), jitter=1e-9).caveats == ()


def test_duplicate_rows_get_a_jitter_of_their_own_where_none_was_asked_for():
    prior = DensePrior(np.ones((3, 3)))
    assert len(prior.caveats) == 1
    np.testing.assert_allclose(prior.cholesky @ prior.cholesky.T, prior.gram, rtol=1e-12)


@pytest.mark.parametrize("gram", [np.diag([1.0, -1.0]), np.full((2, 2), np.nan)], ids=["negative", "nan"])
def test_a_covariance_beyond_repair_is_one_sentence(gram):
    with pytest.raises(BenchfwError, match="is not positive definite, even with"):
        DensePrior(gram)


def test_a_large_jitter_that_was_asked_for_is_tried():
    assert DensePrior(np.diag([1.0, -1.0]), jitter=2.0).gram[1, 1] == 1.0


def test_half_powers_give_moments_of_the_inverse():
    prior, block = dense(), random(30, 3, seed=4)
    powers = inverse_half_powers(block, prior.cholesky, 6)
    for power in range(1, 7):
        inverse = np.linalg.matrix_power(np.linalg.inv(prior.gram), power)
        moments = powers[power - 1].T @ powers[power - 1]
        np.testing.assert_allclose(moments, block.T @ inverse @ block, rtol=1e-9)
    np.testing.assert_allclose(powers[3][:, :1], inverse_half_powers(block[:, :1], prior.cholesky, 4)[3])


def test_twenty_thousand_examples_take_memory_in_proportion():
    """Beside K's own storage: a few vectors and the columns of a batch, 1/1000 of a matrix of that size."""
    features, rows = random(MANY, 10) / 10, np.arange(5)
    prior = LowRankPrior(features)
    scales, vector = np.full(MANY, 0.1), random(MANY, seed=5)
    tracemalloc.start()
    factor = prior.factor(scales)
    factor.variances(rows)
    factor.solve(vector)
    factor.variances()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * MANY * 60 < 8 * MANY**2 / 300
