"""The median trick."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from benchfw import BenchfwError
from benchfw.backends import get_backend
from benchfw_kernelmachines.bandwidth import median_distance

BACKEND = get_backend("numpy")


def points(rows, dtype=np.float32):
    return BACKEND.rng(1).standard_normal((rows, 6), dtype)


def test_it_is_the_median_over_all_pairs_of_few_rows():
    rows = points(41)
    pairs = cdist(rows, rows)[np.triu_indices(41, 1)]
    assert median_distance(rows) == pytest.approx(np.median(pairs), rel=1e-12)


def test_the_length_of_a_laplace_covariance_is_measured_along_the_axes():
    rows = points(41)
    pairs = cdist(rows, rows, "cityblock")[np.triu_indices(41, 1)]
    found = median_distance(rows, "cityblock")
    assert found == pytest.approx(np.median(pairs), rel=1e-12)


def test_it_scales_with_the_rows():
    rows = points(100, np.float64)
    scaled = median_distance(8 * rows)
    assert scaled == pytest.approx(8 * median_distance(rows), rel=1e-12)


def test_constant_features_are_refused():
    with pytest.raises(BenchfwError, match="the median distance between rows is 0: most rows are equal"):
        median_distance(np.full((50, 4), 0.1, dtype=np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_numbers_are_refused(value):
    rows = points(50)
    rows[3, 2] = value
    with pytest.raises(BenchfwError, match="all of them numbers"):
        median_distance(rows)


def test_one_row_has_no_distances():
    with pytest.raises(BenchfwError, match="needs two rows or more"):
        median_distance(points(1))
