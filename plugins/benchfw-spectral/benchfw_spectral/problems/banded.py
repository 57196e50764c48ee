"""U T U' of a banded U and a Toeplitz T that falls off, as a band: Cholesky's factor in O(m width²)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
Band = NDArray[np.float64]

NEGLIGIBLE = 1e-18  # relative to the diagonal that is added: such entries change no bit of the factor


def find_width(column: Vector, diagonal: float) -> int:
    """Return how many diagonals beside the main one matter to T + diagonal I, T with this first column."""
    some = np.flatnonzero(np.abs(column) > NEGLIGIBLE * diagonal)
    return int(some[-1]) if len(some) else 0


def multiply_band(root: Band, column: Vector, width: int) -> Band:
    """Return U T U' as a lower band, (width + reach + 1, m), entry (k, i) that of (i + k, i).

    `root` (reach + 1, m) has the diagonals of U: entry (a, i) is U_{i, i+a}, 0 outside the matrix.
    """
    reach, size = len(root) - 1, root.shape[1]
    lags = np.zeros(width + 2 * reach + 1)
    lags[: width + 1] = column[: width + 1]
    band = np.zeros((min(width + reach + 1, size), size))
    for k in range(len(band)):
        for a in range(reach + 1):
            for b in range(reach + 1):
                band[k, : size - k] += lags[abs(k + b - a)] * root[a, : size - k] * root[b, k:]
    return band


def band_log_determinant(band: Band) -> float:
    """Return log det of the positive definite matrix with this lower band."""
    from scipy.linalg import cholesky_banded

    return float(2 * np.log(cholesky_banded(band, lower=True)[0]).sum())


def band_inverse_traces(band: Band, other: Band) -> tuple[float, float]:
    """Return tr S⁻¹ and tr(S⁻¹ B) for symmetric S and B given by lower bands, S positive definite."""
    from scipy.linalg import cho_solve_banded, cholesky_banded

    size = band.shape[1]
    inverse = cho_solve_banded((cholesky_banded(band, lower=True), True), np.eye(size))
    product = sum(
        (2 - (k == 0)) * float(np.diagonal(inverse, -k) @ other[k, : size - k]) for k in range(len(other))
    )
    return float(np.trace(inverse)), product
