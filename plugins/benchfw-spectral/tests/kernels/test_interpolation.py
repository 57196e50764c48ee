"""Cubic interpolation weights: Keys' cubic convolution on an equispaced grid."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import CubicHermiteSpline

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError
from benchfw_spectral.kernels.interpolation import cubic_weights

LOW, SPACING, SIZE = -2.0, 0.5, 20
GRID = LOW + SPACING * np.arange(SIZE)
POINTS = GRID[1] + (GRID[-2] - GRID[1]) * get_backend("numpy").rng(5).random(300)


def interpolated(values, points=POINTS):
    indices, weights = cubic_weights(points, LOW, SPACING, SIZE)
    return np.sum(values[indices] * weights, axis=1)


def test_neighbours_are_the_two_on_each_side():
    indices, _ = cubic_weights(POINTS, LOW, SPACING, SIZE)
    assert indices.dtype == np.int64
    np.testing.assert_array_equal(np.diff(indices, axis=1), 1)
    assert np.all(GRID[indices[:, 1]] <= POINTS)
    assert np.all(GRID[indices[:, 2]] > POINTS)


@given(
    coefficients=st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    position=st.floats(1, SIZE - 2, exclude_max=True),
)
def test_quadratics_are_reproduced(coefficients, position):
    quadratic = np.poly1d(coefficients)
    point = np.array([LOW + SPACING * position])
    if (point[0] - LOW) / SPACING < SIZE - 2:  # rounding may reach the end
        assert interpolated(quadratic(GRID), point)[0] == pytest.approx(quadratic(point[0]), abs=1e-9)


def test_weights_add_up_to_one():
    _, weights = cubic_weights(POINTS, LOW, SPACING, SIZE)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, rtol=0, atol=4e-16)


def test_it_is_the_hermite_cubic_with_central_slopes():
    values = np.sin(GRID)
    spline = CubicHermiteSpline(GRID, values, np.gradient(values, SPACING))
    np.testing.assert_allclose(interpolated(values), spline(POINTS), rtol=0, atol=1e-14)


def test_points_of_the_grid_get_their_own_values():
    values = np.cos(GRID)
    np.testing.assert_array_equal(interpolated(values, GRID[1:-2]), values[1:-2])


def test_the_error_falls_with_the_third_power_of_the_spacing():
    def error(size):
        spacing = 4.0 / (size - 1)
        points = 1.0 + 2.0 * get_backend("numpy").rng(6).random(2000)
        indices, weights = cubic_weights(points, 0.0, spacing, size)
        return np.abs(np.sum(np.exp(spacing * indices) * weights, axis=1) - np.exp(points)).max()

    assert 7.0 < error(41) / error(81) < 9.0


@pytest.mark.parametrize(
    "point", [LOW, GRID[1] - 1e-9, GRID[-2], GRID[-1], 1e300, -np.inf, np.nan], ids=lambda point: f"{point:g}"
)
def test_a_point_without_four_neighbours_is_refused(point):
    with pytest.raises(
        BenchfwError, match=r"lack neighbours in the grid of 20 from -2 by 0\.5; give it two more"
    ):
        cubic_weights(np.array([0.0, point]), LOW, SPACING, SIZE)


@pytest.mark.parametrize("spacing", [0.0, -1.0, float("nan")])
def test_a_spacing_that_is_not_positive_is_refused(spacing):
    with pytest.raises(BenchfwError, match="must be positive, not"):
        cubic_weights(POINTS, LOW, spacing, SIZE)


def test_four_grid_points_hold_one_cell():
    indices, weights = cubic_weights(np.array([1.5]), 0.0, 1.0, 4)
    assert indices.tolist() == [[0, 1, 2, 3]]
    assert weights.tolist() == [[-0.0625, 0.5625, 0.5625, -0.0625]]


def test_no_points_have_no_neighbours():
    indices, weights = cubic_weights(np.zeros(0), LOW, SPACING, SIZE)
    assert indices.shape == weights.shape == (0, 4)


def test_single_precision_stays_single():
    _, weights = cubic_weights(POINTS.astype(np.float32), LOW, SPACING, SIZE)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, cubic_weights(POINTS, LOW, SPACING, SIZE)[1], rtol=0, atol=1e-5)
