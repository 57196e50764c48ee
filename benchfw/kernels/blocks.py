"""The passes over blocks of columns that iterative methods are made of, and a matrix to try them on."""

from __future__ import annotations

from functools import cache
from math import log2
from typing import Any

import numpy as np

from benchfw.backends.threads import over_pieces
from benchfw.kernels._kernel import kernel, namespace

PIECES = 128  # into which a GPU cuts the rows of a sum
AT_A_TIME = 1 << 15  # entries of a pass that stay in the cache
LARGE = 100_000  # entries of a block: smaller ones are not worth the trouble


def _dots_counts(left: Any, right: Any) -> tuple[float, float]:
    return 2.0 * left.size, float(left.nbytes + right.nbytes)


@kernel("column-dots", counts=_dots_counts)
def column_dots(left: Any, right: Any) -> Any:
    """Return the inner products of the columns of two blocks, (size, M) each: (M,)."""
    return namespace(left).sum(left * right, axis=0)


@column_dots.on("numpy")
def _column_dots_numpy(left: Any, right: Any) -> Any:
    rows, columns = left.shape
    if columns == 1 or left.size < LARGE or not (left.flags.c_contiguous and right.flags.c_contiguous):
        return np.einsum("ij,ij->j", left, right)  # no product in memory: 2.5 times as fast
    # several rows taken as one: einsum is slow on rows as short as a block's
    fold = 1 + 512 // columns
    shape = (rows // fold, fold * columns)
    folded = shape[0] * fold
    sums = np.einsum("ij,ij->j", left[:folded].reshape(shape), right[:folded].reshape(shape))
    return sums.reshape(fold, columns).sum(axis=0) + np.einsum("ij,ij->j", left[folded:], right[folded:])


@column_dots.on("cupy")
def _column_dots_cupy(left: Any, right: Any) -> Any:
    rows, columns = left.shape
    length = rows // PIECES
    if length < 64:
        return _fused_dots()(left, right, axis=0)
    # a reduction has one group of threads a sum: a few columns alone would leave the device idle
    cut = length * PIECES
    if left.flags.f_contiguous:
        pieces = [block[:cut].T.reshape(columns, PIECES, length) for block in (left, right)]
        sums = _fused_dots()(*pieces, axis=2).sum(axis=1)
    else:
        pieces = [block[:cut].reshape(PIECES, length, columns) for block in (left, right)]
        sums = _fused_dots()(*pieces, axis=1).sum(axis=0)
    return sums + _fused_dots()(left[cut:], right[cut:], axis=0)


@cache
def _fused_dots() -> Any:
    import cupy

    return cupy.ReductionKernel(
        "T left, T right", "T dot", "left * right", "a + b", "dot = a", "0", "benchfw_column_dots"
    )


def _both_counts(block: Any, other: Any) -> tuple[float, float]:
    return 4.0 * block.size, float(block.nbytes + other.nbytes)


@kernel("squares-and-dots", counts=_both_counts)
def squares_and_dots(block: Any, other: Any) -> tuple[Any, Any]:
    """Return the inner products of a block's columns with themselves and with those of another: (M,) each."""
    return column_dots(block, block), column_dots(block, other)


@squares_and_dots.on("numpy")
def _squares_and_dots_numpy(block: Any, other: Any) -> tuple[Any, Any]:
    # with numba installed (the extra `fast`), large blocks are read once for both: two thirds of the time
    compiled = _compiled_dots() if block.size >= LARGE else None
    if compiled is None or not (block.flags.c_contiguous and other.flags.c_contiguous):
        return column_dots(block, block), column_dots(block, other)
    squares, dots = compiled(block, other)
    return squares, dots


@cache
def _compiled_dots() -> Any:
    try:
        from benchfw.backends.started_numba import numba
    except ImportError:
        return None
    return numba.njit(_dots_by_rows, cache=True, fastmath={"contract"})


def _dots_by_rows(block: Any, other: Any) -> tuple[Any, Any]:
    rows, columns = block.shape
    squares = np.zeros(columns, block.dtype)
    dots = np.zeros(columns, block.dtype)
    for i in range(rows):
        row, beside = block[i], other[i]
        for k in range(columns):  # a loop of its own: both sums in one take a third longer
            squares[k] += row[k] * row[k]
        for k in range(columns):
            dots[k] += row[k] * beside[k]
    return squares, dots


def _add_counts(block: Any, scales: Any, other: Any, keep: float = 1.0) -> tuple[float, float]:
    del keep
    return 2.0 * block.size, float(2 * block.nbytes + scales.nbytes + other.nbytes)


@kernel("add-scaled", counts=_add_counts)
def add_scaled(block: Any, scales: Any, other: Any, keep: float = 1.0) -> Any:
    """Return keep block + other diag(scales), (size, M): a multiple for each column, scales (M,)."""
    return (block if keep == 1.0 else keep * block) + scales * other


@add_scaled.on("numpy")
def _add_scaled_numpy(block: Any, scales: Any, other: Any, keep: float = 1.0) -> Any:
    suits = block.flags.c_contiguous and block.dtype == other.dtype == getattr(scales, "dtype", block.dtype)
    if block.size < LARGE or keep != 1.0 or not suits:
        return add_scaled.portable(block, scales, other, keep)
    result = np.empty_like(block)

    def add(rows: slice) -> None:
        np.multiply(other[rows], scales, out=result[rows])
        result[rows] += block[rows]

    columns = block.shape[1]
    over_pieces(add, block.shape[0], max(1, AT_A_TIME // columns), columns)
    return result


@add_scaled.on("cupy")
def _add_scaled_cupy(block: Any, scales: Any, other: Any, keep: float = 1.0) -> Any:
    import cupy

    return _fused_add()(keep, block, scales, other, cupy.empty_like(block))  # in the order of the block


@cache
def _fused_add() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "T keep, T block, T scale, T other",
        "T result",
        "result = keep * block + scale * other",
        "benchfw_add_scaled",
    )


def in_safe_range(block: Any) -> tuple[Any, Any, Any]:
    """Return a block whose columns have safe squares, the columns' lengths, and what they were multiplied by.

    Columns of extreme length, whose squares would underflow or overflow, are multiplied by powers of two,
    (M,); these are None, and the block is the one given, where no column is extreme.
    """
    xp = namespace(block)
    lengths = xp.sqrt(column_dots(block, block))
    if not has_extremes(lengths):
        return block, lengths, None
    powers = safe_powers(block)
    block = block * powers
    return block, xp.sqrt(column_dots(block, block)), powers


def has_extremes(sizes: Any) -> bool:
    """Return whether some of these sizes, (M,) and not negative, have squares that lose digits; 0 has too."""
    limit = safe_limit(sizes)
    return not bool(namespace(sizes).all((sizes >= 1 / limit) & (sizes <= limit)))


def safe_powers(block: Any) -> Any:
    """Return powers of two, (M,), that make extreme columns safe; 1 for others, for 0 and for infinity."""
    xp = namespace(block)
    sizes = xp.max(xp.abs(block), axis=0) if block.shape[0] else xp.zeros_like(xp.sum(block, axis=0))
    limit = safe_limit(sizes)
    quarter = log2(limit)
    some = xp.isfinite(sizes) & (sizes > 0) & ((sizes < 1 / limit) | (sizes > limit))
    exponents = xp.floor(xp.log2(xp.where(some, sizes, xp.ones_like(sizes))))
    two = xp.ones_like(sizes) * 2
    return xp.where(some, two ** (xp.sign(exponents) * quarter - exponents), xp.ones_like(sizes))


def safe_limit(sizes: Any) -> float:
    """Return 2 to a quarter of the largest exponent: what is not above it, nor below its inverse, is safe."""
    return float(2.0 ** (round(log2(float(namespace(sizes).finfo(sizes.dtype).max))) // 4))


def well_conditioned(rng: Any, side: int) -> Any:
    """Return a random symmetric matrix, (side, side), with eigenvalues from 1 to about 5."""
    factor = rng.standard_normal((side, side))
    return rng.backend.xp.eye(side) + factor @ factor.T / max(side, 1)


def sample_column_dots(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return two blocks of 8 columns."""
    del backend
    shape = (-(-size // 8), 8)
    return rng.standard_normal(shape), rng.standard_normal(shape)


sample_squares_and_dots = sample_column_dots


def sample_add_scaled(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return two blocks of 8 columns, and 8 scales between them."""
    block, other = sample_column_dots(backend, rng, size)
    return block, rng.standard_normal(8), other
