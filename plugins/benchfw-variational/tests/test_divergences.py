"""Divergences between Gaussians: their values, and that every step is the argmin it claims to be."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from benchfw_variational.divergences import DIVERGENCES, SPLIT, Gaussian, Gradient, inverse, squared_distance

SIZE = 4
DIFFERENCE = 1e-5


def draw(seed, top=None):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((SIZE, SIZE))
    covariance = root @ root.T + 0.5 * np.eye(SIZE)
    if top is not None:
        covariance *= top * rng.random() / np.linalg.eigvalsh(covariance)[-1]
    return Gaussian(rng.standard_normal(SIZE), covariance)


def draw_gradient(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((SIZE, SIZE))
    return Gradient(rng.standard_normal(SIZE), (matrix + matrix.T) / 2)


def expected_log_ratio(one, other):
    """KL[one‖other]: log-densities are quadratic, so that the points m ± √n L_i have their mean exactly."""
    lower = np.linalg.cholesky(one.covariance)
    points = np.concatenate([one.mean + SIZE**0.5 * lower.T, one.mean - SIZE**0.5 * lower.T])
    one_log, other_log = (multivariate_normal(*q).logpdf(points) for q in (one, other))
    return float(np.mean(one_log - other_log))


def natural(q):
    precision = np.linalg.inv(q.covariance)
    return Gaussian(precision @ q.mean, -precision / 2)


def from_natural(theta):
    covariance = np.linalg.inv(-2 * theta.covariance)
    return Gaussian(covariance @ theta.mean, covariance)


def moments(q):
    return Gaussian(q.mean, q.covariance + np.outer(q.mean, q.mean))


def plus(point, direction, scale=1.0):
    return Gaussian(point.mean + scale * direction.mean, point.covariance + scale * direction.covariance)


def dot(one, other):
    return one.mean @ other.mean + np.sum(one.covariance * other.covariance)


def slope(function, point, direction):
    """The derivative of a function of two arrays along a direction, by central differences."""
    ends = (function(plus(point, direction, sign * DIFFERENCE)) for sign in (1, -1))
    return (next(ends) - next(ends)) / (2 * DIFFERENCE)


def test_the_kl_divergence_is_the_mean_of_the_log_ratio():
    new, old = draw(1), draw(2)
    assert DIVERGENCES["kl"].between(new, old) == pytest.approx(expected_log_ratio(new, old), rel=1e-12)
    assert DIVERGENCES["kl"].between(old, old) == pytest.approx(0, abs=1e-12)


def test_the_reversed_divergence_is_bregman_for_the_log_partition():
    """Eq. (8): A(θ) - A(θ_k) - ⟨∇A(θ_k), θ-θ_k⟩, A = ½m'V⁻¹m + ½log|V| but for a constant."""
    new, old = draw(1), draw(2)

    def log_partition(q):
        return (q.mean @ np.linalg.solve(q.covariance, q.mean) + np.linalg.slogdet(q.covariance)[1]) / 2

    move = plus(natural(new), natural(old), -1.0)
    expected = log_partition(new) - log_partition(old) - dot(moments(old), move)
    assert DIVERGENCES["reversed-kl"].between(new, old) == pytest.approx(expected, rel=1e-12)


def test_the_symmetric_divergence_is_a_product_of_natural_parameters_and_moments():
    new, old = draw(1), draw(2)
    expected = dot(plus(natural(new), natural(old), -1.0), plus(moments(new), moments(old), -1.0)) / 2
    assert DIVERGENCES["symmetric-kl"].between(new, old) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_a_step_is_stationary_in_mean_and_covariance(name):
    divergence, old, gradient, length = DIVERGENCES[name], draw(1), draw_gradient(2), 0.02
    found = divergence.step(old, gradient, length)
    for seed in range(5):
        direction = draw_gradient(seed)
        change = slope(lambda q: dot(q, gradient) + divergence.between(q, old) / length, found, direction)
        assert change == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_a_proximal_step_is_stationary_and_keeps_the_prior_exact(name):
    divergence, old, gradient, length = SPLIT[name], draw(1), draw_gradient(2), 0.05
    prior = Gaussian(np.zeros(SIZE), draw(3).covariance)
    found = divergence.proximal_step(old, gradient, length, np.linalg.inv(prior.covariance))

    def objective(q):
        return dot(q, gradient) + DIVERGENCES["kl"].between(q, prior) + divergence.between(q, old) / length

    for seed in range(5):
        assert slope(objective, found, draw_gradient(seed)) == pytest.approx(0, abs=1e-6)


def gradient_in_natural_parameters(old, gradient, direction):
    return slope(lambda theta: dot(from_natural(theta), gradient), natural(old), direction)


def fisher(old, one, other):
    """⟨other, I one⟩: I one is the derivative of the moments along one."""
    return slope(lambda theta: dot(moments(from_natural(theta)), other), natural(old), one)


def test_a_mirror_step_is_stationary_in_natural_parameters():
    divergence, old, gradient, length = DIVERGENCES["reversed-kl"], draw(1), draw_gradient(2), 0.01
    found = natural(divergence.step(old, gradient, length))
    for seed in range(5):
        direction = draw_gradient(seed)
        change = slope(lambda theta: divergence.between(from_natural(theta), old), found, direction)
        linear = gradient_in_natural_parameters(old, gradient, direction)
        assert linear + change / length == pytest.approx(0, abs=1e-5 * abs(linear))


def test_a_natural_gradient_step_is_stationary_to_second_order():
    """Of ⟨θ, ∇⟩ + d'I(θ_k)d/(2β)."""
    old, gradient, length = draw(1), draw_gradient(2), 0.01
    move = plus(natural(DIVERGENCES["symmetric-kl"].step(old, gradient, length)), natural(old), -1.0)
    for seed in range(5):
        direction = draw_gradient(seed)
        metric = fisher(old, move, direction)
        linear = gradient_in_natural_parameters(old, gradient, direction)
        assert linear + metric / length == pytest.approx(0, abs=1e-5 * abs(linear))


def test_the_symmetric_divergence_is_the_fisher_metric_to_second_order():
    old, divergence = draw(1), DIVERGENCES["symmetric-kl"]
    direction, size = draw_gradient(2), 1e-4
    near = from_natural(plus(natural(old), direction, size))
    metric = fisher(old, direction, direction)
    assert divergence.between(near, old) == pytest.approx(size**2 * metric / 2, rel=1e-2)


@pytest.mark.parametrize("top", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("name", ["euclidean", "kl"])
def test_the_modulus_is_one_of_strong_monotonicity(name, top):
    """Assumption A6 of Khan et al. 2016 for pairs with no eigenvalue above `top`."""
    divergence = SPLIT[name]
    for seed in range(20):
        new, old = draw(seed, top), draw(seed + 100, top)
        move = plus(new, old, -1.0)
        smallest = DIFFERENCE * np.linalg.eigvalsh(new.covariance)[0]
        ends = [divergence.between(plus(new, move, sign * smallest), old) for sign in (1, -1)]
        change = (ends[0] - ends[1]) / (2 * smallest)
        assert change >= divergence.modulus(top) * squared_distance(new, old) * (1 - 1e-4)


def test_the_modulus_of_the_kl_divergence_is_attained_where_all_variances_are_largest():
    divergence, old = SPLIT["kl"], Gaussian(np.zeros(SIZE), np.eye(SIZE))
    move = Gaussian(np.zeros(SIZE), 1e-3 * np.eye(SIZE))
    change = slope(lambda q: divergence.between(q, old), plus(old, move), move)
    assert change == pytest.approx(divergence.modulus(1.0) * dot(move, move), rel=2e-3)


def test_the_euclidean_proximal_step_is_positive_however_long():
    old, gradient = draw(1), draw_gradient(2)
    for length in (1e-3, 1.0, 1e3, 1e6):
        found = SPLIT["euclidean"].proximal_step(old, gradient, length, np.eye(SIZE))
        assert np.linalg.eigvalsh(found.covariance)[0] > 0


def test_a_matrix_that_is_not_positive_definite_has_an_inverse_of_nan():
    assert np.isnan(inverse(np.diag([1.0, -1.0]))).all()
