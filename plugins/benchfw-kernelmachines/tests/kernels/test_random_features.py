"""Sums over random features: equal to those over stored ones, whatever the tiles."""

from __future__ import annotations

import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_kernelmachines.kernels import random_features
from benchfw_kernelmachines.kernels.random_features import (
    feature_gram,
    feature_products,
    feature_scores,
)
from benchfw_kernelmachines.kernels.waves import ROWS

BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])
SIZES = pytest.mark.parametrize("rows", [0, 1, ROWS - 1, ROWS, ROWS + 1, 5 * ROWS + 3])


def body_of(kernel, body):
    return kernel.portable if body == "portable" else kernel.bodies["numpy"]


def example(rows, blocks=3, dtype=np.float64):
    """Return rows (n, 7), frequencies (blocks, 7, 12), coefficients (blocks, 2, 12, 4), residuals (n, 4)."""
    rng = get_backend("numpy").rng(5)
    shapes = (rows, 7), (blocks, 7, 12), (blocks, 2, 12, 4), (rows, 4)
    return tuple(rng.standard_normal(shape).astype(dtype) for shape in shapes)


def stored(rows, frequencies):
    """Return the features, (n, 2F), one at a time."""
    features = np.empty((rows.shape[0], 2 * frequencies.shape[1]))
    for column, frequency in enumerate(frequencies.T.astype(np.float64)):
        phases = rows.astype(np.float64) @ frequency
        features[:, column] = np.cos(phases)
        features[:, column + frequencies.shape[1]] = np.sin(phases)
    return features


def side_by_side(blocks):
    return lambda numbers: np.concatenate([blocks[number] for number in numbers], axis=1)


@BODIES
@SIZES
@pytest.mark.parametrize("blocks", [1, 3])
def test_scores_are_those_of_stored_features(rows, blocks, body):
    points, frequencies, coefficients, _ = example(rows, blocks)
    found = body_of(feature_scores, body)(points, side_by_side(frequencies), list(coefficients), 4)
    features = np.concatenate([stored(points, block) for block in frequencies], axis=1)
    np.testing.assert_allclose(found, features @ coefficients.reshape(-1, 4), rtol=0, atol=1e-12)


@BODIES
@SIZES
def test_products_are_those_of_stored_features(rows, body):
    points, frequencies, _, residuals = example(rows)
    found = body_of(feature_products, body)(points, frequencies[0], residuals)
    expected = (stored(points, frequencies[0]).T @ residuals).reshape(2, 12, 4)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14 * max(rows, 1))


@BODIES
@SIZES
def test_the_gram_is_that_of_stored_features(rows, body):
    points, frequencies, _, _ = example(rows)
    features = stored(points, frequencies[0])
    found = body_of(feature_gram, body)(points, frequencies[0])
    np.testing.assert_allclose(found, features.T @ features, rtol=0, atol=1e-14 * max(rows, 1))


@BODIES
def test_without_coefficients_scores_are_zero(body):
    points, frequencies, _, _ = example(9)
    found = body_of(feature_scores, body)(points, side_by_side(frequencies), (), 4)
    np.testing.assert_array_equal(found, np.zeros((9, 4)))


@BODIES
def test_each_block_is_asked_for_once_and_in_turn(body):
    points, frequencies, coefficients, _ = example(4 * ROWS)
    asked = []

    def blocks(numbers):
        asked.extend(numbers)
        return side_by_side(frequencies)(numbers)

    body_of(feature_scores, body)(points, blocks, list(coefficients), 4)
    assert asked == [0, 1, 2]


@BODIES
def test_products_are_the_transpose_of_scores(body):
    points, frequencies, coefficients, residuals = example(3 * ROWS)
    scores = body_of(feature_scores, body)(points, side_by_side(frequencies), list(coefficients[:1]), 4)
    products = body_of(feature_products, body)(points, frequencies[0], residuals)
    assert (scores * residuals).sum() == pytest.approx((products * coefficients[0]).sum(), rel=1e-12)


@BODIES
def test_single_precision_stays_single(body):
    points, frequencies, coefficients, residuals = example(ROWS + 5, dtype=np.float32)
    scores = body_of(feature_scores, body)(points, side_by_side(frequencies), list(coefficients), 4)
    products = body_of(feature_products, body)(points, frequencies[0], residuals)
    gram = body_of(feature_gram, body)(points, frequencies[0])
    assert scores.dtype == products.dtype == gram.dtype == np.float32
    features = np.concatenate([stored(points, block) for block in frequencies], axis=1)
    # phases of about 30 are rounded to 2e-6, which 72 features of size 1 hand on
    np.testing.assert_allclose(scores, features @ coefficients.reshape(-1, 4), rtol=0, atol=1e-4)


@BODIES
def test_arguments_are_left_as_they_were(body):
    arrays = example(ROWS)
    points, frequencies, coefficients, residuals = arrays
    body_of(feature_scores, body)(points, side_by_side(frequencies), list(coefficients), 4)
    body_of(feature_products, body)(points, frequencies[0], residuals)
    for array, before in zip(arrays, example(ROWS), strict=True):
        np.testing.assert_array_equal(array, before)


@BODIES
def test_on_the_host_tensor_cores_make_no_difference(body):
    points, frequencies, coefficients, residuals = example(ROWS + 5, dtype=np.float32)
    scores = points, side_by_side(frequencies), list(coefficients), 4
    for kernel, arguments in (
        (feature_scores, scores),
        (feature_products, (points, frequencies[0], residuals)),
        (feature_gram, (points, frequencies[0])),
    ):
        compute = body_of(kernel, body)
        np.testing.assert_array_equal(compute(*arguments, tensor_cores=False), compute(*arguments))


def test_without_tensor_cores_scores_are_plain_products(monkeypatch):
    # then the body for CuPy has nothing but array functions, which NumPy has too, and the pool's memory
    pool = SimpleNamespace(malloc=None)
    memory = {"get_default_memory_pool": lambda: pool, "cuda": SimpleNamespace(get_allocator=lambda: "mine")}
    monkeypatch.setitem(sys.modules, "cupy", SimpleNamespace(**vars(np), **memory))
    # several tiles, a block at a time
    monkeypatch.setattr(random_features, "_most_features", lambda: 64 * 12)
    points, frequencies, coefficients, _ = example(100, dtype=np.float32)
    arguments = points, side_by_side(frequencies), list(coefficients), 4
    found = feature_scores.bodies["cupy"](*arguments, tensor_cores=False)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, feature_scores.portable(*arguments), rtol=0, atol=1e-4)


def test_features_of_all_rows_are_never_there_at_once():
    points, frequencies, coefficients, residuals = example(100 * ROWS, dtype=np.float32)
    tracemalloc.start()
    feature_scores(points, side_by_side(frequencies), list(coefficients), 4)
    feature_products(points, frequencies[0], residuals)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    one_plane = points.shape[0] * frequencies.shape[2] * points.itemsize
    assert peak < one_plane  # scores take a third of it
