"""Monte Carlo in place of integrals: unbiased for every likelihood and both kinds; and Gauss-Hermite."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_variational.likelihoods import (
    BernoulliLogit,
    BernoulliProbit,
    Gaussian,
    Laplace,
    Poisson,
    StudentT,
)
from benchfw_variational.likelihoods.sampling import hermite_local, sampled_local

SIGNS, COUNTS, NUMBERS = [1.0, -1.0, 1.0, -1.0], [0.0, 1.0, 3.0, 8.0], [0.5, -2.0, 1.0, 3.0]
CASES = [
    (BernoulliLogit(), SIGNS),
    (BernoulliProbit(), SIGNS),
    (Gaussian(0.5), NUMBERS),
    (Laplace(0.8), NUMBERS),
    (Poisson(), COUNTS),
    (StudentT(4.0, 0.5), NUMBERS),
]
MEAN, VARIANCE = np.array([0.3, -1.0, 1.2, 0.0]), np.array([0.2, 1.0, 0.5, 2.0])
KINDS = ["score-function", "reparameterization"]

each_case = pytest.mark.parametrize(("likelihood", "targets"), CASES, ids=[case[0].name for case in CASES])
each_kind = pytest.mark.parametrize("kind", KINDS)


def single_draws(backend, likelihood, targets, kind, count=20_000):
    """Return the estimates from one normal each: every draw is an example of its own, (count, 4)."""
    normals = backend.rng(17).standard_normal((1, 4 * count))
    arguments = (np.tile(part, count) for part in (targets, MEAN, VARIANCE))
    local = sampled_local(likelihood, *arguments, normals, kind)
    return [part.reshape(count, 4) for part in local]


@each_case
@each_kind
def test_estimates_are_unbiased(backend, likelihood, targets, kind):
    exact = likelihood.expectations(np.array(targets), MEAN, VARIANCE)
    for draws, value in zip(single_draws(backend, likelihood, targets, kind), exact, strict=True):
        error, std_error = draws.mean(axis=0) - value, draws.std(axis=0) / np.sqrt(len(draws))
        # 1e-12: what does not vary at all is right to rounding
        assert (np.abs(error) < 4 * std_error + 1e-12).all()


@each_case
@each_kind
def test_many_normals_give_the_mean_over_them(backend, likelihood, targets, kind):
    count = 50
    normals = backend.rng(17).standard_normal((1, 4 * count)).reshape(count, 4)
    together = sampled_local(likelihood, np.array(targets), MEAN, VARIANCE, normals, kind)
    for part, draws in zip(together, single_draws(backend, likelihood, targets, kind, count), strict=True):
        np.testing.assert_allclose(part, draws.mean(axis=0), rtol=1e-11, atol=1e-13)


def test_a_gaussian_loss_has_an_exact_reparameterized_curvature(backend):
    normals = backend.rng(1).standard_normal((3, 4))
    local = sampled_local(Gaussian(0.5), np.array(NUMBERS), MEAN, VARIANCE, normals, "reparameterization")
    np.testing.assert_allclose(local.curvature, 2.0, rtol=1e-15)


def test_an_overflow_is_not_a_number_and_gives_no_warning(backend):
    normals = backend.rng(1).standard_normal((100, 1))
    for kind in KINDS:
        local = sampled_local(Poisson(), np.array([1.0]), np.array([0.0]), np.array([1e8]), normals, kind)
        assert not np.isfinite(local.curvature).any()


def test_an_unknown_kind_is_refused_in_one_sentence():
    with pytest.raises(BenchfwError, match="unknown kind of sampled expectation 'score'"):
        sampled_local(BernoulliLogit(), np.array(SIGNS), MEAN, VARIANCE, np.zeros((2, 4)), "score")


@pytest.mark.parametrize(
    ("likelihood", "targets"), [case for case in CASES if case[0].name not in {"laplace", "student-t"}]
)
def test_gauss_hermite_is_right_for_smooth_losses_and_small_variances(likelihood, targets):
    exact = likelihood.expectations(np.array(targets), MEAN, VARIANCE / 4)
    for one, other in zip(
        hermite_local(likelihood, np.array(targets), MEAN, VARIANCE / 4, 60), exact, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-10)


@pytest.mark.parametrize(
    ("likelihood", "targets"), [case for case in CASES if case[0].name in {"laplace", "student-t"}]
)
def test_gauss_hermite_comes_closer_with_points_for_losses_that_are_not_smooth(likelihood, targets):
    exact = likelihood.expectations(np.array(targets), MEAN, VARIANCE / 4)
    few, many = (
        np.abs(hermite_local(likelihood, np.array(targets), MEAN, VARIANCE / 4, points).slope - exact.slope)
        for points in (4, 120)
    )
    assert many.max() < few.max() / 2
