"""Estimators of the gradient in λ: unbiased for every likelihood, of the variance they should have."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_variational.estimators.quadrature import Quadrature
from benchfw_variational.estimators.sampled import Reparameterization, ScoreFunction
from benchfw_variational.likelihoods.sampling import sampled_local
from benchfw_variational.oracles import Local
from benchfw_variational.problems.bayesian_glm import BayesianGLM
from benchfw_variational.problems.gp_classification import GPClassification

EXAMPLES, BATCH, DRAWS = 6, 2, 20_000
KINDS = {"score-function": ScoreFunction, "reparameterization": Reparameterization}
LIKELIHOODS = {
    "bernoulli-logit": "classes",
    "bernoulli-probit": "classes",
    "gaussian": "numbers",
    "laplace": "numbers",
    "poisson": "counts",
    "student-t": "numbers",
}

each_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    rng = np.random.default_rng(0)
    rows = {"X": rng.standard_normal((8, 2)), "train_idx": np.arange(EXAMPLES)}
    np.savez(tmp_path / "classes.npz", y=np.arange(8) % 2, **rows)
    np.savez(tmp_path / "counts.npz", y=[0, 1, 3, 0, 2, 1, 1, 0], **rows)
    np.savez(tmp_path / "numbers.npz", y=rng.standard_normal(8), **rows)
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))

    def problem(likelihood="bernoulli-logit", kind=BayesianGLM, **params):
        dataset = LIKELIHOODS[likelihood]
        return kind(backend, backend.rng(0), dataset=dataset, likelihood=likelihood, **params)

    return problem


def some_params(problem):
    return problem.start() + 0.2 * np.random.default_rng(3).standard_normal(len(problem.start()))


class Listener:
    """Stands for a problem, and keeps what is drawn for it."""

    num_samples = EXAMPLES

    def __init__(self):
        self.batches, self.normals = [], []

    def marginals(self, params, batch):
        return None, None

    def sampled(self, batch, mean, variance, normals, kind):
        self.batches.append(batch)
        self.normals.append(normals[0])

    def gradient(self, params, batch, local):
        return None


@pytest.fixture(scope="module")
def drawn(backend):
    """The batches and normals of draws with one sample an example, (DRAWS, BATCH) each."""
    rng, listener = backend.rng(5), Listener()
    for _ in range(DRAWS):
        ScoreFunction(batch=BATCH, samples=1).draw(listener, rng)(None)
    return np.array(listener.batches), np.array(listener.normals)


def gradients_of(problem, params, kind, batches, normals):
    """Return the gradients of many draws at once: they are affine in the slopes and curvatures of a batch."""
    everything, nothing = np.arange(EXAMPLES), np.zeros(EXAMPLES)
    rest = problem.gradient(params, everything, Local(nothing, nothing, nothing))
    units = np.eye(EXAMPLES)
    by_slope = [problem.gradient(params, everything, Local(nothing, unit, nothing)) - rest for unit in units]
    by_bend = [problem.gradient(params, everything, Local(nothing, nothing, unit)) - rest for unit in units]
    mean, variance = problem.marginals(params)
    at = batches.ravel()
    arguments = (problem.targets[at], mean[at], variance[at], normals.reshape(1, -1), kind)
    local = sampled_local(problem.likelihood, *arguments)
    parts = local.slope[:, None] * np.array(by_slope)[at] + local.curvature[:, None] * np.array(by_bend)[at]
    return rest + EXAMPLES / BATCH * parts.reshape(*batches.shape, -1).sum(axis=1)


@each_kind
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
@pytest.mark.sampled(6)
def test_sampled_gradients_are_unbiased(build, drawn, likelihood, kind):
    problem = build(likelihood)
    params = some_params(problem)
    gradients = gradients_of(problem, params, kind, *drawn)
    error = gradients.mean(axis=0) - problem.grad(params)
    assert (np.abs(error) < 4 * gradients.std(axis=0) / DRAWS**0.5).all()


@each_kind
@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_these_gradients_are_those_of_the_estimators(build, drawn, backend, likelihood, kind):
    problem = build(likelihood)
    params = some_params(problem)
    rng = backend.rng(5)
    for expected in gradients_of(problem, params, kind, *(part[:20] for part in drawn)):
        gradient = KINDS[kind](batch=BATCH, samples=1).draw(problem, rng)(params)
        np.testing.assert_allclose(gradient, expected, rtol=1e-10, atol=1e-12)


class Dealt:
    """Stands for a stream of random numbers: deals one batch."""

    def __init__(self, batch):
        self.batch = np.array(batch)

    def choice(self, population, size, replace):
        assert (population, size, replace) == (EXAMPLES, len(self.batch), False)
        return self.batch


def gradients_of_all_batches(problem, params, size):
    batches = combinations(range(EXAMPLES), size)
    return np.array([Quadrature(size).draw(problem, Dealt(batch))(params) for batch in batches])


@pytest.mark.parametrize("size", [1, 2, 5, 6])
@pytest.mark.parametrize("problem", [BayesianGLM, GPClassification])
def test_the_mean_over_all_batches_is_the_gradient(build, problem, size):
    problem = build(kind=problem)
    params = some_params(problem)
    mean = gradients_of_all_batches(problem, params, size).mean(axis=0)
    np.testing.assert_allclose(mean, problem.grad(params), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("problem", [BayesianGLM, GPClassification])
def test_the_variance_falls_like_one_over_the_batch_without_replacement(build, problem):
    problem = build(kind=problem)
    params = some_params(problem)
    single = gradients_of_all_batches(problem, params, 1).var(axis=0).sum()
    for size in (2, 3, 5):
        variance = gradients_of_all_batches(problem, params, size).var(axis=0).sum()
        expected = single / size * (EXAMPLES - size) / (EXAMPLES - 1)
        assert variance == pytest.approx(expected, rel=1e-10)


@each_kind
def test_the_variance_falls_like_one_over_the_samples(build, backend, kind):
    problem = build()
    params = some_params(problem)
    rng, count = backend.rng(2), 300

    def variances(samples):
        draws = [KINDS[kind](samples=samples).draw(problem, rng)(params) for _ in range(count)]
        return np.var(draws, axis=0, ddof=1)

    # a variance over `count` draws is right to √(2/count) where the draws are nearly normal
    ratios = variances(10) / variances(160)
    assert (np.abs(np.log(ratios / 16)) < 4 * (4 / count) ** 0.5).all()


def test_batches_are_distinct_examples_and_all_are_as_probable(drawn):
    batches, _ = drawn
    assert (batches[:, 0] != batches[:, 1]).all()
    pairs = np.bincount(EXAMPLES * batches.min(axis=1) + batches.max(axis=1), minlength=EXAMPLES**2)
    expected = DRAWS / 15
    assert (np.abs(pairs[pairs > 0] - expected) < 4 * expected**0.5).all()
    assert np.count_nonzero(pairs) == 15


@pytest.mark.parametrize("estimator", [Quadrature(3), ScoreFunction(3, 7), Reparameterization(3, 7)])
def test_a_draw_is_a_function_of_the_parameters_and_costs_its_batch(build, backend, estimator):
    problem = build(kind=GPClassification)
    params = some_params(problem)
    draw = estimator.draw(problem, backend.rng(1))
    assert problem.cost == 0
    first = draw(params)
    assert problem.cost == 3
    assert not np.allclose(draw(problem.start()), first)
    np.testing.assert_array_equal(draw(params), first)
    assert not np.allclose(estimator.draw(problem, backend.rng(2))(params), first)


@pytest.mark.parametrize("diagonal", ["log", "raw"])
def test_without_a_batch_quadrature_is_the_gradient(build, backend, diagonal):
    problem = build(kind=GPClassification, diagonal=diagonal)
    params = some_params(problem)
    gradient = Quadrature().draw(problem, backend.rng(1))(params)
    np.testing.assert_array_equal(gradient, problem.grad(params))


@each_kind
@pytest.mark.parametrize("diagonal", ["log", "raw"])
def test_many_samples_of_all_examples_give_the_gradient(build, backend, kind, diagonal):
    problem = build(kind=GPClassification, diagonal=diagonal, log_scale=0.0)
    params = some_params(problem)
    draws = [KINDS[kind](samples=1_000).draw(problem, backend.rng(seed))(params) for seed in range(40)]
    error = np.mean(draws, axis=0) - problem.grad(params)
    assert (np.abs(error) < 4 * np.std(draws, axis=0, ddof=1) / 40**0.5 + 1e-12).all()


def test_the_batches_of_a_pass_have_every_example_once_and_their_mean_is_the_gradient(build, backend):
    problem = build()
    params = some_params(problem)
    exact = Quadrature(batch=BATCH, order="passes").draws(problem, backend.rng(4))
    orders = []
    for _ in range(3):
        gradients = [next(exact)(params) for _ in range(EXAMPLES // BATCH)]
        np.testing.assert_allclose(np.mean(gradients, axis=0), problem.grad(params), rtol=1e-12, atol=1e-13)
        orders.append(np.array(gradients))
    assert not np.allclose(orders[0], orders[1])
    heard = Listener()
    sampled = ScoreFunction(batch=4, samples=3, order="passes").draws(heard, backend.rng(4))
    for _ in range(4):
        next(sampled)(None)
    assert [len(each) for each in heard.batches] == [4, 2, 4, 2]
    for first in (0, 2):
        assert sorted(np.concatenate(heard.batches[first : first + 2])) == list(range(EXAMPLES))
    independent = Quadrature(batch=BATCH).draws(problem, backend.rng(4))
    rng = backend.rng(4)
    for _ in range(3):
        expected = Quadrature(batch=BATCH).draw(problem, rng)(params)
        np.testing.assert_array_equal(next(independent)(params), expected)


def test_a_batch_of_more_than_all_examples_is_refused(build, backend):
    with pytest.raises(BenchfwError, match="there is no batch of 7 in 6 examples; take at most 6"):
        ScoreFunction(7).draw(build(), backend.rng(1))


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_gauss_hermite_comes_to_the_exact_gradient_with_points_and_counts_as_much(build, likelihood):
    problem = build(likelihood, variance=0.1)
    params = some_params(problem)
    errors = []
    for points in (3, 200):
        estimator = Quadrature(points=points)
        assert not estimator.claims.unbiased
        before = problem.cost
        found = estimator.draw(problem, problem.backend.rng(1))(params)
        assert problem.cost - before == EXAMPLES
        errors.append(np.abs(found - problem.grad(params)).max())
    assert errors[1] <= max(errors[0] / 5, 1e-12)
