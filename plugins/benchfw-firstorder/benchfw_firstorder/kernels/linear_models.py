"""Values and gradients of least squares and logistic regression: two products with the matrix each.

All are means over the rows of A, (n, d); a mean over no rows is zero. No CuPy bodies: cuBLAS moves A at
the speed of the memory, and A is all that counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw.kernels import kernel, logistic_loss, logistic_slope, namespace

COLUMNS = 64  # of the samples


def _value_counts(A: Any, b: Any, x: Any) -> tuple[float, float]:
    return 2.0 * A.size, float(A.nbytes + b.nbytes + x.nbytes)


def _gradient_counts(A: Any, b: Any, x: Any) -> tuple[float, float]:
    return 4.0 * A.size, float(2 * A.nbytes + b.nbytes + 2 * x.nbytes)


@kernel("least-squares-value", counts=_value_counts)
def least_squares_value(A: Any, b: Any, x: Any) -> Any:
    """Return |Ax - b|² / (2n), a 0-d array: A (n, d), b (n,), x (d,)."""
    residual = A @ x - b
    return namespace(A).sum(residual * residual) / (2 * max(A.shape[0], 1))


@least_squares_value.on("numpy")
def _least_squares_value_numpy(A: Any, b: Any, x: Any) -> Any:
    residual = A @ x
    residual -= b
    return residual @ residual / (2 * max(A.shape[0], 1))


@kernel("least-squares-gradient", counts=_gradient_counts)
def least_squares_gradient(A: Any, b: Any, x: Any) -> Any:
    """Return A'(Ax - b) / n, (d,): A (n, d), b (n,), x (d,)."""
    residual = A @ x - b
    return namespace(A).matrix_transpose(A) @ residual / max(A.shape[0], 1)


@least_squares_gradient.on("numpy")
def _least_squares_gradient_numpy(A: Any, b: Any, x: Any) -> Any:
    residual = A @ x
    residual -= b
    return residual @ A / max(A.shape[0], 1)


@kernel("logistic-value", counts=_value_counts)
def logistic_value(A: Any, y: Any, x: Any) -> Any:
    """Return the mean of log(1 + exp(-y_i a_i'x)), a 0-d array: A (n, d), labels y (n,) of ±1, x (d,)."""
    return namespace(A).sum(logistic_loss(y * (A @ x))) / max(A.shape[0], 1)


@logistic_value.on("numpy")
def _logistic_value_numpy(A: Any, y: Any, x: Any) -> Any:
    margin = A @ x
    margin *= y
    size = np.abs(margin)  # log(1 + e^-m) = max(-m, 0) + log(1 + e^-|m|), and m - |m| is exact
    margin -= size
    margin *= -0.5
    np.negative(size, out=size)
    margin += np.log1p(np.exp(size, out=size), out=size)
    return margin.sum() / max(A.shape[0], 1)


@kernel("logistic-gradient", counts=_gradient_counts)
def logistic_gradient(A: Any, y: Any, x: Any) -> Any:
    """Return the gradient of `logistic_value`, -A'(y s) / n with s_i = 1 / (1 + exp(y_i a_i'x)): (d,)."""
    xp = namespace(A)
    return xp.matrix_transpose(A) @ (y * logistic_slope(y * (A @ x))) / max(A.shape[0], 1)


@logistic_gradient.on("numpy")
def _logistic_gradient_numpy(A: Any, y: Any, x: Any) -> Any:
    margin = A @ x
    margin *= y
    decay = np.abs(margin)
    np.negative(decay, out=decay)
    np.exp(decay, out=decay)
    slope = np.where(margin < 0, 1.0, decay)
    decay += 1.0
    slope /= decay
    slope *= y
    return slope @ A / -max(A.shape[0], 1)


def sample_least_squares_value(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return A (n, 64), about `size` numbers, b (n,), x (64,)."""
    del backend
    rows = -(-size // COLUMNS)
    return rng.standard_normal((rows, COLUMNS)), rng.standard_normal(rows), rng.standard_normal(COLUMNS)


def sample_logistic_value(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return A (n, 64), about `size` numbers, labels of ±1 (n,), x (64,)."""
    del backend
    rows = -(-size // COLUMNS)
    return rng.standard_normal((rows, COLUMNS)), rng.rademacher(rows), rng.standard_normal(COLUMNS)


sample_least_squares_gradient, sample_logistic_gradient = sample_least_squares_value, sample_logistic_value
