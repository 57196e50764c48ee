"""The general iteration (9): every special case against its own algorithm, written out."""

from __future__ import annotations

import math
from itertools import islice, pairwise

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_variational.optimizers.pg import PG
from benchfw_variational.optimizers.pg_svi import PGSVI
from benchfw_variational.optimizers.proximal_svi import ProximalSVI
from benchfw_variational.oracles import Local
from benchfw_variational.problems.bayesian_glm import BayesianGLM
from benchfw_variational.problems.gp_classification import GPClassification

STEPS = 20
SIZE = 17


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((24, 2))
    labels = (features[:, 0] * features[:, 1] > 0).astype(int)
    np.savez(tmp_path / "small.npz", X=features, y=labels, train_idx=np.arange(SIZE))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))
    settings = {"dataset": "small", "log_scale": 0.0, "jitter": 0.1}
    return lambda **params: GPClassification(backend, backend.rng(0), **(settings | params))


def path(problem, optimizer, steps=STEPS, seed=1):
    """The first answers, the start included."""
    return list(islice(optimizer.run(problem, problem.backend.rng(seed)), steps + 1))


def assert_follows(answers, gaussians):
    """Answers and pairs (m, V) agree to 1e-10, and have moved."""
    assert len(answers) == len(gaussians) == STEPS + 1
    for answer, (mean, covariance) in zip(answers, gaussians, strict=True):
        np.testing.assert_allclose(answer.mean, mean, rtol=0, atol=1e-10)
        np.testing.assert_allclose(answer.covariance, covariance, rtol=0, atol=1e-10)
    assert np.max(np.abs(answers[-1].covariance - answers[0].covariance)) > 1e-3


def iterate(problem, update):
    """The prior, then what `update` makes of m, V, ∂f/∂m and 2∂f/∂v, exact."""
    mean, covariance = np.zeros(SIZE), problem.prior.gram
    found = [(mean, covariance)]
    for _ in range(STEPS):
        local = problem.likelihood.expectations(problem.targets, mean, np.diag(covariance))
        mean, covariance = update(mean, covariance, local.slope, local.curvature)
        found.append((mean, covariance))
    return found


def test_without_split_and_euclidean_it_is_gradient_descent(build):
    problem, step = build(), 2e-3
    prior = np.linalg.inv(problem.prior.gram)

    def descend(mean, covariance, slopes, curvatures):
        by_covariance = (prior + np.diag(curvatures) - np.linalg.inv(covariance)) / 2
        return mean - step * (prior @ mean + slopes), covariance - step * by_covariance

    optimizer = ProximalSVI(step=step, divergence="euclidean", split=False)
    assert_follows(path(problem, optimizer), iterate(problem, descend))


def test_the_gradient_it_descends_is_that_of_the_problem_in_the_cholesky_factor(build):
    """∂F/∂L is the lower triangle of 2 ∂F/∂V L."""
    problem, step = build(diagonal="raw"), 1e-3
    answers = path(problem, ProximalSVI(step=step, divergence="euclidean", split=False), 5)
    before, after = answers[4:6]
    lower = np.linalg.cholesky(before.covariance)
    by_lower = np.tril(2 * (before.covariance - after.covariance) / step @ lower)
    gradient = problem.grad(problem.pack(before.mean, lower))
    np.testing.assert_allclose(gradient[:SIZE], (before.mean - after.mean) / step, atol=1e-9)
    np.testing.assert_allclose(gradient[SIZE:], by_lower[np.tril_indices(SIZE)], atol=1e-9)


def test_without_split_and_symmetric_it_is_svi_for_a_conjugate_model(build):
    """θ ← (1-β)θ + βθ*, θ* the natural parameters of the posterior. Hoffman et al. 2013."""
    problem, step = build(likelihood="gaussian"), 0.3
    prior = np.linalg.inv(problem.prior.gram)
    linear, precision = np.zeros(SIZE), prior
    found = []
    for _ in range(STEPS + 1):
        found.append((np.linalg.solve(precision, linear), np.linalg.inv(precision)))
        linear = (1 - step) * linear + step * problem.targets
        precision = (1 - step) * precision + step * (prior + np.eye(SIZE))
    optimizer = ProximalSVI(step=step, divergence="symmetric-kl", split=False)
    assert_follows(path(problem, optimizer), found)


def test_a_natural_gradient_step_of_one_solves_a_conjugate_model(build):
    problem = build(likelihood="gaussian")
    answer = path(problem, ProximalSVI(step=1.0, divergence="symmetric-kl", split=False), 1)[1]
    gram = problem.prior.gram
    noisy = np.linalg.inv(gram + np.eye(SIZE))
    np.testing.assert_allclose(answer.mean, gram @ noisy @ problem.targets, atol=1e-10)
    np.testing.assert_allclose(answer.covariance, gram - gram @ noisy @ gram, atol=1e-10)


def test_with_split_and_kl_it_is_the_method_of_khan_2015(build):
    """Eqs. (71), (72) and (82) as they are printed; the precisions γ start from zero, where B⁻¹ is zero."""
    problem, keep = build(), 1 / 1.5
    gram, precisions = problem.prior.gram, np.zeros(SIZE)

    def khan(mean, covariance, slopes, curvatures):
        nonlocal precisions
        shrunk = np.eye(SIZE)
        if precisions.any():
            shrunk = shrunk - gram @ np.linalg.inv(gram + np.diag(1 / (keep * precisions)))
        mean = mean - (1 - keep) * shrunk @ (mean + gram @ slopes)
        precisions = keep * precisions + (1 - keep) * curvatures
        return mean, np.linalg.inv(np.linalg.inv(gram) + np.diag(precisions))

    assert_follows(path(problem, ProximalSVI(step=0.5)), iterate(problem, khan))


def test_without_split_and_reversed_it_is_mirror_descent(build):
    """The moments (m, V + mm') descend by the gradient in natural parameters, I times that in the moments."""
    problem, step = build(), 0.02
    prior = np.linalg.inv(problem.prior.gram)

    def descend(mean, covariance, slopes, curvatures):
        by_second = (prior + np.diag(curvatures) - np.linalg.inv(covariance)) / 2
        by_first = prior @ mean + slopes - 2 * by_second @ mean
        first = covariance @ (by_first + 2 * by_second @ mean)
        second = 2 * covariance @ by_second @ covariance + np.outer(first, mean) + np.outer(mean, first)
        new = mean - step * first
        return new, covariance + np.outer(mean, mean) - step * second - np.outer(new, new)

    optimizer = ProximalSVI(step=step, divergence="reversed-kl", split=False)
    assert_follows(path(problem, optimizer), iterate(problem, descend))


def test_natural_gradients_are_the_approximate_form_of_pg_with_another_step(build):
    """Step β/(1+β) without split, β with it: eq. (83) is a natural-gradient step."""
    problem = build()
    expected = path(problem, PG(step=0.5))
    found = path(problem, ProximalSVI(step=0.5 / 1.5, divergence="symmetric-kl", split=False))
    for answer, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(answer.mean, other.mean, atol=1e-10)
        np.testing.assert_allclose(answer.variance, other.variance, atol=1e-10)


def test_with_split_and_kl_random_steps_are_those_of_pg_svi(build):
    problem, options = build(), {"step": 0.05, "batch": 5, "samples": 20, "expectation": "reparameterization"}
    expected = path(problem, PGSVI(form="exact", **options))
    for answer, other in zip(path(problem, ProximalSVI(**options)), expected, strict=True):
        np.testing.assert_allclose(answer.mean, other.mean, atol=1e-10)
        np.testing.assert_allclose(answer.variance, other.variance, atol=1e-10)
        assert answer.negative_bound() == pytest.approx(other.negative_bound(), abs=1e-9)


@pytest.mark.parametrize(
    ("step", "steps", "options"),
    [
        (3.0, 200, {"divergence": "euclidean"}),
        (0.5, 80, {"divergence": "kl"}),
        (0.3, 80, {"divergence": "kl", "split": False}),
        (0.3, 80, {"divergence": "symmetric-kl", "split": False}),
        (0.1, 300, {"divergence": "reversed-kl", "split": False}),
    ],
)
def test_all_divergences_lead_to_the_same_place(build, step, steps, options):
    problem = build()
    expected = problem.metrics(path(problem, PG(step=0.5), 80)[-1])
    found = problem.metrics(path(problem, ProximalSVI(step=step, **options), steps)[-1])
    assert found == pytest.approx(expected, abs=1e-6)


def test_steps_fall_by_their_power(build):
    problem = build()
    answers = path(problem, ProximalSVI(step=0.5, power=0.5), 2)
    prior, keep = np.linalg.inv(problem.prior.gram), 1 / (1 + 0.5 / 2**0.5)
    local = problem.likelihood.expectations(problem.targets, answers[1].mean, answers[1].variance)
    precision = keep * np.linalg.inv(answers[1].covariance) + (1 - keep) * (prior + np.diag(local.curvature))
    np.testing.assert_allclose(answers[2].covariance, np.linalg.inv(precision), atol=1e-10)


def test_answers_know_the_steps_that_led_to_them(build):
    """G_k = (λ_k - λ_{k+1})/β_k in λ = (m, V)."""
    answers = path(build(), ProximalSVI(step=0.5, power=1.0), 3)
    squares = [
        (np.sum((old.mean - new.mean) ** 2) + np.sum((old.covariance - new.covariance) ** 2)) / (0.5 / k) ** 2
        for k, (old, new) in enumerate(pairwise(answers), start=1)
    ]
    assert answers[3].squared_steps == pytest.approx((3, min(squares), np.mean(squares)), rel=1e-10)


@pytest.mark.parametrize("divergence", ["euclidean", "kl", "reversed-kl", "symmetric-kl"])
def test_too_long_a_step_gives_infinite_metrics(build, divergence):
    problem = build()
    answers = path(problem, ProximalSVI(step=50.0, divergence=divergence, split=False), 10)
    assert set(problem.metrics(answers[-1]).values()) == {math.inf}


@pytest.mark.parametrize("divergence", ["euclidean", "kl"])
def test_expectations_that_overflow_give_infinite_metrics(build, monkeypatch, divergence):
    problem = build()
    overflow = Local(*np.full((3, SIZE), math.inf))
    monkeypatch.setattr(problem, "local", lambda batch, mean, variance: overflow)
    answers = path(problem, ProximalSVI(step=0.1, divergence=divergence), 3)
    assert [answer.negative_bound() for answer in answers[1:]] == [math.inf] * 3


def test_examples_are_counted(build):
    problem = build()
    path(problem, ProximalSVI(step=0.1, batch=5), 4)
    assert problem.cost == SIZE


@pytest.mark.parametrize("divergence", ["reversed-kl", "symmetric-kl"])
def test_a_split_without_closed_form_is_refused(divergence):
    with pytest.raises(BenchfwError, match=f"with split the step of '{divergence}' has no closed form"):
        ProximalSVI(divergence=divergence)


def test_a_problem_without_what_it_needs_is_refused(build, backend):
    with pytest.raises(BenchfwError, match='step = "auto" needs split = true and a problem that knows'):
        path(build(), ProximalSVI(), 1)
    problem = BayesianGLM(backend, backend.rng(0), dataset="small")
    with pytest.raises(BenchfwError, match="needs a prior whose covariance is stored whole"):
        path(problem, ProximalSVI(step=0.5), 1)
