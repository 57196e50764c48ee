"""The functional gradient at points; its doubly stochastic estimates have no bias and the right variance."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw.analysis.variance import DrawStatistics
from benchfw_kernelmachines.estimators.doubly_stochastic import DoublyStochastic
from benchfw_kernelmachines.problems.functional_gradient import FunctionalGradient

ROWS, POINTS, COORDINATES = 40, 50, 3
COVARIANCES = ("gaussian", "laplace", "cauchy", "matern")
ISOTROPIC = ("gaussian", "matern")
LOSSES = ("squared", "epsilon-insensitive", "logistic", "softmax", "hinge", "squared-hinge")
KINDS = [
    (covariance, kind)
    for kind in ("independent", "orthogonal", "quasi-monte-carlo")
    for covariance in (ISOTROPIC if kind == "orthogonal" else COVARIANCES)
]


@pytest.fixture
def build(tmp_path, monkeypatch, backend):
    rng = np.random.default_rng(0)
    features = rng.standard_normal((ROWS + POINTS, COORDINATES)).astype(np.float32)
    labels = {"numbers": features[:, 0] + 1.0, "classes": np.arange(len(features)) % 3}
    for name, y in labels.items():
        np.savez(tmp_path / f"{name}.npz", X=features, y=y, train_idx=np.arange(ROWS))
    monkeypatch.setenv("BENCHFW_DATA", str(tmp_path))

    def problem(covariance="gaussian", loss="squared", **params):
        dataset = "numbers" if loss in {"squared", "epsilon-insensitive"} else "classes"
        settings = {"dataset": dataset, "rows": ROWS, "penalty": 0.1, "covariance": covariance, "loss": loss}
        return FunctionalGradient(backend, backend.rng(0), **{**settings, **params})

    return problem


def some_params(problem):
    shape = problem.start().shape
    return (np.random.default_rng(3).standard_normal(shape) / 4 + 0.1).astype(np.float32)


def statistics(problem, params, rng, count, **settings):
    """Return the statistics of many draws, and the mean of each coordinate with its standard error."""
    estimator = DoublyStochastic(**settings)
    draws = np.array([estimator.draw(problem, rng)(params) for _ in range(count)], dtype=np.float64)
    found = DrawStatistics()
    for draw in draws:
        found.add(draw)
    return found, draws.std(axis=0, ddof=1) / count**0.5


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("covariance", COVARIANCES)
def test_the_gradient_at_a_point_is_the_slope_of_the_risk_along_the_covariance_there(build, covariance, loss):
    problem = build(covariance, loss, points=2)
    params = some_params(problem).astype(np.float64)
    centres = np.concatenate([problem.inputs, problem.points]).astype(np.float64)
    gram = problem.covariance.gram(centres, centres)
    targets = problem.risk.rows(np.arange(ROWS)).targets

    def risk(weights):
        scores = gram[:ROWS] @ weights
        penalty = problem.penalty / 2 * np.sum(weights * (gram @ weights))
        return penalty + problem.risk.loss.value(scores, targets).mean()

    step, outputs = 1e-5, params.shape[1]
    weights = np.concatenate([params, np.zeros((2, outputs))])
    slopes = []
    for place in np.ndindex(2, outputs):
        move = np.zeros_like(weights)
        move[ROWS + place[0], place[1]] = step
        slopes.append((risk(weights + move) - risk(weights - move)) / (2 * step))
    np.testing.assert_allclose(problem.grad(params.astype(np.float32)), slopes, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("covariance", "kind", "loss"),
    [(*each, "squared") for each in KINDS] + [(*KINDS[0], "softmax"), (*KINDS[0], "logistic")],
)
@pytest.mark.sampled(4)
def test_doubly_stochastic_gradients_are_unbiased(build, backend, covariance, kind, loss):
    problem = build(covariance, loss)
    params = some_params(problem)
    found, std_error = statistics(problem, params, backend.rng(5), 250, batch=8, features=32, kind=kind)
    exact = problem.grad(params)
    assert exact.shape == (POINTS * (1 if loss == "squared" else 3),)
    # twice the covariance, the features of the papers, would be seen
    assert np.linalg.norm(exact) > 10 * np.linalg.norm(std_error)
    assert (np.abs(found.mean - exact) < 4 * std_error).all()


def variance_of(problem, params, batch, features):
    """Return the total variance of doubly stochastic gradients with independent features.

    A coordinate is the mean of g_i h_i over a batch, h_i the mean of cos ω'(x_i - z) over the frequencies.
    E cos ω'u cos ω'v = (k(u - v) + k(u + v)) / 2, and of ordered pairs of a batch a share of (B-1)/(n-1)
    times that of independent rows are different.
    """
    rows, points = problem.inputs.astype(np.float64), problem.points.astype(np.float64)
    slopes = problem.derivatives(params, slice(None)).astype(np.float64)
    repeated = (batch - 1) / (ROWS - 1)
    total = 0.0
    for point in points:
        away = rows - point
        mean = problem.covariance.gram(away, np.zeros((1, COORDINATES)))[:, 0]
        product = (problem.covariance.gram(away, away) + problem.covariance.gram(away, -away)) / 2
        moments = product / features + (1 - 1 / features) * np.outer(mean, mean)
        for slope in slopes.T:
            terms = moments * np.outer(slope, slope)
            second = (1 - repeated) * np.trace(terms) + repeated * terms.sum()
            total += second / (ROWS * batch) - (slope @ mean / ROWS) ** 2
    return total


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.sampled(2)
def test_the_variance_of_each_source_and_of_both_is_that_of_the_closed_form(build, backend, covariance):
    problem = build(covariance)
    params = some_params(problem)
    for randomness, batch, features in (("both", 20, 4), ("data", 20, np.inf), ("features", ROWS, 4)):
        settings = {"batch": 20, "features": 4, "randomness": randomness}
        found, _ = statistics(problem, params, backend.rng(7), 400, **settings)
        expected = variance_of(problem, params, batch, features)
        assert abs(found.variance - expected) < 4 * found.variance_std_error


@pytest.mark.parametrize("kind", ["independent", "orthogonal", "quasi-monte-carlo"])
@pytest.mark.sampled(1)
def test_both_sources_together_have_at_least_the_sum_of_their_variances(build, backend, kind):
    """The law of total variance, once for each source.

    With rows D and frequencies W independent, E[T|D] is the estimate from D alone and E[T|W] that from W
    alone. They are uncorrelated, and T - E[T|D] - E[T|W] + E T is uncorrelated with both, so that
    Var T = Var E[T|D] + Var E[T|W] + Var(the rest).
    """
    problem = build(loss="softmax")
    params = some_params(problem)
    settings = {"batch": 30, "features": 2, "kind": kind}
    both, data, features = (
        statistics(problem, params, backend.rng(9), 400, randomness=each, **settings)[0]
        for each in ("both", "data", "features")
    )
    error = np.linalg.norm([each.variance_std_error for each in (both, data, features)])
    assert both.variance > data.variance + features.variance - 4 * error


def test_the_variance_beyond_the_sum_falls_as_one_over_batch_and_features(build):
    problem = build()
    params = some_params(problem)

    def rest(batch, features):
        apart = variance_of(problem, params, batch, np.inf) + variance_of(problem, params, ROWS, features)
        return variance_of(problem, params, batch, features) - apart

    assert rest(1, 1) > 0
    for batch, features in ((1, 8), (4, 1), (5, 7)):
        share = (ROWS - batch) / (ROWS - 1) / batch / features
        assert rest(batch, features) == pytest.approx(share * rest(1, 1), rel=1e-6)


def test_orthogonal_features_have_less_variance_than_independent_ones(build, backend):
    problem = build()
    params = some_params(problem)
    settings = {"features": 2 * COORDINATES, "randomness": "features"}
    orthogonal, independent = (
        statistics(problem, params, backend.rng(11), 400, kind=kind, **settings)[0]
        for kind in ("orthogonal", "independent")
    )
    error = np.hypot(orthogonal.variance_std_error, independent.variance_std_error)
    assert orthogonal.variance < independent.variance - 4 * error


def test_a_draw_is_a_function_of_the_parameters_and_costs_its_rows(build, backend):
    problem = build()
    params = some_params(problem)
    for randomness, cost in (("both", 6), ("data", 6), ("features", ROWS)):
        estimator = DoublyStochastic(batch=6, features=5, randomness=randomness)
        draw = estimator.draw(problem, backend.rng(1))
        before = problem.cost
        first = draw(params)
        assert problem.cost - before == cost
        assert not np.allclose(draw(problem.start()), first)
        np.testing.assert_array_equal(draw(params), first)
        assert not np.allclose(estimator.draw(problem, backend.rng(2))(params), first)


def test_draws_of_one_stream_differ(build, backend):
    problem, rng = build(), backend.rng(1)
    estimator = DoublyStochastic(features=5, randomness="features")
    first, second = (estimator.draw(problem, rng)(problem.start()) for _ in range(2))
    assert not np.allclose(first, second)


def test_a_batch_of_all_rows_without_features_is_the_gradient(build, backend):
    problem = build(loss="softmax")
    params = some_params(problem)
    gradient = DoublyStochastic(batch=ROWS, randomness="data").draw(problem, backend.rng(1))(params)
    np.testing.assert_allclose(gradient, problem.grad(params), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_start_is_better_than_nothing_and_free(build, loss):
    problem = build(loss=loss, penalty=1e-3)
    start = problem.start()
    assert problem.metrics(start)["objective"] < problem.metrics(np.zeros_like(start))["objective"]
    assert problem.cost == 0


def test_bad_numbers_are_refused(build, backend):
    with pytest.raises(BenchfwError, match="'numbers' has 50 test rows; points must be between 1 and that"):
        build(points=51)
    with pytest.raises(BenchfwError, match="stores gram matrices: rows = 10,001 is over 10,000; take fewer"):
        build(rows=10_001)
    with pytest.raises(BenchfwError, match="batch = 41 is more than the 40 rows; take a smaller batch"):
        DoublyStochastic(batch=41).draw(build(), backend.rng(1))
    with pytest.raises(BenchfwError, match="orthogonal frequencies need a covariance"):
        DoublyStochastic(kind="orthogonal").draw(build("laplace"), backend.rng(1))
