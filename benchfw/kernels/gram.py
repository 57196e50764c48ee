"""The gram matrix of the Gaussian covariance, and its derivative in the length scale.

Both are functions of e_ij = -|x_i - y_j|² / 2 = x_i'y_j - (|x_i|² + |y_j|²) / 2, with lengths in units of the
scale: one matrix product, after which NumPy works in place, a few rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from benchfw.backends.threads import over_pieces
from benchfw.errors import BenchfwError
from benchfw.kernels._kernel import kernel, namespace

COORDINATES = 8  # of the samples' points
FEW = 16  # coordinates: a GPU finds distances between such points one by one
AT_A_TIME = 1 << 15  # entries; what a pass sets aside stays in the cache


def _counts(X: Any, Y: Any, length: float) -> tuple[float, float]:
    del length
    entries = X.shape[0] * Y.shape[0]
    return entries * (2.0 * X.shape[1] + 20), float(X.nbytes + Y.nbytes + entries * X.dtype.itemsize)


@kernel("gaussian-gram", counts=_counts)
def gaussian_gram(X: Any, Y: Any, length: float) -> Any:
    """Return exp(-|x_i - y_j|² / (2 length²)), (n, m), for X (n, d) and Y (m, d).

    Where Y is X itself the result is symmetric with ones on its diagonal, to the last bit.
    """
    return namespace(X).exp(_exponents(X, Y, length))


@gaussian_gram.on("numpy")
def _gaussian_gram_numpy(X: Any, Y: Any, length: float) -> Any:
    gram, left, right = _parts(np, X, Y, length)

    def exponentiate(rows: slice) -> None:
        exponents = _finish(gram[rows], left[rows], right)
        np.exp(exponents, out=exponents)

    _over_rows(exponentiate, gram)
    return gram


@gaussian_gram.on("cupy")
def _gaussian_gram_cupy(X: Any, Y: Any, length: float) -> Any:
    return _on_device(X, Y, length, "exp(exponent)", 0.0)


@kernel("gaussian-gram-length-derivative", counts=_counts)
def gaussian_gram_length_derivative(X: Any, Y: Any, length: float) -> Any:
    """Return the derivative of `gaussian_gram` in the length, |x_i - y_j|² / length³ times it: (n, m)."""
    exponents = _exponents(X, Y, length)
    return exponents * namespace(X).exp(exponents) * (-2.0 / float(length))


@gaussian_gram_length_derivative.on("numpy")
def _gaussian_gram_length_derivative_numpy(X: Any, Y: Any, length: float) -> Any:
    derivative, left, right = _parts(np, X, Y, length)

    def differentiate(rows: slice) -> None:
        exponents = _finish(derivative[rows], left[rows], right)
        grams = np.exp(exponents)
        exponents *= grams
        exponents *= -2.0 / float(length)

    _over_rows(differentiate, derivative)
    return derivative


@gaussian_gram_length_derivative.on("cupy")
def _gaussian_gram_length_derivative_cupy(X: Any, Y: Any, length: float) -> Any:
    return _on_device(X, Y, length, "exponent * exp(exponent) * factor", -2.0 / float(length))


def _check_length(length: float) -> None:
    """Raise BenchfwError for a length scale that is not positive."""
    if not length > 0:
        raise BenchfwError(f"the length scale of a gram matrix must be positive, not {length}")


def _parts(xp: Any, X: Any, Y: Any, length: float) -> tuple[Any, Any, Any]:
    """Return x_i'y_j (n, m), |x_i|² / 2 (n,) and |y_j|² / 2 (m,), for points relative to the mean of Y."""
    _check_length(length)
    # distances far from the origin would be differences of large squares
    centre = xp.sum(Y, axis=0) / max(Y.shape[0], 1)
    left = (X - centre) / float(length)
    if Y is X:
        products = left @ xp.matrix_transpose(left)
        # the product's own diagonal, so that it cancels
        squares = xp.linalg.diagonal(products) / 2
        return products, squares, squares
    right = (Y - centre) / float(length)
    return (
        left @ xp.matrix_transpose(right),
        xp.sum(left * left, axis=1) / 2,
        xp.sum(right * right, axis=1) / 2,
    )


def _exponents(X: Any, Y: Any, length: float) -> Any:
    """Return e, (n, m), never positive."""
    xp = namespace(X, Y)
    products, left, right = _parts(xp, X, Y, length)
    exponents = products - (left[:, None] + right)
    return xp.minimum(exponents, xp.zeros_like(exponents))


def _finish(products: Any, left: Any, right: Any) -> Any:
    """Turn some rows of products into those of e, in place."""
    products -= np.add.outer(left, right)
    return np.minimum(products, 0.0, out=products)


def _over_rows(work: Callable[[slice], object], matrix: Any) -> None:
    """Call work for slices of a few rows each."""
    columns = max(matrix.shape[1], 1)
    over_pieces(work, matrix.shape[0], max(1, AT_A_TIME // columns), columns, nanoseconds=5.0)


def _on_device(X: Any, Y: Any, length: float, expression: str, factor: float) -> Any:
    import cupy

    kind = cupy.result_type(X, Y).type
    if X.shape[1] <= FEW:  # a product of matrices would write and read the result once more
        _check_length(length)
        X, Y = cupy.ascontiguousarray(X, dtype=kind), cupy.ascontiguousarray(Y, dtype=kind)
        gram = cupy.empty((X.shape[0], Y.shape[0]), dtype=kind)
        sizes = np.int64(Y.shape[0]), np.int64(X.shape[1])
        _few_coordinates(expression)(X, Y, *sizes, kind(1 / length), kind(factor), gram)
        return gram
    products, left, right = _parts(namespace(X, Y), X, Y, length)
    # cuBLAS does not promise a symmetric product
    mirrored = products.T if Y is X else products
    return _fused(expression)(products, mirrored, left[:, None], right, kind(factor))


@cache
def _few_coordinates(expression: str) -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "raw T X, raw T Y, int64 columns, int64 dimension, T inverse_length, T factor",
        "T result",
        f"""
        const T* x = &X[(i / columns) * dimension];
        const T* y = &Y[(i % columns) * dimension];
        T squares = 0;
        for (int k = 0; k < dimension; ++k) {{
            const T distance = (x[k] - y[k]) * inverse_length;
            squares += distance * distance;
        }}
        const T exponent = squares / -2;
        result = {expression};
        """,
        "benchfw_gaussian_gram_of_few_coordinates",
    )


@cache
def _fused(expression: str) -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "T product, T mirrored, T left, T right, T factor",
        "T result",
        f"""
        const T difference = (product + mirrored) / 2 - (left + right);
        const T exponent = difference > 0 ? (T)0 : difference;
        result = {expression};
        """,
        "benchfw_gaussian_gram",
    )


def _sample(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return two sets of points whose gram matrix has about `size` entries, and a length."""
    del backend
    shape = (isqrt(size), COORDINATES)
    return rng.standard_normal(shape), rng.standard_normal(shape), COORDINATES**0.5


sample_gaussian_gram = sample_gaussian_gram_length_derivative = _sample
