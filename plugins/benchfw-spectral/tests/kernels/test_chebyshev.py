"""Chebyshev forms against eigenvalues; Chebyshev pairs against differences and one recurrence a parameter."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse
from hypothesis import example, given
from hypothesis import strategies as st

from benchfw import BenchfwError
from benchfw.kernels.operators import Counted, MatrixFree, as_operator
from benchfw_spectral.kernels.chebyshev import (
    chebyshev_forms,
    chebyshev_pairs,
)

INTERVAL = (0.3, 4.0)

each_method = pytest.mark.parametrize("method", ["hankel", "reverse"])


def symmetric(rng, size, low=0.3, high=4.0):
    """Return a symmetric matrix with its spectrum in [low, high], ends included."""
    vectors = np.linalg.qr(rng.standard_normal((size, size)))[0]
    values = np.linspace(low, high, size)
    matrix = vectors * values @ vectors.T
    return (matrix + matrix.T) / 2


def banded(size):
    """Return a sparse matrix with its spectrum in (0.5, 3.5)."""
    return scipy.sparse.diags_array(
        [-0.75, 2.0, -0.75], offsets=[-1, 0, 1], shape=(size, size), dtype=float
    ).tocsr()


def rademacher(rng, size, columns):
    return rng.choice([-1.0, 1.0], (size, columns))


def forms_by_eigenvalues(probes, matrix, degree, interval):
    """v'T_j(At)v = Σ_i (q_i'v)² cos(j arccos λ̃_i)."""
    low, high = interval
    values, vectors = np.linalg.eigh(matrix)
    angles = np.arccos(np.clip((2 * values - high - low) / (high - low), -1, 1))
    return np.cos(np.arange(degree + 1)[:, None] * angles) @ (vectors.T @ probes) ** 2


def contraction(pairs, derivative):
    """Return Σ left' dA right."""
    left, right = pairs
    return np.einsum("ist,su,iut->", left, derivative, right)


def gradient_by_recursion(probes, matrix, derivative, weights, interval):
    """d(Σ v'p(A)v) by dw_{j+1} = (4/(b-a)) dA w_j + 2At dw_j - dw_{j-1}: one recurrence a parameter."""
    low, high = interval
    slope = 2 / (high - low)
    scaled = slope * matrix - (high + low) / (high - low) * np.eye(len(matrix))
    before, now = probes, scaled @ probes
    d_before, d_now = np.zeros_like(probes), slope * derivative @ probes
    total = 0.0
    for weight in weights[1:]:
        total += weight * np.sum(probes * d_now)
        d_before, d_now = d_now, 2 * slope * derivative @ now + 2 * scaled @ d_now - d_before
        before, now = now, 2 * scaled @ now - before
    return total


def operators_of(matrix):
    return {
        "dense": matrix,
        "fortran": np.asfortranarray(matrix),
        "sparse": scipy.sparse.csr_array(matrix),
        "function": lambda block: matrix @ block,
        "matrix-free": MatrixFree(lambda block: matrix @ block, len(matrix)),
    }


@pytest.mark.parametrize("degree", [0, 1, 2, 3, 4, 7, 30, 101])
def test_forms_are_those_of_the_eigenvalues(degree):
    rng = np.random.default_rng(3)
    matrix, probes = symmetric(rng, 30), rademacher(rng, 30, 4)
    expected = forms_by_eigenvalues(probes, matrix, degree, INTERVAL)
    for kind in operators_of(matrix).values():
        np.testing.assert_allclose(chebyshev_forms(probes, kind, degree, INTERVAL), expected, atol=1e-10)


def test_forms_are_those_of_a_sparse_matrix_without_a_full_diagonal():
    rng = np.random.default_rng(4)
    matrix = scipy.sparse.diags_array([1.0, 1.0], offsets=[-1, 1], shape=(50, 50), dtype=float).tocsr()
    probes = rademacher(rng, 50, 3)
    expected = forms_by_eigenvalues(probes, matrix.toarray(), 20, (-2.0, 2.5))
    np.testing.assert_allclose(chebyshev_forms(probes, matrix, 20, (-2.0, 2.5)), expected, atol=1e-11)


@each_method
@pytest.mark.parametrize("degree", [1, 2, 3, 6, 25])
def test_pairs_give_the_derivative_of_one_recurrence_a_parameter(degree, method):
    rng = np.random.default_rng(5)
    matrix, probes = symmetric(rng, 20), rademacher(rng, 20, 3)
    weights = rng.standard_normal(degree + 1)
    for kind in operators_of(matrix).values():
        pairs = chebyshev_pairs(probes, kind, weights, INTERVAL, method)
        assert pairs[0].shape == pairs[1].shape == (degree, 20, 3)
        for _ in range(3):
            derivative = rng.standard_normal((20, 20))
            derivative += derivative.T
            expected = gradient_by_recursion(probes, matrix, derivative, weights, INTERVAL)
            np.testing.assert_allclose(contraction(pairs, derivative), expected, rtol=1e-10, atol=1e-9)


@each_method
def test_pairs_give_the_derivative_of_differences(method):
    """A(θ) = θθ' + I/2 with a matrix θ; central differences along a direction are good to 1e-7."""
    rng = np.random.default_rng(6)
    theta, direction = rng.standard_normal((2, 15, 4)) / 4
    probes, weights = rademacher(rng, 15, 2), 1.0 / (1.0 + np.arange(13.0))

    def value(step):
        moved = theta + step * direction
        matrix = moved @ moved.T + 0.5 * np.eye(15)
        return np.sum(weights @ chebyshev_forms(probes, matrix, 12, (0.4, 6.0)))

    pairs = chebyshev_pairs(probes, theta @ theta.T + 0.5 * np.eye(15), weights, (0.4, 6.0), method)
    derivative = direction @ theta.T + theta @ direction.T
    np.testing.assert_allclose(contraction(pairs, derivative), (value(1e-5) - value(-1e-5)) / 2e-5, rtol=1e-7)


def test_the_two_ways_to_the_left_factors_agree():
    rng = np.random.default_rng(7)
    matrix, probes, weights = symmetric(rng, 25), rademacher(rng, 25, 3), rng.standard_normal(41)
    hankel = chebyshev_pairs(probes, matrix, weights, INTERVAL, method="hankel")
    reverse = chebyshev_pairs(probes, matrix, weights, INTERVAL, method="reverse")
    np.testing.assert_allclose(hankel[0], reverse[0], atol=1e-11)
    np.testing.assert_array_equal(hankel[1], reverse[1])


def test_a_constant_polynomial_has_no_pairs():
    left, right = chebyshev_pairs(np.ones((6, 2)), np.eye(6), np.array([3.0]), INTERVAL)
    assert left.shape == right.shape == (0, 6, 2)


@pytest.mark.parametrize("columns", [0, 1])
def test_any_number_of_probes_will_do(columns):
    assert chebyshev_forms(np.ones((6, columns)), np.eye(6), 4, INTERVAL).shape == (5, columns)
    left, _ = chebyshev_pairs(np.ones((6, columns)), np.eye(6), np.ones(4), INTERVAL)
    assert left.shape == (3, 6, columns)


def test_columns_of_zeros_are_let_pass():
    assert not np.any(chebyshev_forms(np.zeros((6, 2)), np.eye(6), 4, INTERVAL))


def test_the_probes_are_left_as_they_were():
    rng = np.random.default_rng(8)
    for order in "CF":
        probes = rademacher(rng, 12, 3).copy(order=order)
        before = probes.copy()
        for kind in operators_of(symmetric(rng, 12)).values():
            chebyshev_forms(probes, kind, 9, INTERVAL)
            chebyshev_pairs(probes, kind, np.ones(6), INTERVAL, "reverse")[0][...] = 0.0
        np.testing.assert_array_equal(probes, before)


@pytest.mark.parametrize("degree", [1, 2, 9, 10])
def test_forms_take_half_as_many_products_as_the_degree(degree):
    seen = []
    counted = Counted(as_operator(banded(30)), seen.append)
    chebyshev_forms(np.ones((30, 4)), counted, degree, INTERVAL)
    assert seen == [4] * -(-degree // 2)


def test_pairs_take_a_product_less_than_the_degree_and_the_adjoints_as_many_again():
    seen = []
    counted = Counted(as_operator(banded(30)), seen.append)
    chebyshev_pairs(np.ones((30, 4)), counted, np.ones(11), INTERVAL, "hankel")
    assert seen == [4] * 9
    seen.clear()
    chebyshev_pairs(np.ones((30, 4)), counted, np.ones(11), INTERVAL, "reverse")
    assert seen == [4] * 18


@pytest.mark.parametrize(("degree", "products"), [(60, 59), (400, 2 * 399)])
def test_auto_combines_low_degrees_and_reverses_high_ones_of_a_sparse_matrix(degree, products):
    seen = []
    counted = Counted(as_operator(banded(30)), seen.append)
    chebyshev_pairs(np.ones((30, 1)), counted, np.ones(degree + 1), INTERVAL)
    assert len(seen) == products


def test_memory_of_forms_does_not_grow_with_the_degree():
    matrix, probes = as_operator(banded(20_000)), np.ones((20_000, 8))

    def peak(degree):
        tracemalloc.start()
        chebyshev_forms(probes, matrix, degree, INTERVAL)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    chebyshev_forms(
        probes, matrix, 4, INTERVAL
    )  # compiles, untraced; the shifted matrix is kept from here on
    assert peak(40) < 1.05 * peak(10) < 3.5 * probes.nbytes


def test_single_precision_stays_single_and_is_as_good():
    rng = np.random.default_rng(9)
    matrix, probes, weights = symmetric(rng, 40), rademacher(rng, 40, 4), np.ones(9)
    for kind in (matrix.astype(np.float32), scipy.sparse.csr_array(matrix.astype(np.float32))):
        forms = chebyshev_forms(probes.astype(np.float32), kind, 8, np.array(INTERVAL))
        assert forms.dtype == np.float32
        np.testing.assert_allclose(forms, chebyshev_forms(probes, matrix, 8, INTERVAL), atol=40 * 1e-5)
        for method in ("hankel", "reverse"):
            pairs = chebyshev_pairs(probes.astype(np.float32), kind, weights, np.array(INTERVAL), method)
            for one, other in zip(
                pairs, chebyshev_pairs(probes, matrix, weights, INTERVAL, method), strict=True
            ):
                assert one.dtype == np.float32
                np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("interval", [(0.3, 3.6), (0.6, 4.0), (1.0, 1.1)])
def test_a_spectrum_outside_the_interval_is_an_error_that_says_so(interval):
    rng = np.random.default_rng(10)
    matrix, probes = symmetric(rng, 30), rademacher(rng, 30, 4)
    for kind in operators_of(matrix).values():
        with pytest.raises(BenchfwError, match=r"not inside \[.*grew to .* widen the interval"):
            chebyshev_forms(probes, kind, 40, interval)
        with pytest.raises(BenchfwError, match=r"not inside \[.*grew to .* widen the interval"):
            chebyshev_pairs(probes, kind, np.ones(41), interval)


def test_a_recurrence_that_overflows_is_the_same_error():
    matrix, probes = np.diag([1.0, 1e9]), np.ones((2, 3))
    for degree in (40, 400):
        for array in (matrix, scipy.sparse.csr_array(matrix), lambda block: matrix @ block):
            with pytest.raises(BenchfwError, match="widen the interval"):
                chebyshev_forms(probes, array, degree, (0.5, 2.0))
            with pytest.raises(BenchfwError, match="widen the interval"):
                chebyshev_pairs(probes, array, np.ones(degree + 1), (0.5, 2.0))


def test_an_interval_without_inside_is_an_error():
    with pytest.raises(BenchfwError, match=r"\[2, 2\] is not an interval"):
        chebyshev_forms(np.ones((3, 1)), 2.0 * np.eye(3), 4, (2.0, 2.0))


@given(
    size=st.integers(1, 12),
    columns=st.integers(1, 4),
    degree=st.integers(1, 30),
    low=st.floats(-3.0, 3.0),
    width=st.floats(0.5, 20.0),
    seed=st.integers(0, 2**32 - 1),
)
@example(size=1, columns=1, degree=1, low=2.7855078582606625e-211, width=17.0, seed=0)
def test_forms_and_pairs_hold_for_any_matrix_inside_its_interval(size, columns, degree, low, width, seed):
    rng = np.random.default_rng(seed)
    interval = (low, low + width)
    matrix = symmetric(rng, size, *interval)
    probes, weights = rng.standard_normal((size, columns)), rng.standard_normal(degree + 1)
    expected = forms_by_eigenvalues(probes, matrix, degree, interval)
    forms = chebyshev_forms(probes, matrix, degree, interval)
    scale = np.sum(probes**2)
    np.testing.assert_allclose(forms, expected, atol=1e-6 * scale)  # arccos loses half the digits at its ends
    derivative = gradient_by_recursion(probes, matrix, matrix, weights, interval)
    # |T_j'| is at most j² inside; the Frobenius norm would square, and be 0 for entries below 1e-162
    slope = np.sum(np.abs(weights) * np.arange(degree + 1) ** 2)
    bound = scale * slope * np.linalg.norm(matrix, 2) / width
    for method in ("hankel", "reverse"):
        pairs = chebyshev_pairs(probes, matrix, weights, interval, method)
        np.testing.assert_allclose(contraction(pairs, matrix), derivative, rtol=0, atol=1e-12 * bound)
