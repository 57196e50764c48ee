"""Solves with B = I + (s s')∘K through its Cholesky factor.

They speak for the Gaussian N(m, (K⁻¹ + diag(s²))⁻¹): no eigenvalue of B is below 1, so that neither a K that
is almost singular nor an s of zeros does harm. Rasmussen & Williams 2006, §3.4.3.
"""

from __future__ import annotations

from functools import cache
from math import isqrt
from typing import Any

import numpy as np

from benchfw.kernels._kernel import kernel, namespace
from benchfw.kernels.blocks import column_dots, well_conditioned

STRIP = 64  # rows of B made at a time, which stay in the cache


def _counts(gram: Any, scales: Any) -> tuple[float, float]:
    side = gram.shape[0]
    return side**3 / 3 + 3.0 * side**2, float(2 * gram.nbytes + scales.nbytes)


@kernel("scaled-cholesky", counts=_counts)
def scaled_cholesky(gram: Any, scales: Any) -> Any:
    """Return the lower Cholesky factor of I + (s s')∘K, (n, n), for K (n, n) and s (n,).

    On NumPy and CuPy it is NaN where there is none, as rounding may have it for a singular K and a huge s.
    """
    xp = namespace(gram)
    identity = xp.eye(gram.shape[0], dtype=gram.dtype)
    return xp.linalg.cholesky(identity + gram * scales * scales[:, None])


@scaled_cholesky.on("numpy")
def _scaled_cholesky_numpy(gram: Any, scales: Any) -> Any:
    rows = np.ascontiguousarray(gram.T if gram.flags.f_contiguous else gram)  # K = K'
    matrix = np.empty_like(rows)
    if not matrix.size:
        return matrix
    # only the half that LAPACK reads is computed, and only the other is cleared, in one pass over memory
    corner = np.tri(STRIP, dtype=matrix.dtype).T
    for first in range(0, len(scales), STRIP):
        strip = slice(first, first + STRIP)
        products = np.multiply.outer(scales[strip], scales[first:])
        products[:, :STRIP] *= corner[: len(products), : len(products)]
        matrix[strip, :first] = 0.0
        np.multiply(rows[strip, first:], products, out=matrix[strip, first:])
    matrix.reshape(-1)[:: len(scales) + 1] += 1.0
    potrf = _lapack("potrf", matrix)
    # B = B', so its rows may be read as columns: LAPACK factors it where it stands
    factor, fault = potrf(matrix.T, lower=True, overwrite_a=True, clean=False)
    return np.full_like(factor, np.nan) if fault else factor


@scaled_cholesky.on("cupy")
def _scaled_cholesky_cupy(gram: Any, scales: Any) -> Any:
    import cupy

    return cupy.linalg.cholesky(_fused()(gram, scales, scales[:, None], gram.shape[0]))


@cache
def _fused() -> Any:
    import cupy

    return cupy.ElementwiseKernel(
        "T entry, T right, T left, int64 side",
        "T result",
        "result = entry * right * left + (T)(i / side == i % side)",
        "benchfw_scaled_gram",
    )


def _solve_counts(factor: Any, block: Any) -> tuple[float, float]:
    side, columns = block.shape
    return 2.0 * side**2 * columns, float(factor.nbytes + 2 * block.nbytes)


@kernel("cholesky-solve", counts=_solve_counts)
def cholesky_solve(factor: Any, block: Any) -> Any:
    """Return (L L')⁻¹ block, (n, k), for a lower factor L (n, n)."""
    xp = namespace(factor)
    return xp.linalg.solve(xp.matrix_transpose(factor), xp.linalg.solve(factor, block))


@cholesky_solve.on("numpy")
def _cholesky_solve_numpy(factor: Any, block: Any) -> Any:
    if not block.size:
        return block.copy()
    if block.shape[1] == 1:  # half the time of potrs
        trsv = _blas("trsv", factor, block)
        half = trsv(factor, block[:, 0], lower=True)
        return trsv(factor, half, lower=True, trans=1)[:, None]
    potrs = _lapack("potrs", factor, block)
    return potrs(factor, block, lower=True)[0]


@cholesky_solve.on("cupy")
def _cholesky_solve_cupy(factor: Any, block: Any) -> Any:
    return _half_solve_cupy(factor, _half_solve_cupy(factor, block), transposed=True)


def _explained_counts(columns: Any, scales: Any, factor: Any) -> tuple[float, float]:
    side, count = columns.shape
    return float(side**2 * count + 3 * columns.size), float(columns.nbytes + scales.nbytes + factor.nbytes)


@kernel("explained-variances", counts=_explained_counts)
def explained_variances(columns: Any, scales: Any, factor: Any) -> Any:
    """Return |L⁻¹(s∘k)|² for each column k of (n, c), (c,): by how much s² lowers the variances k_jj.

    `factor` is the L of `scaled_cholesky`, `columns` are those of K, or covariances with new points.
    """
    xp = namespace(columns)
    half = xp.linalg.solve(factor, columns * scales[:, None])
    return xp.sum(half * half, axis=0)


@explained_variances.on("numpy")
def _explained_variances_numpy(columns: Any, scales: Any, factor: Any) -> Any:
    block = np.multiply(columns, scales[:, None], order="F")
    if not block.size:
        return np.zeros(block.shape[1], block.dtype)
    half = _blas("trsm", factor, block)(1.0, factor, block, lower=True, overwrite_b=True)
    return np.einsum("ij,ij->j", half, half)


@explained_variances.on("cupy")
def _explained_variances_cupy(columns: Any, scales: Any, factor: Any) -> Any:
    half = _half_solve_cupy(factor, columns * scales[:, None])
    return column_dots(half, half)


def _powers_counts(block: Any, factor: Any, count: int) -> tuple[float, float]:
    side, columns = block.shape
    return float(count * side**2 * columns), float(count * (factor.nbytes / 2 + 2 * block.nbytes))


@kernel("inverse-half-powers", counts=_powers_counts)
def inverse_half_powers(block: Any, factor: Any, count: int) -> Any:
    """Return x_1 = L⁻¹ block, x_2 = L⁻ᵀx_1, x_3 = L⁻¹x_2, …: (count, n, k).

    With A = LL' and x, y from blocks u, v: x_p'y_p = u'A⁻ᵖv, and x_2p = A⁻ᵖu.
    """
    xp = namespace(block)
    powers = []
    for power in range(count):
        block = xp.linalg.solve(xp.matrix_transpose(factor) if power % 2 else factor, block)
        powers.append(block)
    return xp.stack(powers)


@inverse_half_powers.on("numpy")
def _inverse_half_powers_numpy(block: Any, factor: Any, count: int) -> Any:
    # a column after the other, as BLAS wants them
    powers = np.empty((count, *block.shape[::-1]), block.dtype)
    if block.size:
        trsm, trsv = (_blas(name, factor, block) for name in ("trsm", "trsv"))
        single = block.shape[1] == 1
        for power in range(count):
            if single:  # half the time of trsm
                block = trsv(factor, block[:, 0], lower=True, trans=power % 2)[:, None]
            else:
                block = trsm(1.0, factor, block, lower=True, trans_a=power % 2)
            powers[power] = block.T
    return powers.transpose(0, 2, 1)


@inverse_half_powers.on("cupy")
def _inverse_half_powers_cupy(block: Any, factor: Any, count: int) -> Any:
    import cupy

    powers = []
    for power in range(count):
        block = _half_solve_cupy(factor, block, transposed=power % 2 == 1)
        powers.append(block)
    return cupy.stack(powers)


def _half_solve_cupy(factor: Any, block: Any, *, transposed: bool = False) -> Any:
    """Return L⁻¹ block, or L'⁻¹ block."""
    from cupyx.scipy.linalg import solve_triangular

    if block.size == 0:  # which cuBLAS refuses
        return block
    return solve_triangular(factor, block, lower=True, trans=int(transposed))


def _blas(name: str, *arrays: Any) -> Any:
    from scipy.linalg import get_blas_funcs

    functions: Any = get_blas_funcs((name,), arrays)
    return functions[0]


def _lapack(name: str, *arrays: Any) -> Any:
    from scipy.linalg import get_lapack_funcs

    functions: Any = get_lapack_funcs((name,), arrays)
    return functions[0]


def sample_scaled_cholesky(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a gram matrix of condition about 5, and scales below 1."""
    del backend
    side = isqrt(size)
    return well_conditioned(rng, side), rng.random(side)


def sample_cholesky_solve(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a factor and 8 right-hand sides."""
    factor = scaled_cholesky(*sample_scaled_cholesky(backend, rng, size))
    return factor, rng.standard_normal((factor.shape[0], 8))


def sample_explained_variances(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 columns of a gram matrix, scales, and the factor of both."""
    gram, scales = sample_scaled_cholesky(backend, rng, size)
    return gram[:, :8], scales, scaled_cholesky(gram, scales)


def sample_inverse_half_powers(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 8 right-hand sides, a factor, and the number of 4 powers."""
    factor, block = sample_cholesky_solve(backend, rng, size)
    return block, factor, 4
