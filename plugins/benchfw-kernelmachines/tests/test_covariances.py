"""Covariances: their grams, and frequencies of the law that belongs to them."""

from __future__ import annotations

import array_api_strict
import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process.kernels import Matern as SklearnMatern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw_kernelmachines.covariances import Cauchy, Gaussian, Laplace, Matern, get_covariance
from benchfw_kernelmachines.covariances.row_tiles import by_rows

LENGTH = 1.7
ALL = [Gaussian(LENGTH), Laplace(LENGTH), Cauchy(LENGTH), *(Matern(LENGTH, nu) for nu in (0.5, 1.5, 2.5))]
EACH = pytest.mark.parametrize("covariance", ALL, ids=repr)


def points(rows, seed=1, dtype=np.float64):
    return get_backend("numpy").rng(seed).standard_normal((rows, 3), dtype)


def normals(covariance, dimension, count):
    shape = (covariance.num_normals(dimension), count)
    return get_backend("numpy").rng(2).standard_normal(shape, np.float32)


def expected_gram(covariance, left, right):
    """Return the gram matrix as another library has it, or one entry at a time."""
    match covariance:
        case Gaussian():
            return rbf_kernel(left, right, gamma=0.5 / LENGTH**2)
        case Laplace():
            return laplacian_kernel(left, right, gamma=1 / LENGTH)
        case Matern():
            return SklearnMatern(LENGTH, nu=covariance.smoothness)(left, right)
    return np.array([[np.prod([1 / (1 + (d / LENGTH) ** 2) for d in x - y]) for y in right] for x in left])


@EACH
def test_the_gram_is_the_textbook_one(covariance):
    left, right = points(40), points(30, seed=3)
    expected = expected_gram(covariance, left, right)
    np.testing.assert_allclose(covariance.gram(left, right), expected, rtol=1e-7, atol=1e-12)


@EACH
def test_the_gram_of_single_precision_is_single_with_a_diagonal_of_ones(covariance):
    rows = points(50, dtype=np.float32) + np.float32(100)
    gram = covariance.gram(rows, rows)
    assert gram.dtype == np.float32
    np.testing.assert_allclose(np.diag(gram), 1.0, atol=1e-6)
    # rows of about 100 are themselves rounded to 4e-6
    np.testing.assert_allclose(
        gram, expected_gram(covariance, rows.astype(float), rows.astype(float)), atol=2e-5
    )


@EACH
@pytest.mark.parametrize(("rows", "others"), [(0, 4), (4, 0), (1, 1)])
def test_few_rows_have_small_grams(covariance, rows, others):
    assert covariance.gram(points(rows), points(others)).shape == (rows, others)


LAWS = {
    "gaussian": stats.norm(scale=1 / LENGTH),
    "laplace": stats.cauchy(scale=1 / LENGTH),
    "cauchy": stats.laplace(scale=1 / LENGTH),
}


@EACH
@pytest.mark.parametrize("coordinate", [0, 1])
def test_a_coordinate_of_a_frequency_has_its_law(covariance, coordinate):
    made = covariance.frequencies(normals(covariance, 2, 20_000))
    assert made.shape == (2, 20_000)
    assert made.dtype == np.float32
    degrees = 2 * getattr(covariance, "smoothness", 1)
    law = LAWS.get(covariance.name, stats.t(degrees, scale=1 / LENGTH))
    assert stats.kstest(made[coordinate], law.cdf).pvalue > 1e-4


@EACH
def test_frequencies_have_equal_bits_elsewhere(covariance):
    drawn = normals(covariance, 4, 1000)
    strict = covariance.frequencies(array_api_strict.asarray(drawn))
    np.testing.assert_array_equal(np.asarray(strict), covariance.frequencies(drawn))


@EACH
def test_normals_of_zero_make_finite_frequencies(covariance):
    drawn = normals(covariance, 2, 50)
    for row in range(drawn.shape[0]):
        drawn[row, row] = 0.0
    assert np.isfinite(covariance.frequencies(drawn)).all()
    assert np.isfinite(covariance.frequencies(np.zeros_like(drawn))).all()


@EACH
def test_a_covariance_is_had_by_its_name(covariance):
    assert get_covariance(covariance.name, LENGTH, getattr(covariance, "smoothness", 1.5)) == covariance
    assert get_covariance(covariance, 99.0) is covariance


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(BenchfwError, match="unknown covariance 'gausian'; did you mean 'gaussian'"):
        get_covariance("gausian", 1.0)


@pytest.mark.parametrize("name", ["gaussian", "laplace", "cauchy", "matern"])
@pytest.mark.parametrize("length", [0.0, -1.0, float("nan"), float("inf")])
def test_a_length_that_is_not_positive_is_refused(name, length):
    with pytest.raises(BenchfwError, match=f"length must be positive.*in the covariance '{name}'"):
        get_covariance(name, length)


def test_a_smoothness_without_a_closed_form_is_refused():
    with pytest.raises(BenchfwError, match=r"is 0\.5, 1\.5 or 2\.5, not 2"):
        Matern(1.0, 2)


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 50])
def test_rows_a_few_at_a_time_give_what_all_at_once_give(rows):
    sizes = []

    def function(some):
        sizes.append(some.shape[0])
        return some * 2

    np.testing.assert_array_equal(by_rows(function, points(rows), 5, at_once=40), 2 * points(rows))
    assert max(sizes) <= 8
    assert sum(sizes) == rows
