"""The Gaussian gram matrix and its derivative: accurate, symmetric, and never above one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import rbf_kernel

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw.kernels.gram import gaussian_gram, gaussian_gram_length_derivative

KERNELS = pytest.mark.parametrize("kernel", [gaussian_gram, gaussian_gram_length_derivative])
BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])


def points(rows, coordinates, seed=4):
    return get_backend("numpy").rng(seed).standard_normal((rows, coordinates))


def body_of(kernel, body):
    return kernel.portable if body == "portable" else kernel.bodies["numpy"]


@BODIES
@pytest.mark.parametrize("coordinates", [1, 2, 7, 40])
def test_it_is_the_gram_of_scikit_learn(coordinates, body):
    X, Y, length = points(50, coordinates), points(33, coordinates, seed=5), 1.7
    np.testing.assert_allclose(
        body_of(gaussian_gram, body)(X, Y, length), rbf_kernel(X, Y, gamma=0.5 / length**2), rtol=1e-12
    )


@BODIES
def test_the_derivative_is_that_of_finite_differences(body):
    X, Y, length, step = points(40, 3), points(30, 3, seed=5), 0.8, 1e-5
    grams = [gaussian_gram(X, Y, length + sign * step) for sign in (-1, 1)]
    # central differences err by step² and by rounding over step
    np.testing.assert_allclose(
        body_of(gaussian_gram_length_derivative, body)(X, Y, length),
        (grams[1] - grams[0]) / (2 * step),
        rtol=0,
        atol=1e-9,
    )


@BODIES
@given(rows=st.integers(1, 90), coordinates=st.integers(1, 9), length=st.floats(0.01, 100))
def test_of_a_set_with_itself_it_is_symmetric_with_a_diagonal_of_ones(body, rows, coordinates, length):
    X = points(rows, coordinates)
    gram = body_of(gaussian_gram, body)(X, X, length)
    derivative = body_of(gaussian_gram_length_derivative, body)(X, X, length)
    for symmetric in (gram, derivative):
        np.testing.assert_array_equal(symmetric, symmetric.T)
    np.testing.assert_array_equal(np.diag(gram), 1.0)
    np.testing.assert_array_equal(np.diag(derivative), 0.0)
    assert gram.max() <= 1.0
    assert derivative.min() >= 0.0


@BODIES
def test_equal_points_never_come_closer_than_nothing(body):
    X = np.repeat(points(20, 5), 3, axis=0)
    gram = body_of(gaussian_gram, body)(X, X.copy(), 1e-3)
    same = cdist(X, X) == 0
    assert gram.max() <= 1.0
    # squares of about 5 / length², rounded
    np.testing.assert_allclose(gram[same], 1.0, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(gram[~same], 0.0)


@BODIES
def test_points_far_from_the_origin_keep_their_distances(body):
    X, Y = points(40, 2), points(30, 2, seed=5)
    far = 2.0**20  # exact to add to numbers of few digits
    X, Y = np.round(X, 2) + far, np.round(Y, 2) + far
    expected = np.exp(-cdist(X, Y, "sqeuclidean") / 2)
    np.testing.assert_allclose(body_of(gaussian_gram, body)(X, Y, 1.0), expected, rtol=0, atol=1e-12)


@KERNELS
@BODIES
@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("columns", [0, 1, 5])
def test_few_points_have_small_grams(kernel, body, rows, columns):
    found = body_of(kernel, body)(points(rows, 3), points(columns, 3), 1.0)
    assert found.shape == (rows, columns)
    assert np.isfinite(found).all()


@KERNELS
@BODIES
def test_single_precision_stays_single(kernel, body):
    X, Y = points(20, 3), points(30, 3, seed=5)
    found = body_of(kernel, body)(X.astype(np.float32), Y.astype(np.float32), np.float64(1.3))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, kernel(X, Y, 1.3), rtol=0, atol=1e-5)


@KERNELS
@pytest.mark.parametrize("length", [0.0, -1.0, float("nan")])
def test_a_length_that_is_not_positive_is_refused(kernel, length):
    with pytest.raises(BenchfwError, match="must be positive, not"):
        kernel(points(2, 1), points(2, 1), length)


@BODIES
def test_what_is_not_a_number_stays_so(body):
    X = points(4, 2)
    X[1, 0] = np.nan
    assert np.isnan(body_of(gaussian_gram, body)(points(3, 2), X, 1.0)).any()
