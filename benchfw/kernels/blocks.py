"""The passes over blocks of columns that iterative methods are made of, and a matrix to try them on."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from benchfw.kernels._kernel import kernel, namespace


def _dots_counts(left: Any, right: Any) -> tuple[float, float]:
    return 2.0 * left.size, float(left.nbytes + right.nbytes)


@kernel("column-dots", counts=_dots_counts)
def column_dots(left: Any, right: Any) -> Any:
    """Return the inner products of the columns of two blocks, (size, M) each: (M,)."""
    return namespace(left).sum(left * right, axis=0)


@column_dots.on("numpy")
def _column_dots_numpy(left: Any, right: Any) -> Any:
    rows, columns = left.shape
    if columns == 1 or left.size < 100_000 or not (left.flags.c_contiguous and right.flags.c_contiguous):
        return np.einsum("ij,ij->j", left, right)  # no product in memory: 2.5 times as fast
    # several rows taken as one: einsum is slow on rows as short as a block's
    fold = 1 + 512 // columns
    shape = (rows // fold, fold * columns)
    folded = shape[0] * fold
    sums = np.einsum("ij,ij->j", left[:folded].reshape(shape), right[:folded].reshape(shape))
    return sums.reshape(fold, columns).sum(axis=0) + np.einsum("ij,ij->j", left[folded:], right[folded:])


@column_dots.on("cupy")
def _column_dots_cupy(left: Any, right: Any) -> Any:
    return _fused_dots()(left, right, axis=0)


@cache
def _fused_dots() -> Any:
    import cupy

    return cupy.ReductionKernel(
        "T left, T right", "T dot", "left * right", "a + b", "dot = a", "0", "benchfw_column_dots"
    )


def _add_counts(block: Any, scales: Any, other: Any) -> tuple[float, float]:
    return 2.0 * block.size, float(2 * block.nbytes + scales.nbytes + other.nbytes)


@kernel("add-scaled", counts=_add_counts)
def add_scaled(block: Any, scales: Any, other: Any) -> Any:
    """Return block + other diag(scales), (size, M): a multiple for each column, scales (M,)."""
    return block + scales * other


@add_scaled.on("cupy")
def _add_scaled_cupy(block: Any, scales: Any, other: Any) -> Any:
    return _fused_add()(block, scales, other)


@cache
def _fused_add() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "T block, T scale, T other", "T result", "result = block + scale * other", "benchfw_add_scaled"
    )


def well_conditioned(rng: Any, side: int) -> Any:
    """Return a random symmetric matrix, (side, side), with eigenvalues from 1 to about 5."""
    factor = rng.standard_normal((side, side))
    return rng.backend.xp.eye(side) + factor @ factor.T / max(side, 1)


def sample_column_dots(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return two blocks of 8 columns."""
    del backend
    shape = (-(-size // 8), 8)
    return rng.standard_normal(shape), rng.standard_normal(shape)


def sample_add_scaled(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return two blocks of 8 columns, and 8 scales between them."""
    block, other = sample_column_dots(backend, rng, size)
    return block, rng.standard_normal(8), other
