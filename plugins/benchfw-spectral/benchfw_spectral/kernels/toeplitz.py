"""Products with a symmetric Toeplitz matrix, by the Fourier transform of a circulant matrix around it.

Golub & Van Loan 2013, §4.8.4. The eigenvalues of that matrix are found once for all products.
"""

from __future__ import annotations

from math import log2
from typing import Any

from benchfw.kernels import kernel, namespace, useful_threads

COLUMNS = 8  # of the samples' blocks
NANOSECONDS = 50.0  # that a number takes to be transformed there and back


def _spectrum_counts(column: Any) -> tuple[float, float]:
    length = 2 * column.size
    return 2.5 * length * log2(max(length, 2)), float(2 * column.nbytes)


@kernel("toeplitz-spectrum", counts=_spectrum_counts)
def toeplitz_spectrum(column: Any) -> Any:
    """Return what `toeplitz_product` takes for the symmetric Toeplitz matrix with first column (m,).

    They are L/2 + 1 eigenvalues of a circulant matrix with L >= 2m rows, L even; each of the others is equal
    to one of them.
    """
    return _spectrum(namespace(column).fft, column)


@toeplitz_spectrum.on("numpy")
def _toeplitz_spectrum_numpy(column: Any) -> Any:
    from scipy import fft

    return _spectrum(fft, column)


@toeplitz_spectrum.on("cupy")
def _toeplitz_spectrum_cupy(column: Any) -> Any:
    from cupyx.scipy import fft

    return _spectrum(fft, column)


def _spectrum(fft: Any, column: Any) -> Any:
    from scipy.fft import next_fast_len  # lengths that are fast there are so everywhere

    xp, size = namespace(column), column.shape[0]
    length = 2 * int(next_fast_len(max(size, 1), real=True))
    gap = xp.zeros(length - max(2 * size - 1, 0), dtype=column.dtype)
    return xp.real(fft.rfft(xp.concat([column, gap, xp.flip(column[1:])])))


def _product_counts(spectrum: Any, block: Any) -> tuple[float, float]:
    length, columns = 2 * spectrum.size, block.shape[1]
    transforms = 5.0 * length * log2(max(length, 2)) * columns
    return transforms + 3.0 * length * columns, float(spectrum.nbytes + 2 * block.nbytes)


@kernel("toeplitz-product", counts=_product_counts)
def toeplitz_product(spectrum: Any, block: Any) -> Any:
    """Return T block, (m, k), for a symmetric Toeplitz matrix T, whose `toeplitz_spectrum` is given."""
    return _product(namespace(spectrum, block).fft, spectrum, block)


@toeplitz_product.on("numpy")
def _toeplitz_product_numpy(spectrum: Any, block: Any) -> Any:
    from scipy import fft

    with fft.set_workers(useful_threads(NANOSECONDS * block.size)):
        return _product(fft, spectrum, block)


@toeplitz_product.on("cupy")
def _toeplitz_product_cupy(spectrum: Any, block: Any) -> Any:
    from cupyx.scipy import fft

    return _product(fft, spectrum, block)


def _product(fft: Any, spectrum: Any, block: Any) -> Any:
    """Return T block from the corner of the circulant matrix."""
    size, length = block.shape[0], 2 * (spectrum.shape[0] - 1)
    if size == 0:
        return block
    transformed = fft.rfft(block, n=length, axis=0) * spectrum[:, None]
    return fft.irfft(transformed, n=length, axis=0)[:size, :]


def sample_toeplitz_spectrum(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return a first column."""
    del backend
    return (rng.standard_normal(max(size, 1)),)


def sample_toeplitz_product(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return the spectrum of a column, and a block of 8 columns."""
    del backend
    rows = -(-size // COLUMNS)
    return toeplitz_spectrum(rng.standard_normal(rows)), rng.standard_normal((rows, COLUMNS))
