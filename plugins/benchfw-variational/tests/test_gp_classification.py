"""Gaussian-process classification as a function of λ = (m, L)."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.data import local_datasets
from benchfw_variational.problems.gp_classification import GPClassification

needs_ionosphere = pytest.mark.skipif(
    "ionosphere" not in local_datasets(), reason="data set 'ionosphere' is in no folder of BENCHFW_DATA"
)
LIKELIHOODS = ["bernoulli-logit", "bernoulli-probit", "gaussian", "student-t"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((11, 2))
    np.savez(tmp_path / "small.npz", X=features, y=np.arange(11) % 2, train_idx=[4, 2, 9, 1, 0, 7, 3])
    np.savez(tmp_path / "three.npz", X=features, y=np.arange(11) % 3)
    np.savez(tmp_path / "twins.npz", X=np.repeat(features[:3], 4, axis=0), y=np.tile([1, 2], 6))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))


@pytest.fixture
def small(folder, backend):
    def build(**params):
        return GPClassification(backend, backend.rng(0), dataset="small", **params)

    return build


def some_params(problem):
    return problem.start() + 0.3 * np.random.default_rng(3).standard_normal(len(problem.start()))


def differences(function, params, width=1e-5):
    steps = width * np.eye(len(params))
    return np.array([(function(params + step) - function(params - step)) / (2 * width) for step in steps])


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.parametrize("diagonal", ["log", "raw"])
@pytest.mark.parametrize("coordinates", ["latent", "whitened"])
def test_the_gradient_is_that_of_central_differences(small, likelihood, diagonal, coordinates):
    problem = small(likelihood=likelihood, diagonal=diagonal, coordinates=coordinates)
    params = some_params(problem)
    np.testing.assert_allclose(problem.grad(params), differences(problem.value, params), rtol=1e-5, atol=1e-6)


def test_whitened_coordinates_are_another_view_of_the_same_gaussian(small):
    """m = Cu and L = CS: the same bound and predictions, and ∂F/∂u = C'∂F/∂m, ∂F/∂S = tril(C'∂F/∂L)."""
    latent, white = small(diagonal="raw"), small(diagonal="raw", coordinates="whitened")
    params = white.project(some_params(white))
    factor = latent.prior.cholesky
    mean, lower = white.unpack(params)
    same = latent.pack(factor @ mean, factor @ lower)
    assert white.metrics(params) == pytest.approx(latent.metrics(same), rel=1e-9)
    rows = latent.test.features
    np.testing.assert_allclose(white.predict(params, rows), latent.predict(same, rows), rtol=1e-6)
    assert white.divergence(params) == pytest.approx(latent.divergence(same), rel=1e-9)
    batch = np.array([5, 0, 2])
    by_mean, by_lower = latent.unpack(latent.grad_batch(same, batch))
    found = white.unpack(white.grad_batch(params, batch))
    np.testing.assert_allclose(found[0], factor.T @ by_mean, rtol=1e-7)
    np.testing.assert_allclose(found[1], np.tril(factor.T @ by_lower), rtol=1e-7, atol=1e-9)


def test_the_mean_of_batch_gradients_is_the_gradient(small):
    """Over all batches of three, each as probable as the others."""
    from itertools import combinations

    problem = small()
    params = some_params(problem)
    batches = [np.array(batch) for batch in combinations(range(7), 3)]
    mean = sum(problem.grad_batch(params, batch) for batch in batches) / len(batches)
    np.testing.assert_allclose(mean, problem.grad(params), rtol=1e-10, atol=1e-12)


def test_the_start_is_the_prior(small):
    problem = small()
    mean, lower = problem.unpack(problem.start())
    np.testing.assert_array_equal(mean, 0)
    np.testing.assert_allclose(lower @ lower.T, problem.prior.gram, rtol=1e-12)
    assert problem.divergence(problem.start()) == pytest.approx(0, abs=1e-10)


def test_the_triangle_stands_row_by_row_with_its_diagonal_in_logarithms(small):
    lower = np.tril(np.arange(1.0, 50).reshape(7, 7))
    params = small().pack(np.arange(7.0), lower)
    np.testing.assert_array_equal(params[:7], np.arange(7))
    np.testing.assert_allclose(params[7:12], [0.0, 8, math.log(9), 15, 16])
    np.testing.assert_array_equal(small(diagonal="raw").pack(np.zeros(7), lower)[7:12], [1, 8, 9, 15, 16])
    np.testing.assert_allclose(small().unpack(params)[1], lower)


def test_projection_makes_a_raw_diagonal_positive_and_leaves_the_answer_as_it_was(small):
    problem = small(diagonal="raw")
    mean, lower = problem.unpack(some_params(problem))
    params = problem.pack(mean, lower * np.array([1, -1, 1, -1, 1, 1, -1]))
    projected = problem.project(params)
    assert np.all(np.diag(problem.unpack(projected)[1]) > 0)
    assert problem.value(projected) == pytest.approx(problem.value(params), rel=1e-12)
    np.testing.assert_array_equal(problem.project(projected), projected)
    assert small().project(params) is params


def test_examples_are_counted_by_the_problem(small):
    problem = small()
    params = problem.start()
    problem.value(params)
    problem.grad(params)
    problem.grad_batch(params, np.array([1, 2]))
    rows, ones = np.array([0, 5]), np.ones(2)
    problem.local(rows, ones, ones)
    problem.sampled(rows, ones, ones, np.zeros((9, 2)), "score-function")
    problem.metrics(params)
    assert problem.cost == 7 + 7 + 2 + 2 + 2


def test_rows_are_taken_in_the_order_of_the_split_and_classes_become_signs(small):
    problem = small()
    np.testing.assert_array_equal(problem.targets, [-1, -1, 1, 1, -1, 1, 1])
    np.testing.assert_array_equal(problem.test.targets, [1, -1, -1, -1])


def test_the_covariance_is_as_documented(small):
    problem = small(log_length=0.3, log_scale=0.2, jitter=0.05)
    features = np.random.default_rng(0).standard_normal((11, 2))[[4, 2, 9, 1, 0, 7, 3]]
    squares = ((features[:, None] - features) ** 2).sum(axis=2)
    expected = math.exp(0.4) * np.exp(-squares / (2 * math.exp(0.6))) + 0.05 * np.eye(7)
    np.testing.assert_allclose(problem.prior.gram, expected, rtol=1e-12)


def test_without_settings_the_length_is_the_root_mean_square_distance(small):
    problem = small()
    features = np.random.default_rng(0).standard_normal((11, 2))[[4, 2, 9, 1, 0, 7, 3]]
    squares = ((features[:, None] - features) ** 2).sum(axis=2)
    expected = math.exp(4) * np.exp(-squares / (2 * squares.mean())) + 1e-3 * np.eye(7)
    np.testing.assert_allclose(problem.prior.gram, expected, rtol=1e-12)


@pytest.mark.usefixtures("folder")
def test_rows_that_are_twins_get_more_jitter_and_the_report_says_so(backend):
    problem = GPClassification(backend, backend.rng(0), dataset="twins", jitter=0.0)
    assert "was added" in problem.caveats[0]
    assert math.isfinite(problem.metrics(problem.start())["negative_bound"])


@pytest.mark.usefixtures("folder")
def test_three_classes_are_refused(backend):
    with pytest.raises(BenchfwError, match="data set 'three' has 3 classes; this problem needs two"):
        GPClassification(backend, backend.rng(0), dataset="three")


def test_targets_that_a_likelihood_cannot_have_are_refused(small):
    with pytest.raises(BenchfwError, match="poisson"):
        small(likelihood="poisson")


@needs_ionosphere
def test_the_bound_at_the_start_is_the_reference(backend):
    problem = GPClassification(backend, backend.rng(0))
    assert problem.value(problem.start()) == pytest.approx(1375.8448, abs=1e-3)


@needs_ionosphere
def test_on_real_data_a_step_down_the_gradient_lowers_the_bound_as_it_says(backend):
    problem = GPClassification(backend, backend.rng(0))
    params = problem.start()
    gradient = problem.grad(params)
    width = 1e-6 / np.linalg.norm(gradient)
    change = problem.value(params + width * gradient) - problem.value(params - width * gradient)
    assert change / (2 * width) == pytest.approx(gradient @ gradient, rel=1e-5)
