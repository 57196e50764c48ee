"""Least squares and logistic regression: gradients match values, and nothing overflows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchfw.backends import get_backend
from benchfw_firstorder.kernels.linear_models import (
    least_squares_gradient,
    least_squares_value,
    logistic_gradient,
    logistic_value,
)

ROWS, COLUMNS = 37, 5


def data(labels: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = get_backend("numpy").rng(12)
    b = rng.rademacher(ROWS) if labels else rng.standard_normal(ROWS)
    return rng.standard_normal((ROWS, COLUMNS)), b, rng.standard_normal(COLUMNS)


PAIRS = [
    pytest.param(least_squares_value, least_squares_gradient, False, id="least squares"),
    pytest.param(logistic_value, logistic_gradient, True, id="logistic"),
]
BODIES = pytest.mark.parametrize("body", ["portable", "numpy"])


def body_of(kernel, body):
    return kernel.portable if body == "portable" else kernel.bodies["numpy"]


@BODIES
@pytest.mark.parametrize(("value", "gradient", "labels"), PAIRS)
def test_the_gradient_is_the_derivative_of_the_value(value, gradient, labels, body):
    A, b, x = data(labels)
    step = 1e-6
    differences = [
        (body_of(value, body)(A, b, x + step * e) - body_of(value, body)(A, b, x - step * e)) / (2 * step)
        for e in np.eye(COLUMNS)
    ]
    # central differences err by step² plus rounding over step
    np.testing.assert_allclose(body_of(gradient, body)(A, b, x), differences, atol=1e-8)


@BODIES
def test_least_squares_is_half_the_mean_of_squares(body):
    A, b, x = data(labels=False)
    expected = sum((float(row @ x) - target) ** 2 for row, target in zip(A, b, strict=True)) / (2 * ROWS)
    assert float(body_of(least_squares_value, body)(A, b, x)) == pytest.approx(expected, rel=1e-13)


@BODIES
def test_the_least_squares_gradient_vanishes_at_the_solution(body):
    A, b, _ = data(labels=False)
    solution = np.linalg.lstsq(A, b)[0]
    np.testing.assert_allclose(body_of(least_squares_gradient, body)(A, b, solution), 0.0, atol=1e-14)


@BODIES
def test_logistic_value_is_the_mean_of_log_one_plus_exp(body):
    A, y, x = data(labels=True)
    expected = math.fsum(
        math.log1p(math.exp(-label * float(row @ x))) for row, label in zip(A, y, strict=True)
    )
    assert float(body_of(logistic_value, body)(A, y, x)) == pytest.approx(expected / ROWS, rel=1e-13)


@BODIES
@pytest.mark.parametrize("margin", [-1e4, -800.0, 800.0, 1e4])
def test_logistic_holds_for_margins_beyond_the_exponential(margin, body):
    A, y, x = np.array([[1.0]]), np.array([-1.0]), np.array([-margin])
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        assert float(body_of(logistic_value, body)(A, y, x)) == max(-margin, 0.0)
        assert float(body_of(logistic_gradient, body)(A, y, x)[0]) == (1.0 if margin < 0 else 0.0)


@BODIES
def test_tiny_logistic_slopes_keep_their_digits(body):
    A, y, x = np.array([[1.0]]), np.array([1.0]), np.array([100.0])
    assert float(body_of(logistic_gradient, body)(A, y, x)[0]) == pytest.approx(-math.exp(-100.0), rel=1e-14)
    assert float(body_of(logistic_value, body)(A, y, x)) == pytest.approx(math.exp(-100.0), rel=1e-14)


@BODIES
@pytest.mark.parametrize(("value", "gradient", "labels"), PAIRS)
def test_a_mean_over_no_rows_is_zero(value, gradient, labels, body):
    A, b, x = np.zeros((0, COLUMNS)), np.zeros(0), np.ones(COLUMNS)
    assert float(body_of(value, body)(A, b, x)) == 0.0
    assert body_of(gradient, body)(A, b, x).tolist() == [0.0] * COLUMNS
