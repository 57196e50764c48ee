"""Posteriors: the two parametrizations are one Gaussian."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_variational.posterior import DualPosterior, FactorPosterior
from benchfw_variational.problems.bayesian_glm import BayesianGLM
from benchfw_variational.problems.gp_classification import GPClassification


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    np.savez(
        tmp_path / "small.npz", X=rng.standard_normal((20, 3)), y=np.tile([0, 1], 10), train_idx=np.arange(12)
    )
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))


def build(kind, **params):
    backend = get_backend("numpy")
    return kind(backend, backend.rng(0), dataset="small", **params)


def some_dual(problem):
    rng = np.random.default_rng(1)
    return DualPosterior(problem, rng.standard_normal(12), rng.random(12))


def same_in_factors(problem, dual):
    """λ of the same Gaussian, by inverting matrices."""
    if isinstance(problem, GPClassification):
        covariance = np.linalg.inv(np.linalg.inv(problem.prior.gram) + np.diag(dual.precisions))
        mean = problem.prior.gram @ dual.dual
    else:
        features = problem.prior.features
        covariance = np.linalg.inv(np.eye(3) + features.T @ (dual.precisions[:, None] * features))
        mean = features.T @ dual.dual
    return FactorPosterior(problem, problem.pack(mean, np.linalg.cholesky(covariance)))


@pytest.mark.parametrize("diagonal", ["log", "raw"])
@pytest.mark.parametrize("kind", [GPClassification, BayesianGLM])
def test_one_gaussian_in_two_forms_has_one_bound_and_one_prediction(kind, diagonal):
    problem = build(kind, diagonal=diagonal)
    dual = some_dual(problem)
    factors = same_in_factors(problem, dual)
    np.testing.assert_allclose(factors.mean, dual.mean, rtol=1e-9)
    np.testing.assert_allclose(factors.variance, dual.variance, rtol=1e-9)
    assert factors.negative_bound() == pytest.approx(dual.negative_bound(), rel=1e-10)
    for one, other in zip(
        factors.predict(problem.test.features), dual.predict(problem.test.features), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    assert problem.metrics(factors) == pytest.approx(problem.metrics(dual))


@pytest.mark.parametrize("kind", [GPClassification, BayesianGLM])
def test_the_log_loss_is_the_mean_of_the_predictive_log_probabilities(kind):
    problem = build(kind)
    dual = some_dual(problem)
    for posterior in (dual, same_in_factors(problem, dual)):
        logarithms = posterior.log_predictive(problem.test.features, problem.test.targets)
        others = posterior.log_predictive(problem.test.features, -problem.test.targets)
        np.testing.assert_allclose(np.exp(logarithms) + np.exp(others), 1, rtol=1e-9)
        assert problem.metrics(posterior)["log_loss_bits"] == pytest.approx(-logarithms.mean() / math.log(2))


def test_the_bound_is_that_of_the_cholesky_formula():
    """F = Σ f + ½(2 Σ log L_ii + |L⁻¹|² + m'a - n), METHODS C3."""
    problem = build(GPClassification)
    dual = some_dual(problem)
    scales = np.sqrt(dual.precisions)
    lower = np.linalg.cholesky(np.eye(12) + np.outer(scales, scales) * problem.prior.gram)
    divergence = 2 * np.log(np.diag(lower)).sum() + (np.linalg.inv(lower) ** 2).sum() + dual.mean @ dual.dual
    losses = problem.likelihood.expectations(problem.targets, dual.mean, dual.variance).loss.sum()
    assert dual.negative_bound() == pytest.approx(losses + (divergence - 12) / 2, rel=1e-12)


def test_the_bound_is_above_the_evidence():
    """Σ f + KL ≥ -log p(y), here by a large sample from the prior."""
    problem = build(BayesianGLM)
    weights = np.random.default_rng(2).standard_normal((3, 200_000))
    likelihoods = np.exp(
        -problem.likelihood.loss(problem.targets[:, None], problem.prior.features @ weights).sum(0)
    )
    error = likelihoods.std() / np.sqrt(200_000) / likelihoods.mean()
    assert some_dual(problem).negative_bound() > -math.log(likelihoods.mean()) - 4 * error


@pytest.mark.parametrize("broken", ["dual", "precisions"])
def test_a_posterior_that_is_not_finite_has_infinite_metrics(broken):
    problem = build(GPClassification)
    parts = {"dual": np.zeros(12), "precisions": np.zeros(12)}
    parts[broken][3] = math.nan
    answer = DualPosterior(problem, **parts)
    assert problem.metrics(answer) == dict.fromkeys(
        ["negative_bound", "log_loss_bits", "test_error"], math.inf
    )


def test_parameters_that_are_not_finite_have_infinite_metrics():
    problem = build(GPClassification)
    assert set(problem.metrics(problem.start() + math.nan).values()) == {math.inf}


def test_nothing_is_computed_before_it_is_asked_for(monkeypatch):
    problem = build(GPClassification)
    monkeypatch.setattr(problem, "prior", None)
    monkeypatch.setattr(problem, "unpack", None)
    DualPosterior(problem, np.zeros(12), np.zeros(12))
    FactorPosterior(problem, np.zeros(90))
