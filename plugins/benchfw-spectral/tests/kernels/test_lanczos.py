"""Lanczos: tridiagonals of A, quadratures that are exact where they should be, and f(A) V."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels.blocks import well_conditioned
from benchfw.kernels.operators import Counted, MatrixFree, as_operator
from benchfw_spectral.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply, lanczos_steps

SIZE, PROBES = 30, 4


def numbers(seed=3):
    return get_backend("numpy").rng(seed)


def with_eigenvalues(eigenvalues, seed=5):
    """Return a dense symmetric matrix with these eigenvalues."""
    size = len(eigenvalues)
    vectors = np.linalg.qr(numbers(seed).standard_normal((size, size)))[0]
    matrix = (vectors * eigenvalues) @ vectors.T
    return (matrix + matrix.T) / 2


MATRIX = with_eigenvalues(np.linspace(0.5, 4.0, SIZE))
NORMALS = numbers().standard_normal((SIZE, PROBES))


def quadrature(probes, matrix, steps, function, reorthogonalize=False):
    """Return v'f(A)v of each column by Lanczos."""
    nodes, weights = gauss_quadrature(*lanczos(probes, matrix, steps, reorthogonalize))
    return np.sum(weights * function(nodes), axis=0) * np.sum(probes**2, axis=0)


def exact(probes, matrix, function):
    """Return v'f(A)v of each column by the eigenvalues."""
    values, vectors = linalg.eigh(matrix)
    return function(values) @ (vectors.T @ probes) ** 2


def test_the_tridiagonal_is_that_of_the_basis():
    alpha, beta = lanczos(NORMALS, MATRIX, 7)
    for column in range(PROBES):
        krylov = [NORMALS[:, column]]
        for _ in range(6):
            krylov.append(MATRIX @ krylov[-1])
        basis = np.linalg.qr(np.stack(krylov, axis=1))[0]
        tridiagonal = basis.T @ MATRIX @ basis
        np.testing.assert_allclose(alpha[:, column], np.diag(tridiagonal), rtol=1e-9)
        np.testing.assert_allclose(beta[:-1, column], np.abs(np.diag(tridiagonal, 1)), rtol=1e-9)


@pytest.mark.parametrize(
    "matrix",
    [MATRIX, sparse.csr_array(MATRIX), MatrixFree(lambda block: MATRIX @ block, SIZE), MATRIX.__matmul__],
    ids=["dense", "csr", "matrix-free", "function"],
)
def test_every_kind_of_matrix_gives_the_same_tridiagonal(matrix):
    for found, expected in zip(lanczos(NORMALS, matrix, 6), lanczos(NORMALS, MATRIX, 6), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_product_that_returns_its_own_argument_is_left_alone():
    alpha, beta = lanczos(NORMALS, MatrixFree(lambda block: block, SIZE), 3)
    np.testing.assert_allclose(alpha, [[1.0] * PROBES, [0.0] * PROBES, [0.0] * PROBES], rtol=1e-14)
    assert not beta.any()


def test_a_step_costs_one_product_a_column():
    counted = []
    lanczos(NORMALS, Counted(as_operator(MATRIX), counted.append), 5)
    assert counted == [PROBES] * 5


@pytest.mark.parametrize("steps", [1, 2, 5, 8])
def test_k_steps_are_exact_for_polynomials_of_degree_2k_minus_1(steps):
    def function(x):
        return (x / 4) ** (2 * steps - 1) + x

    np.testing.assert_allclose(
        quadrature(NORMALS, MATRIX, steps, function), exact(NORMALS, MATRIX, function), rtol=1e-12
    )


@pytest.mark.parametrize(("steps", "reorthogonalize"), [(SIZE, True), (2 * SIZE, True), (2 * SIZE, False)])
def test_the_logarithm_is_exact_when_steps_equal_or_exceed_the_size(steps, reorthogonalize):
    found = quadrature(NORMALS, MATRIX, steps, np.log, reorthogonalize)
    np.testing.assert_allclose(found, exact(NORMALS, MATRIX, np.log), rtol=1e-12)


def test_reorthogonalization_keeps_the_basis_orthogonal_where_the_recurrence_does_not():
    matrix = with_eigenvalues(np.geomspace(1e-3, 1e3, 60))
    probe = numbers().standard_normal((60, 1))

    def lost(reorthogonalize):
        basis = np.concatenate([w for w, _, _ in lanczos_steps(probe, matrix, 40, reorthogonalize)], axis=1)
        return np.abs(basis.T @ basis - np.eye(40)).max()

    assert lost(True) < 1e-13
    assert lost(False) > 0.1


@pytest.mark.parametrize("reorthogonalize", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exhausted_krylov_space_is_padded_with_zeros(dtype, reorthogonalize):
    # three different eigenvalues: three steps say all, and the logarithm of a padded node would be -inf
    matrix = with_eigenvalues(np.repeat([0.5, 1.0, 4.0], 10)).astype(dtype)
    probes = NORMALS.astype(dtype)
    alpha, beta = lanczos(probes, matrix, 8, reorthogonalize)
    assert alpha.dtype == beta.dtype == dtype
    assert np.all(alpha[:3] > 0)
    assert np.all(beta[:2] > 0)
    assert not alpha[3:].any()
    assert not beta[2:].any()
    nodes, weights = gauss_quadrature(alpha, beta)
    assert np.all(np.count_nonzero(weights, axis=0) == 3)
    assert np.all((nodes > 0.49) & (nodes < 4.01))
    np.testing.assert_allclose(
        quadrature(probes, matrix, 8, np.log, reorthogonalize),
        exact(probes, matrix, np.log),
        atol=200 * np.finfo(dtype).eps * SIZE,
    )


def test_columns_break_down_one_by_one():
    eigenvector = linalg.eigh(MATRIX)[1][:, :1]
    alpha, beta = lanczos(np.concatenate([eigenvector, NORMALS], axis=1), MATRIX, 5)
    np.testing.assert_allclose(alpha[:, 0], [0.5, 0, 0, 0, 0], atol=1e-13)
    assert not beta[:, 0].any()
    np.testing.assert_allclose(alpha[:, 1:], lanczos(NORMALS, MATRIX, 5)[0], rtol=1e-12)


def test_a_large_eigenvalue_does_not_pass_for_a_breakdown():
    eigenvalues = np.append(np.linspace(1.0, 2.0, SIZE - 1), 1e6)
    matrix = with_eigenvalues(eigenvalues)
    found = quadrature(NORMALS, matrix, 12, np.log, reorthogonalize=True)
    np.testing.assert_allclose(found, exact(NORMALS, matrix, np.log), rtol=1e-7)


def test_zero_matrices_and_zero_probes_give_zeros():
    for probes, matrix in ((NORMALS, np.zeros((SIZE, SIZE))), (np.zeros_like(NORMALS), MATRIX)):
        alpha, beta = lanczos(probes, matrix, 4)
        assert not alpha.any()
        assert not beta.any()
        nodes, weights = gauss_quadrature(alpha, beta)
        assert not nodes.any()
        np.testing.assert_array_equal(weights.sum(axis=0), 1.0)


def test_quadratures_are_those_of_the_tridiagonals():
    alpha, beta = lanczos(NORMALS, MATRIX, 9)
    nodes, weights = gauss_quadrature(alpha, beta)
    for column in range(PROBES):
        values, vectors = linalg.eigh_tridiagonal(alpha[:, column], beta[:-1, column])
        np.testing.assert_allclose(nodes[:, column], values, rtol=1e-13)
        np.testing.assert_allclose(weights[:, column], vectors[0] ** 2, atol=1e-13)


def test_a_function_of_the_matrix_is_exact_for_polynomials_below_the_number_of_steps():
    found = lanczos_apply(NORMALS, MATRIX, lambda x: x**5 - 2 * x + 1, 6)
    expected = np.linalg.matrix_power(MATRIX, 5) @ NORMALS - 2 * MATRIX @ NORMALS + NORMALS
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_square_root_of_the_matrix_converges():
    found = lanczos_apply(NORMALS, MATRIX, np.sqrt, 25)
    np.testing.assert_allclose(found, linalg.sqrtm(MATRIX) @ NORMALS, atol=1e-12)


@pytest.mark.parametrize("reorthogonalize", [False, True])
def test_a_function_of_the_matrix_survives_a_breakdown(reorthogonalize):
    matrix = with_eigenvalues(np.repeat([0.5, 4.0], 15))
    found = lanczos_apply(NORMALS, matrix, np.log, 10, reorthogonalize)
    np.testing.assert_allclose(found, linalg.logm(matrix) @ NORMALS, atol=1e-12)


def test_single_precision_stays_single():
    probes, matrix = NORMALS.astype(np.float32), MATRIX.astype(np.float32)
    alpha, beta = lanczos(probes, matrix, 5)
    results = (alpha, beta, *gauss_quadrature(alpha, beta), lanczos_apply(probes, matrix, np.sqrt, 5))
    assert {result.dtype for result in results} == {np.dtype(np.float32)}
    np.testing.assert_allclose(alpha, lanczos(NORMALS, MATRIX, 5)[0], rtol=1e-4)


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("columns", [0, 1, 3])
@pytest.mark.parametrize("steps", [1, 2, 4])
def test_tiny_matrices_have_their_quadratures(size, columns, steps):
    probes, matrix = np.full((size, columns), 2.0), np.full((size, size), 3.0)
    alpha, beta = lanczos(probes, matrix, steps)
    assert alpha.shape == beta.shape == (steps, columns)
    assert np.all(alpha[0] == 3.0 * size)
    np.testing.assert_allclose(quadrature(probes, matrix, steps, np.exp), size * 4 * np.exp(3.0), rtol=1e-14)
    found = lanczos_apply(probes, matrix, np.exp, steps)
    np.testing.assert_allclose(found, np.exp(3.0) * probes, rtol=1e-14)


def test_no_steps_are_refused():
    with pytest.raises(BenchfwError, match="at least one step, not 0"):
        lanczos(NORMALS, MATRIX, 0)


def test_the_rule_of_radau_has_its_node_and_is_exact_for_one_degree_more():
    alpha, beta = lanczos(NORMALS, MATRIX, 4)
    nodes, weights = gauss_quadrature(alpha, beta, 0.3)
    np.testing.assert_allclose(nodes[0], 0.3, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=0), 1.0, rtol=1e-13)
    squares = np.sum(NORMALS**2, axis=0)
    for degree in range(9):
        found = squares * np.sum(weights * nodes**degree, axis=0)
        np.testing.assert_allclose(found, exact(NORMALS, MATRIX, lambda x, k=degree: x**k), rtol=1e-11)


def test_the_logarithm_lies_between_the_rules_of_gauss_and_of_radau():
    tridiagonals = lanczos(NORMALS, MATRIX, 5)
    squares = np.sum(NORMALS**2, axis=0)
    above, below = (
        squares * np.sum(weights * np.log(nodes), axis=0)
        for nodes, weights in (gauss_quadrature(*tridiagonals), gauss_quadrature(*tridiagonals, 0.5))
    )
    truth = exact(NORMALS, MATRIX, np.log)
    assert np.all(below < truth)
    assert np.all(truth < above)


def test_a_node_on_an_eigenvalue_that_was_found_already_changes_nothing():
    matrix = with_eigenvalues(np.repeat([0.5, 1.0, 4.0], 10))
    nodes, weights = gauss_quadrature(*lanczos(NORMALS, matrix, 6), 0.5)
    found = np.sum(weights * np.log(nodes), axis=0) * np.sum(NORMALS**2, axis=0)
    np.testing.assert_allclose(found, exact(NORMALS, matrix, np.log), rtol=1e-12)


def test_a_node_inside_the_spectrum_is_refused():
    with pytest.raises(BenchfwError, match="the spectrum is not above 1, where a node was asked for"):
        gauss_quadrature(*lanczos(NORMALS, MATRIX, 6), 1.0)


@pytest.mark.parametrize("power", [-1000, -600, 500])
@pytest.mark.parametrize("reorthogonalize", [False, True])
def test_a_matrix_scaled_by_a_power_of_two_has_the_same_tridiagonal_scaled(power, reorthogonalize):
    rng, scale = numbers(5), 2.0**power
    matrix, probes = well_conditioned(rng, 12), rng.standard_normal((12, 3))
    alpha, beta = lanczos(probes, matrix, 6, reorthogonalize)
    scaled_alpha, scaled_beta = lanczos(probes, matrix * scale, 6, reorthogonalize)
    np.testing.assert_array_equal(scaled_alpha, alpha * scale)
    np.testing.assert_array_equal(scaled_beta, beta * scale)
    nodes, weights = gauss_quadrature(alpha, beta, end=0.5)
    scaled_nodes, scaled_weights = gauss_quadrature(scaled_alpha, scaled_beta, end=0.5 * scale)
    np.testing.assert_allclose(scaled_nodes, nodes * scale, rtol=1e-12)
    np.testing.assert_allclose(scaled_weights, weights, rtol=1e-9)


@pytest.mark.parametrize("power", [-900, -600, 600])
def test_probes_of_any_length_give_the_same_tridiagonal(power):
    rng = numbers(6)
    matrix, probes = well_conditioned(rng, 12), rng.standard_normal((12, 3))
    scales = np.array([1.0, 2.0**power, 2.0**-600])
    for found, wanted in zip(lanczos(probes * scales, matrix, 6), lanczos(probes, matrix, 6), strict=True):
        np.testing.assert_array_equal(found, wanted)
    applied = lanczos_apply(probes, matrix, np.log, 6)
    np.testing.assert_array_equal(lanczos_apply(probes * scales, matrix, np.log, 6), applied * scales)
