"""The problem tr f(A): matrices, intervals, exact values, counts, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.io
import scipy.sparse

from benchfw import BenchfwError
from benchfw_spectral.problems.spectral_sum import SpectralSumProblem

EVERY = [
    {"matrix": "laplacian-2d", "size": 49},
    {"matrix": "laplacian-2d", "size": 1},
    {"matrix": "rbf", "size": 40},
    {"matrix": "rbf", "size": 40, "function": "sqrt", "dimension": 3, "length": 0.5},
    {"matrix": "spectrum", "size": 50, "shift": 0.0},
    {"matrix": "spectrum", "size": 51, "spectrum": "geometric", "function": "xlogx"},
    {"matrix": "spectrum", "size": 30, "spectrum": "low-rank", "function": "sqrt"},
    {"matrix": "spectrum", "size": 2, "spectrum": "uniform", "low": -1.0, "high": 1.0, "function": "exp"},
    {"matrix": "spectrum", "size": 1},
]


def build(backend, seed=1, **params):
    return SpectralSumProblem(backend, backend.rng(seed), **params)


def dense(problem):
    return problem.matmat(np.eye(problem.size))


@pytest.mark.parametrize("params", EVERY, ids=str)
def test_matrix_is_symmetric_and_its_spectrum_lies_in_the_interval(backend, params):
    problem = build(backend, **params)
    matrix = dense(problem)
    np.testing.assert_allclose(matrix, matrix.T, atol=1e-13)
    eigenvalues, (low, high) = np.linalg.eigvalsh(matrix), problem.interval
    assert low < high
    assert low - 1e-12 <= eigenvalues[0] <= eigenvalues[-1] <= high + 1e-12


@pytest.mark.parametrize("params", EVERY, ids=str)
def test_value_is_the_sum_of_f_over_the_eigenvalues(backend, params):
    problem = build(backend, **params)
    expected = problem.function(np.linalg.eigvalsh(dense(problem))).sum()
    assert problem.value() == pytest.approx(expected, rel=1e-11, abs=1e-10)
    assert problem.metrics(expected + 2.0) == {"error": pytest.approx(2.0, rel=1e-9)}


@pytest.mark.parametrize("params", EVERY, ids=str)
def test_each_column_costs_one_product_and_a_value_as_many_as_rows(backend, params):
    problem = build(backend, **params)
    assert problem.cost == 0.0
    problem.matmat(np.ones((problem.size, 3)))
    assert problem.cost == 3.0
    problem.metrics(problem.value())
    assert problem.cost == 3.0 + problem.size
    assert problem.cost_unit == "products"


def test_stored_matrix_is_what_the_products_are_of(backend):
    for name in ("laplacian-2d", "rbf"):
        problem = build(backend, matrix=name, size=25)
        stored = problem.stored.toarray() if name == "laplacian-2d" else problem.stored
        np.testing.assert_allclose(stored, dense(problem), atol=1e-14)
    assert build(backend, matrix="spectrum", size=25).stored is None


def test_interval_of_a_given_spectrum_is_exactly_the_one_asked_for(backend):
    problem = build(backend, matrix="spectrum", size=30, low=0.2, high=0.7, shift=0.0)
    assert problem.interval == (0.2, 0.7)


def test_chebyshev_spectrum_averages_f_with_the_chebyshev_weight(backend):
    problem = build(backend, matrix="spectrum", size=200, shift=0.0)
    first = problem.function.coefficients(problem.interval, 0)[0]
    assert problem.value() / problem.size == pytest.approx(first, rel=1e-13)


def test_eigenvectors_of_a_given_spectrum_are_far_from_the_axes(backend):
    matrix = dense(build(backend, matrix="spectrum", size=400, shift=0.0))
    # a random rotation leaves about 2/n of the squared deviations from the mean eigenvalue on the diagonal
    spread = np.linalg.norm(matrix - np.trace(matrix) / 400 * np.eye(400)) ** 2
    assert np.var(np.diag(matrix)) * 400 < 5 / 400 * spread


def test_equal_seeds_give_equal_matrices_and_other_seeds_others(backend):
    for name in ("rbf", "spectrum"):
        first, again, other = (dense(build(backend, seed, matrix=name, size=16)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert np.abs(first - other).max() > 1e-3


def written(tmp_path, name, matrix):
    path = tmp_path / name
    if name.endswith(".mtx"):
        scipy.io.mmwrite(path, matrix)
    elif scipy.sparse.issparse(matrix):
        scipy.sparse.save_npz(path, matrix)
    else:
        np.savez(path, matrix=matrix)
    return str(path)


TABLE = np.diag(np.arange(1.0, 9.0)) + 0.1


@pytest.mark.parametrize("function", ["log", "sqrt"])
@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("sparse.mtx", scipy.sparse.csr_array(TABLE)),
        ("sparse.npz", scipy.sparse.csr_array(TABLE)),
        ("dense.mtx", TABLE),
        ("dense.npz", TABLE),
        ("whole.npz", np.diag([3, 4, 5])),
        ("truth.npz", np.eye(3, dtype=bool)),
    ],
)
def test_matrix_files_are_read_shifted_and_bounded(backend, tmp_path, name, matrix, function):
    problem = build(backend, matrix=written(tmp_path, name, matrix), shift=0.5, function=function, low=0.0)
    table = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
    eigenvalues = np.linalg.eigvalsh(table + 0.5 * np.eye(len(table)))
    assert problem.size == len(table)
    assert problem.interval[0] == 0.5
    assert eigenvalues[-1] <= problem.interval[1] < 1.1 * eigenvalues[-1]
    np.testing.assert_allclose(dense(problem), table + 0.5 * np.eye(len(table)), atol=1e-14)
    assert problem.value() == pytest.approx(problem.function(eigenvalues).sum(), rel=1e-12)


def test_ends_that_nobody_gives_are_found_by_lanczos_steps(backend, tmp_path):
    problem = build(backend, matrix=written(tmp_path, "table.npz", TABLE))
    eigenvalues = np.linalg.eigvalsh(TABLE) + 0.1
    assert 0.9 * eigenvalues[0] < problem.interval[0] <= eigenvalues[0]
    assert eigenvalues[-1] <= problem.interval[1] < 1.1 * eigenvalues[-1]


def test_a_matrix_of_zeros_has_an_interval_around_them(backend, tmp_path):
    path = written(tmp_path, "zeros.npz", np.zeros((4, 4)))
    problem = build(backend, matrix=path, function="exp", shift=0.0)
    assert problem.interval[0] < 0.0 < problem.interval[1]
    assert problem.value() == 4.0


def test_value_beyond_reach_is_not_a_number(backend, monkeypatch):
    monkeypatch.setattr("benchfw_spectral.problems.spectral_sum.LARGEST_EIGENVALUES", 10)
    assert math.isnan(build(backend, matrix="rbf", size=20, function="sqrt").value())
    assert math.isfinite(build(backend, matrix="rbf", size=20, function="log").value())


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"size": 1000},
            "laplacian-2d needs a square number of rows, and 1000 is not one; the nearest is 1024",
        ),
        ({"matrix": "laplace-2d"}, "unknown matrix 'laplace-2d'; did you mean 'laplacian-2d'?"),
        ({"matrix": "spectrum", "low": 1.0, "high": 1.0, "shift": 0.0}, "a spectrum needs low < high"),
        ({"matrix": "spectrum", "low": 0.0, "shift": 0.0, "spectrum": "geometric"}, "needs low > 0, got 0.0"),
        ({"matrix": "spectrum", "low": -1.0}, "log is not analytic at 0"),
        ({"matrix": "rbf", "size": 9, "shift": 0.0}, "log is not analytic at 0"),
        ({"function": "lgo"}, "did you mean 'log'?"),
        ({"matrix": "nowhere.mtx"}, "matrix file 'nowhere.mtx' does not exist"),
    ],
)
def test_impossible_parameters_are_refused_in_one_sentence(backend, params, sentence):
    with pytest.raises(BenchfwError) as fault:
        build(backend, **params)
    assert sentence in str(fault.value)


@pytest.mark.parametrize(
    ("name", "matrix", "sentence"),
    [
        ("wide.npz", np.ones((2, 3)), "is 2 × 3; a spectral sum needs a square one"),
        ("skew.npz", np.array([[1.0, 2.0], [1.0, 1.0]]), "is not symmetric: entries differ by up to 1"),
        ("skew.mtx", scipy.sparse.csr_array([[1.0, 2.0], [1.0, 1.0]]), "is not symmetric"),
        ("holes.npz", np.array([[1.0, np.nan], [np.nan, 1.0]]), "has entries that are not finite"),
        ("endless.mtx", scipy.sparse.csr_array([[np.inf, 0.0], [0.0, 1.0]]), "that are not finite"),
        ("waves.npz", np.eye(2) * 1j, "has complex128 entries; they must be real numbers"),
        ("empty.npz", np.ones((0, 0)), "is 0 × 0; a spectral sum needs a square one"),
        ("vector.npz", np.ones(3), "it holds 0 arrays of two dimensions, and one is needed"),
    ],
)
def test_matrices_that_have_no_spectral_sum_are_refused(backend, tmp_path, name, matrix, sentence):
    with pytest.raises(BenchfwError, match=name) as fault:
        build(backend, matrix=written(tmp_path, name, matrix))
    assert sentence in str(fault.value)


@pytest.mark.parametrize("name", ["broken.mtx", "broken.npz"])
def test_damaged_files_are_named(backend, tmp_path, name):
    (tmp_path / name).write_text("no matrix at all\n1 2 3")
    with pytest.raises(BenchfwError, match=f"{name}' cannot be read: "):
        build(backend, matrix=str(tmp_path / name))
