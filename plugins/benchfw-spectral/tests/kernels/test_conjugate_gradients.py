"""Conjugate gradients: solutions of A X = B, column by column, or a sentence that says why not."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.sparse.linalg import cg

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels.blocks import well_conditioned
from benchfw.kernels.operators import Counted, MatrixFree, as_operator
from benchfw_spectral.kernels.conjugate_gradients import conjugate_gradients

SIZE, COLUMNS = 40, 5


def problem(condition=100.0):
    """Return a positive definite matrix of this condition, and right-hand sides."""
    rng = get_backend("numpy").rng(8)
    vectors = np.linalg.qr(rng.standard_normal((SIZE, SIZE)))[0]
    matrix = (vectors * np.geomspace(1.0, condition, SIZE)) @ vectors.T
    return (matrix + matrix.T) / 2, rng.standard_normal((SIZE, COLUMNS))


MATRIX, RHS = problem()
KINDS = pytest.mark.parametrize(
    "matrix",
    [MATRIX, sparse.csr_array(MATRIX), MatrixFree(lambda block: MATRIX @ block, SIZE)],
    ids=["dense", "csr", "matrix-free"],
)


@KINDS
def test_it_solves_with_every_kind_of_matrix(matrix):
    found = conjugate_gradients(RHS, matrix, 1e-13)
    np.testing.assert_allclose(found, linalg.solve(MATRIX, RHS, assume_a="pos"), rtol=0, atol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-2, 1e-6, 1e-10])
def test_every_column_reaches_its_tolerance_whatever_its_length(tolerance):
    rhs = RHS * np.array([1e-8, 1e-3, 1.0, 1e4, 1e9])
    residual = rhs - MATRIX @ conjugate_gradients(rhs, MATRIX, tolerance)
    assert np.all(np.linalg.norm(residual, axis=0) <= 1.01 * tolerance * np.linalg.norm(rhs, axis=0))


def test_a_column_comes_out_as_it_would_alone():
    # a dozen iterations: after twenty or so rounding grows, and no two orders of summation agree
    matrix, rhs = problem(condition=5.0)
    together = conjugate_gradients(rhs, matrix, 1e-4)
    for column in range(COLUMNS):
        alone = conjugate_gradients(rhs[:, [column]], matrix, 1e-4)
        np.testing.assert_allclose(together[:, [column]], alone, rtol=0, atol=1e-12)
        np.testing.assert_allclose(alone[:, 0], cg(matrix, rhs[:, column], rtol=1e-4)[0], rtol=0, atol=1e-12)


def test_a_column_that_is_solved_stays_as_it_is():
    # one step leaves a residual of zero in the first column, from which no direction could be made
    diagonal = np.arange(1.0, SIZE + 1)
    rhs = np.stack([np.eye(SIZE)[3], np.ones(SIZE)], axis=1)
    found = conjugate_gradients(rhs, np.diag(diagonal), 1e-12)
    np.testing.assert_array_equal(found[:, 0], np.eye(SIZE)[3] / 4)
    np.testing.assert_allclose(found[:, 1], 1 / diagonal, rtol=1e-10)


def test_a_column_goes_no_further_than_its_tolerance():
    matrix, rhs = problem(condition=5.0)
    # eigenvalues close to each other: the second column is done long before the first
    fast = linalg.eigh(matrix)[1][:, -10:].sum(axis=1, keepdims=True)
    together = conjugate_gradients(np.concatenate([rhs[:, :1], fast], axis=1), matrix, 1e-3)[:, 1:]
    np.testing.assert_allclose(together, conjugate_gradients(fast, matrix, 1e-3), rtol=0, atol=1e-12)
    assert np.linalg.norm(fast - matrix @ together) > 1e-5 * np.linalg.norm(fast)


def test_a_zero_right_hand_side_gives_zero_at_no_cost():
    products = []
    operator = Counted(as_operator(MATRIX), products.append)
    assert not conjugate_gradients(np.zeros((SIZE, 3)), operator).any()
    assert products == []


def test_zero_columns_stay_zero_beside_others():
    rhs = RHS.copy()
    rhs[:, 2] = 0.0
    found = conjugate_gradients(rhs, MATRIX, 1e-12)
    assert not found[:, 2].any()
    np.testing.assert_allclose(MATRIX @ found, rhs, rtol=0, atol=1e-10)


def test_a_good_preconditioner_saves_products():
    diagonal = np.geomspace(1.0, 1e6, SIZE)
    coupling = MATRIX / 1000
    matrix = np.diag(diagonal) + coupling

    def products(preconditioner):
        counted = []
        operator = Counted(as_operator(matrix), counted.append)
        found = conjugate_gradients(RHS, operator, 1e-10, preconditioner=preconditioner)
        np.testing.assert_allclose(found, linalg.solve(matrix, RHS, assume_a="pos"), rtol=0, atol=1e-8)
        return len(counted)

    assert products(lambda block: block / np.diag(matrix)[:, None]) < products(None) / 5


def test_the_exact_inverse_as_preconditioner_needs_one_iteration():
    inverse = linalg.inv(MATRIX)
    found = conjugate_gradients(RHS, MATRIX, 1e-12, 1, preconditioner=lambda block: inverse @ block)
    np.testing.assert_allclose(found, inverse @ RHS, rtol=0, atol=1e-12)


def test_a_start_near_the_solution_saves_products_and_changes_nothing_else():
    exact = linalg.solve(MATRIX, RHS, assume_a="pos")

    def solve(start):
        counted = []
        found = conjugate_gradients(RHS, Counted(as_operator(MATRIX), counted.append), 1e-8, start=start)
        np.testing.assert_allclose(found, exact, rtol=0, atol=1e-6)
        return len(counted)

    cold, near = solve(None), exact + 1e-6 * RHS
    assert solve(near) < 0.6 * cold
    assert solve(exact) == 1  # the product that finds its residual
    scaled = conjugate_gradients(2.0**600 * RHS, MATRIX, 1e-8, start=2.0**600 * near)
    np.testing.assert_array_equal(scaled, 2.0**600 * conjugate_gradients(RHS, MATRIX, 1e-8, start=near))


def test_too_few_iterations_are_an_error_that_counts_the_columns():
    with pytest.raises(
        BenchfwError, match=r"left 5 of 5 columns above tolerance 1e-10 after 3 iterations; give"
    ):
        conjugate_gradients(RHS, MATRIX, iterations=3)


@pytest.mark.parametrize("shift", [-50.0, -200.0])
def test_an_indefinite_matrix_is_refused(shift):
    with pytest.raises(BenchfwError, match="not positive definite: p'Ap = -"):
        conjugate_gradients(RHS, MATRIX + shift * np.eye(SIZE))


def test_what_is_not_a_number_does_not_pass_for_solved():
    rhs = RHS.copy()
    rhs[3, 1] = np.nan
    with pytest.raises(BenchfwError, match="p'Ap = nan"):
        conjugate_gradients(rhs, MATRIX)


def test_single_precision_stays_single():
    found = conjugate_gradients(RHS.astype(np.float32), MATRIX.astype(np.float32), 1e-5)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, linalg.solve(MATRIX, RHS), rtol=0, atol=1e-3)


@pytest.mark.parametrize("columns", [0, 1, 2])
@pytest.mark.parametrize("size", [0, 1])
def test_tiny_systems_are_solved(size, columns):
    found = conjugate_gradients(np.full((size, columns), 3.0), np.full((size, size), 2.0))
    np.testing.assert_array_equal(found, np.full((size, columns), 1.5))


@pytest.mark.parametrize("power", [-1000, 600])
def test_right_hand_sides_of_any_length_are_solved(power):
    rng = get_backend("numpy").rng(9)
    matrix, rhs = well_conditioned(rng, 12), rng.standard_normal((12, 2))
    scales = np.array([1.0, 2.0**power])
    np.testing.assert_array_equal(
        conjugate_gradients(rhs * scales, matrix), conjugate_gradients(rhs, matrix) * scales
    )
