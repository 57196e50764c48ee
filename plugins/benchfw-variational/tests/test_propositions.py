"""Propositions 1, 2 and 3 on a problem whose constants are known, and those constants."""

from __future__ import annotations

import math
from itertools import islice

import numpy as np
import pytest

from benchfw_variational.likelihoods import BernoulliLogit
from benchfw_variational.optimizers.proximal_svi import ProximalSVI
from benchfw_variational.problems.gp_classification import GPClassification
from benchfw_variational.problems.scaled_gp import LOGISTIC_SMOOTHNESS, ScaledGP
from benchfw_variational.propositions import least_squared_step_bound, mean_squared_step_bound

MODULUS = {"kl": 0.5, "euclidean": 1.0}
ITERATIONS = np.arange(1, 41)


@pytest.fixture(scope="module")
def problem(backend):
    return ScaledGP(backend, backend.rng(0), samples=20)


def measured(problem, optimizer, seed=1):
    """The metrics after 1, 2, … iterations, as columns."""
    answers = islice(optimizer.run(problem, problem.backend.rng(seed)), len(ITERATIONS) + 1)
    found = [problem.metrics(answer) for answer in answers]
    assert list(found[0]) == ["gap"]
    return {name: np.array([each[name] for each in found[1:]]) for name in found[1]}


@pytest.mark.parametrize("divergence", ["kl", "euclidean"])
def test_proposition_1(problem, divergence):
    """min |G_k|² <= 2LC_0/(α²t), and F never rises."""
    optimizer, modulus = ProximalSVI(divergence=divergence), MODULUS[divergence]
    found = measured(problem, optimizer)
    bound = 2 * LOGISTIC_SMOOTHNESS * problem.start_gap / (modulus**2 * ITERATIONS)
    np.testing.assert_allclose(optimizer.bound(problem, ITERATIONS), bound, rtol=1e-12)
    assert optimizer.bounds == "least_squared_step"
    assert np.all(found["least_squared_step"] <= bound)
    assert np.all(found["mean_squared_step"] <= bound)  # which is what the proof shows
    assert np.all(np.diff(found["gap"]) < 1e-13)


@pytest.mark.parametrize(
    ("fraction", "power"), [(0.2, 0.0), (1.5, 0.0), (1.95, 0.0), (1.95, 0.5), (1.0, 1.0)]
)
@pytest.mark.parametrize("divergence", ["kl", "euclidean"])
def test_proposition_2(problem, divergence, fraction, power):
    """min |G_k|² <= C_0/Σ(αβ_k - Lβ_k²/2), β_k from a fraction of α/L on."""
    modulus = MODULUS[divergence]
    step = fraction * modulus / LOGISTIC_SMOOTHNESS
    optimizer = ProximalSVI(divergence=divergence, step=step, power=power)
    steps = step / ITERATIONS**power
    bound = problem.start_gap / np.cumsum(modulus * steps - LOGISTIC_SMOOTHNESS * steps**2 / 2)
    np.testing.assert_allclose(optimizer.bound(problem, ITERATIONS), bound, rtol=1e-12)
    assert np.all(measured(problem, optimizer)["least_squared_step"] <= bound)


@pytest.mark.parametrize(
    "options",
    [
        {"batch": 5},
        {"batch": 7},
        {"batch": 5, "divergence": "euclidean"},
        {"expectation": "reparameterization", "samples": 2},
        {"expectation": "reparameterization", "samples": 2, "batch": 10, "step": 0.3},
    ],
)
def test_proposition_3(problem, options):
    """The mean of |G_k|² over iterations and 6 runs <= 2LC_0/(α*²t) + cσ²/(Mα*), α* = βL, c = 1/(2(α-α*))."""
    optimizer, modulus = ProximalSVI(**options), MODULUS[options.get("divergence", "kl")]
    effective = LOGISTIC_SMOOTHNESS * options.get("step", modulus / 2 / LOGISTIC_SMOOTHNESS)
    noise = problem.gradient_noise(options.get("batch"), options.get("samples"))
    bound = 2 * LOGISTIC_SMOOTHNESS * problem.start_gap / (effective**2 * ITERATIONS)
    bound = bound + noise / (2 * (modulus - effective) * effective)
    np.testing.assert_allclose(optimizer.bound(problem, ITERATIONS), bound, rtol=1e-12)
    runs = [measured(problem, optimizer, seed)["mean_squared_step"] for seed in range(6)]
    assert optimizer.bounds == "mean_squared_step"
    assert np.all(np.mean(runs, axis=0) <= bound)


def test_a_batch_of_all_examples_is_not_random(problem):
    """Proposition 1, whose proof is as good for the mean; with falling steps it is not."""
    optimizer = ProximalSVI(batch=problem.num_samples + 1)
    bound = ProximalSVI().bound(problem, ITERATIONS)
    np.testing.assert_allclose(optimizer.bound(problem, ITERATIONS), bound, rtol=1e-12)
    found, expected = measured(problem, optimizer), measured(problem, ProximalSVI())
    np.testing.assert_allclose(found["gap"], expected["gap"], atol=1e-12)
    assert optimizer.bounds == "mean_squared_step"
    assert np.all(found["mean_squared_step"] <= bound)
    assert ProximalSVI(batch=problem.num_samples, power=0.5).bound(problem, ITERATIONS) is None


def test_a_bound_that_is_not_a_number_is_an_infinite_gap(problem, monkeypatch):
    answer = next(ProximalSVI().run(problem, problem.backend.rng(0)))
    monkeypatch.setattr(answer, "negative_bound", lambda: math.nan)
    assert problem.metrics(answer) == {"gap": math.inf}


def test_the_propositions_say_nothing_where_they_do_not_apply(problem, tmp_path, monkeypatch, backend):
    silent = [
        ProximalSVI(step=2 * 0.5 / LOGISTIC_SMOOTHNESS),
        ProximalSVI(step=0.5 / LOGISTIC_SMOOTHNESS, batch=5),
        ProximalSVI(batch=5, power=0.5),
        ProximalSVI(expectation="score-function"),
        ProximalSVI(step=0.1, split=False),
    ]
    assert [each.bound(problem, ITERATIONS) for each in silent] == [None] * 5
    features = np.random.default_rng(0).standard_normal((9, 2))
    np.savez(tmp_path / "few.npz", X=features, y=features[:, 0] > 0, train_idx=np.arange(6))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    other = GPClassification(backend, backend.rng(0), dataset="few")
    assert ProximalSVI(step=0.1).bound(other, ITERATIONS) is None


def test_both_bounds_agree_where_there_is_no_noise():
    """With c → ∞, that is β → α/L, Proposition 3 is Proposition 1."""
    constants = (3.0, 0.25, 0.5)
    step = 2.0 * (1 - 1e-9)
    first = least_squared_step_bound(*constants, np.full(5, 2.0))
    np.testing.assert_allclose(
        mean_squared_step_bound(*constants, step, 0.0, np.arange(1, 6)), first, rtol=1e-8
    )


def test_the_top_eigenvalue_is_one_and_no_covariance_exceeds_the_prior(problem):
    gram = problem.prior.gram
    assert np.linalg.eigvalsh(gram)[-1] == pytest.approx(1.0, rel=1e-12)
    options = {"batch": 5, "expectation": "reparameterization", "samples": 2}
    for answer in islice(ProximalSVI(**options).run(problem, problem.backend.rng(0)), 30):
        assert np.linalg.eigvalsh(gram - answer.covariance)[0] > -1e-12


def test_the_logistic_gradient_is_as_smooth_as_is_said():
    """Hessians of f in (m, v) by differences, over means of both signs and variances from 1e-3 to 100."""
    means, variances = (
        each.ravel() for each in np.meshgrid(np.linspace(-6, 6, 61), np.geomspace(1e-3, 100, 41))
    )
    likelihood, ones = BernoulliLogit(), np.ones(len(means))

    def gradient(mean, variance):
        local = likelihood.expectations(ones, mean, variance)
        return np.stack([local.slope, local.curvature / 2])

    size = 1e-4
    by_mean = (gradient(means + size, variances) - gradient(means - size, variances)) / (2 * size)
    near = 1e-3 * variances
    by_variance = (gradient(means, variances + near) - gradient(means, variances - near)) / (2 * near)
    norms = np.linalg.norm(np.stack([by_mean, by_variance]).transpose(2, 0, 1), ord=2, axis=(1, 2))
    assert 0.24 < norms.max() < LOGISTIC_SMOOTHNESS


def test_the_entries_of_the_hessian_allow_no_larger_constant():
    entries = np.array([[1 / 4, 1 / (12 * 3**0.5)], [1 / (12 * 3**0.5), 1 / 32]])
    assert LOGISTIC_SMOOTHNESS - 1e-3 < np.linalg.norm(entries, ord=2) < LOGISTIC_SMOOTHNESS


@pytest.mark.parametrize(("batch", "samples"), [(5, None), (7, None), (None, 2), (5, 2)])
def test_the_noise_of_the_gradient_is_below_its_bound(problem, batch, samples):
    """E|∇̂f - ∇f|² at the start, over the batches of a pass and 50 draws."""
    size, variance = problem.num_samples, problem.prior.diagonal
    local = problem.likelihood.expectations(problem.targets, np.zeros(size), variance)
    exact = np.stack([local.slope, local.curvature / 2])
    rng, errors = problem.backend.rng(3), []
    for first in range(0, size, batch or size):
        rows = np.arange(size)[first : first + (batch or size)]
        for _ in range(50):
            found = local
            if samples is not None:
                normals = rng.standard_normal((samples, len(rows)))
                found = problem.sampled(
                    rows, np.zeros(len(rows)), variance[rows], normals, "reparameterization"
                )
            picked = slice(None) if samples is not None else rows
            estimate = np.zeros((2, size))
            estimate[:, rows] = size / len(rows) * np.stack([found.slope, found.curvature / 2])[:, picked]
            errors.append(np.sum((estimate - exact) ** 2))
    assert np.mean(errors) < problem.gradient_noise(batch, samples)


def test_the_known_optimum_has_no_gradient(problem):
    *_, last = islice(ProximalSVI().run(problem, problem.backend.rng(0)), 60)
    params = problem.pack(last.mean, np.linalg.cholesky(last.covariance))
    np.testing.assert_allclose(problem.grad(params), 0, atol=1e-10)
    assert problem.metrics(last)["gap"] < 1e-12
    assert problem.metrics(problem.start()) == {"gap": pytest.approx(problem.start_gap)}
