"""Theorems 5 and 6 of Han, Avron & Shin 2018: SGD falls like 1/t, SVRG linearly."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from benchfw import BenchfwError
from benchfw_firstorder import SGD, SVRG
from benchfw_spectral import Chebyshev, Optimal, SpectralQuadratic

ESTIMATOR = Chebyshev(probes=2, distribution=Optimal(6.0))


@pytest.fixture(scope="module")
def problem(backend):
    return SpectralQuadratic(backend, backend.rng(1), size=20, parameters=5)


def squared_distances(optimizer, problem, seed, steps):
    answers = islice(optimizer.run(problem, problem.backend.rng(seed)), steps + 1)
    return np.array([float(((answer - problem.optimum) ** 2).sum()) for answer in answers])


@pytest.mark.thorough
def test_sgd_with_steps_one_over_alpha_t_falls_like_one_over_t(problem):
    steps = 600
    sgd = SGD(step=1 / problem.constants.strong_convexity, schedule="inverse", decay=1.0, estimator=ESTIMATOR)
    mean = np.mean([squared_distances(sgd, problem, seed, steps) for seed in range(12)], axis=0)
    t = np.unique(np.geomspace(20, steps, 30).astype(int))
    slope = np.polyfit(np.log(t), np.log(mean[t]), 1)[0]
    assert slope == pytest.approx(-1.0, abs=0.15)


def test_svrg_falls_linearly_down_to_rounding(problem):
    svrg = SVRG(step=0.2, inner=20, estimator=ESTIMATOR)
    distances = squared_distances(svrg, problem, 5, 240)[::20]  # at the snapshots
    assert np.all(distances[1:9] < 0.2 * distances[:8])
    assert distances[-1] < 1e-20


def test_the_optimum_is_where_the_gradient_vanishes_and_is_known_for_every_function(backend):
    for function in ("log", "sqrt", "exp", "xlogx", "inverse"):
        problem = SpectralQuadratic(backend, backend.rng(3), function=function, size=10, parameters=4)
        np.testing.assert_allclose(problem.grad(problem.optimum), 0, atol=1e-12)
        lower = problem.value(problem.optimum)
        for seed in range(5):
            elsewhere = backend.rng(seed).random(4)
            assert problem.value(elsewhere) >= lower
            assert problem.metrics(elsewhere)["gap"] == pytest.approx(problem.value(elsewhere) - lower)


STRUCTURES = pytest.mark.parametrize("structure", ["dense", "sparse", "low-rank"])


@STRUCTURES
def test_the_interval_holds_the_spectrum_over_the_whole_box(backend, structure):
    problem = SpectralQuadratic(backend, backend.rng(1), size=20, parameters=5, structure=structure)
    low, high = problem.interval
    for seed in range(20):
        matrix = problem.at(backend.rng(seed).random(5)).operator.matmat(np.eye(20))
        spectrum = np.linalg.eigvalsh(matrix)
        assert low <= spectrum[0] * (1 + 1e-14)
        assert spectrum[-1] <= high


@STRUCTURES
def test_exact_oracles_and_products_are_of_one_matrix(backend, structure):
    problem = SpectralQuadratic(backend, backend.rng(2), size=12, parameters=4, structure=structure)
    params, width = backend.rng(3).random(4), 1e-5
    matrix = problem.at(params)
    dense = matrix.operator.matmat(np.eye(12))
    assert problem.value(params) == pytest.approx(-np.linalg.slogdet(dense)[1] + problem.rest(params))
    for i, step in enumerate(width * np.eye(4)):
        slope = (problem.value(params + step) - problem.value(params - step)) / (2 * width)
        assert problem.grad(params)[i] == pytest.approx(slope, abs=1e-8)
    left, right = np.random.default_rng(4).standard_normal((2, 12, 3))
    moved = problem.at(params + width).operator.matmat(right) - matrix.operator.matmat(right)
    assert matrix.pullback(left, right).sum() == pytest.approx((left * moved).sum() / width, rel=1e-8)


def test_a_sparse_matrix_has_no_more_parameters_than_rows(backend):
    with pytest.raises(BenchfwError, match="sparse spectral-quadratic of 3 rows has 3 parameters at most"):
        SpectralQuadratic(backend, backend.rng(1), structure="sparse", size=3, parameters=4)


def test_the_exact_gradient_agrees_with_differences_of_the_value(backend, problem):
    theta, step = backend.rng(2).random(5), 1e-6
    differences = [
        (problem.value(theta + step * e) - problem.value(theta - step * e)) / (2 * step) for e in np.eye(5)
    ]
    np.testing.assert_allclose(problem.grad(theta), differences, rtol=1e-7, atol=1e-7)
