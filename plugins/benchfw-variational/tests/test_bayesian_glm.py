"""Bayesian generalized linear models: weights and duals are one model."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.data import local_datasets
from benchfw_variational.likelihoods import StudentT
from benchfw_variational.optimizers.pg import PG
from benchfw_variational.optimizers.pg_svi import PGSVI
from benchfw_variational.problems.bayesian_glm import BayesianGLM


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((30, 3))
    rows = {"X": features, "train_idx": np.arange(20)}
    np.savez(tmp_path / "labels.npz", y=rng.integers(0, 2, 30), **rows)
    np.savez(tmp_path / "counts.npz", y=rng.poisson(np.exp(features[:, 0])), **rows)
    np.savez(tmp_path / "wide.npz", X=rng.standard_normal((12, 15)), y=np.arange(12) % 2)
    np.savez(tmp_path / "repeated.npz", X=np.tile(rng.standard_normal((6, 15)), (2, 1)), y=np.arange(12))
    np.savez(tmp_path / "huge.npz", X=100 * features, y=rng.integers(0, 9, 30))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    return lambda dataset="labels", **params: BayesianGLM(backend, backend.rng(0), dataset=dataset, **params)


def after(problem, optimizer, steps):
    return next(islice(optimizer.run(problem, problem.backend.rng(1)), steps, None))


def weights_of(problem, posterior):
    """λ of a dual posterior: V⁻¹ = I/variance + X'ΓX, m = variance X'a."""
    variance, features = problem.coordinates.prior_factor[0, 0] ** 2, problem.prior.features
    half = features / math.sqrt(variance)
    precision = np.eye(problem.dimension) / variance + half.T @ (posterior.precisions[:, None] * half)
    return problem.pack(
        math.sqrt(variance) * features.T @ posterior.dual, np.linalg.cholesky(np.linalg.inv(precision))
    )


@pytest.mark.parametrize("likelihood", ["bernoulli-logit", "poisson"])
@pytest.mark.parametrize("diagonal", ["log", "raw"])
def test_the_gradient_in_weights_is_that_of_central_differences(build, likelihood, diagonal):
    problem = build(
        "counts" if likelihood == "poisson" else "labels",
        likelihood=likelihood,
        diagonal=diagonal,
        variance=0.5,
    )
    params = problem.start() + 0.2 * np.random.default_rng(2).standard_normal(9)
    steps = 1e-5 * np.eye(9)
    expected = [(problem.value(params + each) - problem.value(params - each)) / 2e-5 for each in steps]
    np.testing.assert_allclose(problem.grad(params), expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("dataset", "likelihood"),
    [("labels", "bernoulli-logit"), ("counts", "poisson"), ("wide", "bernoulli-logit")],
)
def test_where_pg_ends_the_gradient_in_weights_is_zero(build, dataset, likelihood):
    problem = build(dataset, likelihood=likelihood, variance=0.3)
    answer = after(problem, PG(step=0.5), 150)
    params = weights_of(problem, answer)
    np.testing.assert_allclose(problem.grad(params), 0, atol=1e-7)
    assert problem.value(params) == pytest.approx(answer.negative_bound(), rel=1e-10)


def test_the_duals_follow_the_update_of_the_weights(build):
    """V⁻¹ ← rV⁻¹ + (1-r)(I + X'GX), m ← m - (1-r)V_new(m + X'α), METHODS C3."""
    problem, rate = build(), 0.2 / 1.2
    features = problem.prior.features
    mean, precision = np.zeros(3), np.eye(3)
    answers = PG(step=0.2).run(problem, problem.backend.rng(1))
    for answer in islice(answers, 20):
        params = problem.pack(mean, np.linalg.cholesky(np.linalg.inv(precision)))
        np.testing.assert_allclose(features.T @ answer.dual, mean, atol=1e-10)
        np.testing.assert_allclose(weights_of(problem, answer), params, atol=1e-9)
        local = problem.local(np.arange(20), *problem.marginals(params))
        fresh = np.eye(3) + features.T @ (local.curvature[:, None] * features)
        precision = (1 - rate) * precision + rate * fresh
        mean = mean - rate * np.linalg.solve(precision, mean + features.T @ local.slope)


def test_counts_are_judged_by_their_log_loss_alone(build):
    problem = build("counts", likelihood="poisson")
    answers = list(islice(PG(step=0.3).run(problem, problem.backend.rng(1)), 30))
    found = [problem.metrics(answer) for answer in answers]
    assert set(found[0]) == {"negative_bound", "log_loss_bits"}
    assert found[-1]["negative_bound"] < found[0]["negative_bound"]
    assert found[-1]["log_loss_bits"] < found[0]["log_loss_bits"]


def test_rates_beyond_all_numbers_are_reported_as_divergence(build):
    problem = build("huge", likelihood="poisson")
    answers = list(islice(PGSVI(step=0.1).run(problem, problem.backend.rng(1)), 4))
    assert problem.metrics(answers[-1]) == {"negative_bound": math.inf, "log_loss_bits": math.inf}


@pytest.mark.parametrize("form", ["approximate", "exact"])
@pytest.mark.parametrize("variance", [30.0, 100.0])
def test_rates_that_are_finite_and_beyond_all_solving_are_reported_as_divergence(backend, variance, form):
    """From 1e25 on X'ΓX swamps the identity beside it, and is indefinite by rounding."""
    problem = BayesianGLM(
        backend, backend.rng(1), dataset="counts-like", likelihood="poisson", variance=variance
    )
    first, *others = islice(PG(step=0.1, form=form).run(problem, backend.rng(1)), 4)
    assert math.isfinite(first.negative_bound())
    for answer in others:
        assert problem.metrics(answer) == {"negative_bound": math.inf, "log_loss_bits": math.inf}


@pytest.mark.parametrize("optimizer", [PG(step=0.1), PGSVI(step=0.1)], ids=repr)
@pytest.mark.parametrize("variance", [10.0, 30.0])
def test_so_are_those_of_repeated_rows_where_weights_outnumber_examples(build, variance, optimizer):
    """K is singular: beside rates of 1e17 the identity does not keep I + SKS positive definite."""
    problem = build("repeated", likelihood="poisson", variance=variance)
    first, *_, last = islice(optimizer.run(problem, problem.backend.rng(1)), 8)
    assert math.isfinite(first.negative_bound())
    assert problem.metrics(last) == {"negative_bound": math.inf, "log_loss_bits": math.inf}


def test_densities_are_judged_by_their_log_loss_in_nats(build):
    problem = build("counts", likelihood={"name": "gaussian", "noise": 2.0})
    answer = after(problem, PG(), 60)
    mean, variance = answer.predict(problem.test.features)
    residuals, total = problem.test.targets - mean, variance + 2.0
    expected = np.mean(residuals**2 / total + np.log(2 * np.pi * total)) / 2
    assert set(problem.metrics(answer)) == {"negative_bound", "log_loss"}
    assert problem.metrics(answer)["log_loss"] == pytest.approx(expected, rel=1e-12)


def test_a_likelihood_may_be_a_table_with_parameters(build):
    assert build("counts", likelihood={"name": "student-t", "degrees": 3.0}).likelihood == StudentT(3.0)
    with pytest.raises(BenchfwError, match="the likelihood 'student-t' has no parameter 'degree'"):
        build("counts", likelihood={"name": "student-t", "degree": 3.0})
    with pytest.raises(BenchfwError, match="the table of a likelihood needs its name"):
        build("counts", likelihood={"degrees": 3.0})


@pytest.mark.skipif(
    "ionosphere" not in local_datasets(), reason="data set 'ionosphere' is in no folder of BENCHFW_DATA"
)
def test_logistic_regression_on_ionosphere_ends_at_the_reference(backend):
    problem = BayesianGLM(backend, backend.rng(0))
    metrics = problem.metrics(after(problem, PG(), 40))
    assert metrics["negative_bound"] == pytest.approx(118.8365, abs=1e-3)
    assert metrics["log_loss_bits"] == pytest.approx(0.8206, abs=5e-4)
