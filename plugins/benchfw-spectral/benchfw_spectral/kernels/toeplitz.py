"""Products with a symmetric Toeplitz matrix, by the Fourier transform of a circulant matrix around it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import log2
from typing import Any

from benchfw.kernels import kernel, namespace

COLUMNS = 8  # of the samples' blocks


def _counts(column: Any, block: Any) -> tuple[float, float]:
    length = 2 * column.size
    transforms = 2.5 * length * log2(max(length, 2)) * (1 + 2 * block.shape[1])
    return transforms + 3.0 * length * block.shape[1], float(column.nbytes + 2 * block.nbytes)


@kernel("toeplitz-product", counts=_counts)
def toeplitz_product(column: Any, block: Any) -> Any:
    """Return T block, (m, k), for the symmetric Toeplitz matrix T with first column `column`, (m,).

    Golub & Van Loan 2013, §4.8.4.
    """
    xp = namespace(column, block)
    return _product(xp, xp.fft, lambda least: 1 << (least - 1).bit_length(), column, block)


@toeplitz_product.on("numpy")
def _toeplitz_product_numpy(column: Any, block: Any) -> Any:
    from scipy import fft

    return _product(namespace(column), fft, partial(fft.next_fast_len, real=True), column, block)


@toeplitz_product.on("cupy")
def _toeplitz_product_cupy(column: Any, block: Any) -> Any:
    from cupyx.scipy import fft

    return _product(namespace(column), fft, fft.next_fast_len, column, block)


def _product(xp: Any, fft: Any, fast_length: Callable[[int], int], column: Any, block: Any) -> Any:
    """Return T block from the corner of a circulant matrix, as large as the transform likes."""
    size = column.shape[0]
    if size == 0:
        return block
    length = fast_length(2 * size - 1)
    gap = xp.zeros(length - 2 * size + 1, dtype=column.dtype)
    eigenvalues = xp.real(fft.rfft(xp.concat([column, gap, xp.flip(column[1:])])))
    transformed = fft.rfft(block, n=length, axis=0) * eigenvalues[:, None]
    return fft.irfft(transformed, n=length, axis=0)[:size, :]


def sample_toeplitz_product(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a first column, and a block of 8 columns."""
    del backend
    rows = -(-size // COLUMNS)
    return rng.standard_normal(rows), rng.standard_normal((rows, COLUMNS))
