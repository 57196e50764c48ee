"""On a GPU: problems and estimators of spectral sums give the numbers that they give on the host."""

from __future__ import annotations

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw.errors import BackendUnavailable, BenchfwError
from benchfw_spectral import (
    Chebyshev,
    GPHyperparameters,
    HutchPlusPlus,
    Lanczos,
    LowRank,
    MatrixCompletion,
    NegativeBinomial,
    Optimal,
    SpectralQuadratic,
    SpectralSumProblem,
    XTrace,
)
from benchfw_spectral.kernels.chebyshev import chebyshev_forms, chebyshev_pairs

NUMPY = get_backend("numpy")
try:
    CUPY = get_backend("cupy")
except BackendUnavailable as missing:
    pytest.skip(str(missing), allow_module_level=True)

RATINGS = "movielens-like(users=60, items=40, ratings=900)"

OBJECTIVES = {
    "quadratic": lambda backend: SpectralQuadratic(backend, backend.rng(3), size=30),
    "completion": lambda backend: MatrixCompletion(backend, backend.rng(3), dataset=RATINGS),
    "interpolated": lambda backend: GPHyperparameters(
        backend, backend.rng(3), dataset="sound-like", points=2_000, grid=200
    ),
    "interpolated, many points": lambda backend: GPHyperparameters(
        backend, backend.rng(3), dataset="sound-like", points=3_000, grid=200
    ),
    "dense": lambda backend: GPHyperparameters(
        backend, backend.rng(3), dataset="uci-like", structure="dense", points=120
    ),
}
SOLVED = {*OBJECTIVES} - {"quadratic", "completion"}  # to 1e-6, by conjugate gradients
TRACES = {
    "laplacian": {"matrix": "laplacian-2d", "size": 400},
    "points": {"matrix": "rbf", "size": 200, "shift": 0.5},
    "spectrum": {"matrix": "spectrum", "size": 128, "shift": 0.0},
}
ESTIMATORS = {
    "chebyshev": Chebyshev(probes=6, distribution=Optimal(12.0)),
    "chebyshev, reverse": Chebyshev(probes=6, distribution=NegativeBinomial(12.0), mode="reverse"),
    "lanczos": Lanczos(probes=6, steps=12, reorthogonalize=True),  # without it rounding is amplified
}


def on_host(backend, value):
    return np.asarray(backend.to_numpy(backend.asarray(value)))


def agree(host, device, tolerance):
    scale = max(1.0, float(np.max(np.abs(host))))
    np.testing.assert_allclose(device, host, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_is_the_same_on_both_backends(name):
    found = []
    for backend in (NUMPY, CUPY):
        problem = OBJECTIVES[name](backend)
        theta = problem.start()
        gradient = on_host(backend, problem.grad(theta))
        moved = problem.project(theta - 1e-3 * problem.grad(theta))
        metrics = problem.metrics(moved)
        found.append((problem.value(theta), gradient, metrics))
    (value, gradient, metrics), (device_value, device_gradient, device_metrics) = found
    loose = name in SOLVED
    assert device_value == pytest.approx(value, rel=1e-6 if loose else 1e-12)
    agree(gradient, device_gradient, 1e-6 if loose else 1e-11)
    assert device_metrics == pytest.approx(metrics, rel=1e-5 if loose else 1e-9)


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_drawn_gradient_is_the_same_on_both_backends(name, estimator):
    drawn = []
    for backend in (NUMPY, CUPY):
        problem = OBJECTIVES[name](backend)
        draw = ESTIMATORS[estimator].draw(problem, backend.rng(8))
        value = draw(problem.start())
        assert isinstance(value, backend.xp.ndarray)
        drawn.append(on_host(backend, value))
    agree(*drawn, 1e-5 if name in SOLVED or estimator == "lanczos" else 1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        Chebyshev(probes=7, distribution=Optimal(15.0)),
        Lanczos(probes=7, steps=15),
        HutchPlusPlus(probes=9, degree=10),
        XTrace(probes=6, degree=10),
    ],
    ids=lambda each: type(each).__name__,
)
@pytest.mark.parametrize("name", TRACES)
def test_a_drawn_value_is_the_same_on_both_backends(name, estimator):
    host, device = (
        float(estimator.draw(problem, backend.rng(8))(None))
        for backend in (NUMPY, CUPY)
        for problem in [SpectralSumProblem(backend, backend.rng(3), function="log", **TRACES[name])]
    )
    assert device == pytest.approx(host, rel=1e-9)


@pytest.mark.parametrize("data_term", ["gradient", "prox"])
def test_matrix_completion_in_single_precision_is_the_same_on_both_backends(data_term):
    found = []
    for backend in (NUMPY, CUPY):
        problem = MatrixCompletion(
            backend, backend.rng(3), dataset=RATINGS, data_term=data_term, dtype="float32"
        )
        theta = problem.start()
        draws = [
            each.draw(problem, backend.rng(8))(theta)
            for each in (ESTIMATORS["chebyshev"], LowRank(rank=10, sweeps=30))
        ]
        arrays = [theta, problem.grad(theta), problem.prox(3 * theta - 4, 7.0), *draws]
        assert all(each.dtype == np.float32 for each in arrays)
        metrics = np.array(list(problem.metrics(theta - arrays[1]).values()))
        found.append([*(on_host(backend, each) for each in arrays), metrics])
    for host, device in zip(*found, strict=True):
        agree(host, device, 1e-4)


def dense_example(size, columns):
    rng = np.random.default_rng(size)
    factor = rng.standard_normal((size, size)) / size**0.5
    return np.eye(size) + factor @ factor.T, rng.standard_normal((size, columns))


@pytest.mark.parametrize("size", [1, 7, 257, 1_100, 1_600, 2_500])
@pytest.mark.parametrize("columns", [1, 33])
def test_series_of_dense_matrices_are_those_of_the_host_by_one_launch_or_many(size, columns):
    matrix, block = dense_example(size, columns)
    there = CUPY.asarray(matrix), CUPY.asarray(block)
    for degree in (0, 1, 2, 7, 20):
        host = chebyshev_forms(block, matrix, degree, (0.5, 6.0))
        agree(host, CUPY.to_numpy(chebyshev_forms(there[1], there[0], degree, (0.5, 6.0))), 1e-12)
    weights = 1.0 / np.arange(1.0, 12.0)
    pairs = chebyshev_pairs(block, matrix, weights, (0.5, 6.0))
    found = chebyshev_pairs(there[1], there[0], CUPY.asarray(weights), (0.5, 6.0))
    for host, device in zip(pairs, found, strict=True):
        agree(host, CUPY.to_numpy(device), 1e-12)


@pytest.mark.parametrize("size", [100, 2_500])
def test_a_spectrum_outside_of_the_interval_is_refused(size):
    matrix, block = map(CUPY.asarray, dense_example(size, 3))
    with pytest.raises(BenchfwError, match="the spectrum is not inside"):
        chebyshev_forms(block, matrix, 40, (1.0, 2.0))
    CUPY.to_numpy(chebyshev_forms(block, matrix, 40, (0.5, 6.0)))  # the next call is not refused
