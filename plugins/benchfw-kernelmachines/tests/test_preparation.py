"""Scaling, standardization and principal components of features."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from benchfw.backends import get_backend
from benchfw_kernelmachines.preparation import fit_preparation

BACKEND = get_backend("numpy")


def pictures(rows=300):
    return np.random.default_rng(0).integers(0, 256, (rows, 4, 3), dtype=np.uint8)


def test_pixels_are_divided_by_255_and_flattened():
    prepare = fit_preparation(pictures(), 100, standardize=False)
    rows = prepare(pictures())
    assert rows.dtype == np.float32
    assert prepare.dimension == 12
    np.testing.assert_allclose(rows, pictures().reshape(300, 12) / 255, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.float32, np.int16])
def test_bits_and_numbers_stay_as_they_are(dtype):
    stored = np.random.default_rng(1).integers(0, 2, (50, 6)).astype(dtype)
    np.testing.assert_array_equal(fit_preparation(stored, 6, standardize=False)(stored), stored)


def test_principal_components_are_those_of_scikit_learn():
    spread = np.random.default_rng(2).standard_normal((5000, 12)) * np.arange(12, 0, -1) + 40
    prepare = fit_preparation(spread.astype(np.float32), 5, standardize=False)
    reference = PCA(5).fit(spread)
    found, expected = prepare(spread.astype(np.float32)), reference.transform(spread)
    signs = np.sign((found * expected).sum(axis=0))
    assert prepare.dimension == 5
    np.testing.assert_allclose(found * signs, expected, atol=1e-3 * expected.std())
    largest = np.abs(prepare.components).argmax(axis=0)
    assert (prepare.components[largest, np.arange(5)] > 0).all()


@pytest.mark.parametrize("components", [0, 12, 13])
def test_columns_that_are_few_enough_are_left_alone(components):
    assert fit_preparation(pictures(), components, standardize=False).components is None


def test_standardized_columns_have_mean_zero_and_variance_one_and_constant_ones_vanish():
    stored = np.random.default_rng(3).standard_normal((9000, 3)) * [1, 1e-3, 1e3] + [0, 1, 1e5]
    stored = np.column_stack([stored, np.full(9000, 7.0)]).astype(np.float32)
    rows = fit_preparation(stored, 100, standardize=True)(stored)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(rows.std(axis=0), [1, 1, 1, 0], atol=1e-4)


def test_a_constant_column_vanishes_though_its_mean_is_rounded():
    stored = np.column_stack([np.full(1001, 0.1), np.linspace(-1, 1, 1001)])
    prepare = fit_preparation(stored, 100, standardize=True)
    assert prepare.shift[0] != 0.1
    np.testing.assert_array_equal(prepare(stored)[:, 0], 0)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.int64])
@pytest.mark.parametrize("components", [0, 1])
def test_large_numbers_keep_their_small_differences(dtype, components):
    times = (1_600_000_000 + np.random.default_rng(4).integers(-100, 100, (500, 2))).astype(dtype)
    expected = (times - times.mean(axis=0)) / times.std(axis=0)
    prepare = fit_preparation(times, components, standardize=True)
    if components:
        expected = expected @ prepare.components
    rows = prepare(times)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, expected, atol=1e-5)


def test_new_rows_are_prepared_as_the_fitted_ones():
    prepare = fit_preparation(pictures(), 4, standardize=True).on(BACKEND)
    whole = prepare(pictures())
    np.testing.assert_allclose(prepare(pictures()[7:9]), whole[7:9], rtol=1e-5, atol=1e-5)
