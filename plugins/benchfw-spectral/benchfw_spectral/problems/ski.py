"""Structured kernel interpolation: C = W T W' with sparse W and Toeplitz T. Wilson & Nickisch 2015."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, Backend, BenchfwError
from benchfw.kernels import SparseOperator, Whole
from benchfw_spectral.functions.function import Interval
from benchfw_spectral.kernels.interpolation import cubic_weights
from benchfw_spectral.kernels.toeplitz import toeplitz_product, toeplitz_spectrum
from benchfw_spectral.problems.banded import (
    Band,
    band_inverse_traces,
    band_log_determinant,
    find_width,
    multiply_band,
)

BORDER = 2  # cells beside the inputs, so that every input has its four nodes
BAND = 3  # nodes further apart share no input
NARROW = 0.1  # of the grid: the most diagonals for which a band is faster than the whole matrix
SMALL_GRID = 4_096  # nodes up to which a GPU multiplies by T itself: one launch, not the dozen of transforms
RIDGE = 1e-12  # relative, for grid nodes that no input determines


class Interpolation:
    """One-dimensional inputs on an equispaced grid of m nodes, W (d, m) with four cubic weights a row.

    `root` is U (m, m), upper triangular and banded, with U'U = W'W: as W = Q U with orthonormal columns in
    Q, the eigenvalues of W T W' are those of U T U', and zeros. So m × m matrices answer exactly what is
    asked of d × d ones.
    """

    def __init__(self, backend: Backend, inputs: Array, test_inputs: Array, grid: int) -> None:
        if grid < 2 * BORDER + 2:
            raise BenchfwError(f"grid must have at least {2 * BORDER + 2} nodes, got {grid}")
        if inputs.shape[1] != 1:
            raise BenchfwError(f'structure "ski" needs one input column, not {inputs.shape[1]}; use "dense"')
        low, high = float(inputs.min()), float(inputs.max())
        if not low < high:
            raise BenchfwError(f"all inputs are the same, {low:g}: no grid can be laid through them")
        self.backend = backend
        self.grid = grid
        self.spacing = (high - low) / (grid - 1 - 2 * BORDER)
        self.lengths: Interval = (self.spacing / 4, high - low)
        self.size = len(inputs)
        origin = low - BORDER * self.spacing
        rows, tests = (_weight_rows(each, origin, self.spacing, grid) for each in (inputs, test_inputs))
        self.gram_norm, root = _norm_and_root(rows.T @ rows)
        self.weights, self.transposed = backend.sparse_rows(rows), backend.sparse_rows(rows.T)
        self.test_weights, self.root = backend.sparse_rows(tests), backend.sparse_rows(root)
        self.root_band = np.stack([np.pad(root.diagonal(a), (0, a)) for a in range(BAND + 1)])

    def covariance(self, scale: float, length: float) -> InterpolatedCovariance:
        """Return C at one (s_f, ℓ)."""
        return InterpolatedCovariance(self, scale, length)


class InterpolatedOperator:
    """scale C + diagonal I; a product with C = W T W' is two sparse ones around two Fourier transforms."""

    def __init__(self, covariance: InterpolatedCovariance, diagonal: float, scale: float = 1.0) -> None:
        inputs = covariance.inputs
        self._covariance = covariance
        self._diagonal = diagonal
        self._scale = scale
        self._weights, self._transposed = SparseOperator(inputs.weights), SparseOperator(inputs.transposed)
        self.size = inputs.size
        self.order = self._weights.order
        self.work = 2 * self._weights.work + 20.0 * inputs.grid * math.log2(2 * inputs.grid) + 2.0 * self.size

    def matmat(self, block: Array) -> Array:
        """Return the product with a block, (size, k)."""
        return self._add_to(self._diagonal * block, block, 1.0)

    def update(self, block: Array, out: Array, scale: float, keep: float) -> Array:
        """Return scale times the product with the block, plus keep out; `out` may be overwritten."""
        if keep != 1.0:
            out *= keep
        out += (scale * self._diagonal) * block
        return self._add_to(out, block, scale)

    def shifted(self, scale: float, shift: float) -> InterpolatedOperator:
        """Return the operator of scale times this matrix plus shift I."""
        diagonal = scale * self._diagonal + shift
        return InterpolatedOperator(self._covariance, diagonal, scale * self._scale)

    def whole(self) -> Whole:
        """Return the matrix, written out: a recurrence that keeps a small one on the GPU takes one launch."""
        return Whole(self._covariance.matrix, self._scale, self._diagonal)

    def _add_to(self, out: Array, block: Array, scale: float) -> Array:
        values = self._covariance.multiply_grid(self._transposed.matmat(block))
        return self._weights.update(values, out, scale * self._scale, 1.0)


class InterpolatedCovariance:
    """C = W T W', T_ij = s_f² exp(-(i-j)²h²/(2ℓ²)); h the spacing of the grid."""

    def __init__(self, inputs: Interpolation, scale: float, length: float) -> None:
        xp, grid = inputs.backend.xp, inputs.grid
        self.inputs = inputs
        self.rank = min(grid, inputs.size)
        squares = (xp.arange(grid) * (inputs.spacing / length)) ** 2
        self.column = scale**2 * xp.exp(-squares / 2)
        self.slope = squares * self.column  # the column of ∂T/∂ log ℓ
        # T has no negative entry: its norm is at most its largest row sum, the middle one
        middle = grid // 2
        row_sum = float(self.column[: middle + 1].sum() + self.column[1 : grid - middle].sum())
        self.top = row_sum * inputs.gram_norm
        self.bounding = 0

    @cached_property
    def matrix(self) -> Array:
        """C written out, (d, d)."""
        weights = self.inputs.weights
        return weights @ (weights @ self._grid_matrix).T

    def multiply_grid(self, block: Array) -> Array:
        """Return T block, (m, k)."""
        if self.inputs.backend.on_device and self.inputs.grid <= SMALL_GRID:
            return self._grid_matrix @ block
        return toeplitz_product(self._spectrum, block)

    def operator(self, noise: float) -> InterpolatedOperator:
        """Return C + σ² I, by its products."""
        return InterpolatedOperator(self, noise**2)

    def forms(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return Σ_i l_i' C r_i and Σ_i l_i' (∂C/∂ log ℓ) r_i.

        With the lag sums c_j = Σ (W'l)_i (W'r)_{i±j} a form of any Toeplitz matrix is its column times c:
        a correlation of blocks takes the place of a product for each parameter.
        """
        xp, grid = self.inputs.backend.xp, self.inputs.grid
        length = 2 * grid
        spectra = [xp.fft.rfft(self.inputs.transposed @ each, length, axis=0) for each in (left, right)]
        circular = xp.fft.irfft((spectra[0].conj() * spectra[1]).sum(axis=1), length)
        lags = circular[:grid]
        lags[1:] += circular[:grid:-1]
        return self.column @ lags, self.slope @ lags

    def log_determinant(self, noise: float) -> float:
        """Return log det(C + σ² I), from the m × m matrix U T U' + σ² I and d - m eigenvalues σ²."""
        xp = self.inputs.backend.xp
        rest = (self.inputs.size - self.inputs.grid) * float(np.log(noise**2))
        bands = self._bands(noise)
        if bands is not None:
            return rest + band_log_determinant(bands[0])
        factor = xp.linalg.cholesky(self._reduced(noise))
        return float(rest + 2 * xp.log(xp.diagonal(factor)).sum())

    def inverse_traces(self, noise: float) -> tuple[float, float]:
        """Return tr A⁻¹ and tr(A⁻¹ ∂C/∂ log ℓ)."""
        xp, root = self.inputs.backend.xp, self.inputs.root
        rest = (self.inputs.size - self.inputs.grid) / noise**2
        bands = self._bands(noise)
        if bands is not None:
            inverse_trace, longer = band_inverse_traces(*bands)
            return rest + inverse_trace, longer
        inverse = xp.linalg.inv(self._reduced(noise))
        between = root.T @ (root.T @ inverse).T  # U' S⁻¹ U
        return float(rest + xp.trace(inverse)), float((between * self._toeplitz(self.slope)).sum())

    def predict(self, weights: Array) -> Array:
        """Return W_* T W' weights, (t,)."""
        block = (self.inputs.transposed @ weights)[:, None]
        return self.inputs.test_weights @ self.multiply_grid(block)[:, 0]

    @cached_property
    def _spectrum(self) -> Array:
        return toeplitz_spectrum(self.column)

    @cached_property
    def _grid_matrix(self) -> Array:
        """T written out, (m, m)."""
        return self._toeplitz(self.column)

    def _bands(self, noise: float) -> tuple[Band, Band] | None:
        """Return U T U' + σ² I and U (∂T/∂ log ℓ) U' as bands on the host, None if too wide."""
        columns = [self.inputs.backend.to_numpy(each) for each in (self.column, self.slope)]
        width = max(find_width(each, noise**2) for each in columns)
        if width > NARROW * self.inputs.grid:
            return None
        value, slope = (multiply_band(self.inputs.root_band, each, width) for each in columns)
        value[0] += noise**2
        return value, slope

    def _reduced(self, noise: float) -> Array:
        """Return S = U T U' + σ² I, (m, m)."""
        xp, root = self.inputs.backend.xp, self.inputs.root
        return root @ (root @ self._grid_matrix).T + noise**2 * xp.eye(self.inputs.grid)

    def _toeplitz(self, column: Array) -> Array:
        nodes = self.inputs.backend.xp.arange(self.inputs.grid)
        return column[abs(nodes[:, None] - nodes)]


def _weight_rows(inputs: NDArray[np.float64], low: float, spacing: float, grid: int) -> Any:
    """Return the interpolation weights of one-dimensional inputs as sparse rows on the host."""
    import scipy.sparse

    indices, weights = cubic_weights(inputs[:, 0], low, spacing, grid)
    starts = np.arange(0, indices.size + 1, indices.shape[1])
    return scipy.sparse.csr_array((weights.ravel(), indices.ravel(), starts), shape=(len(inputs), grid))


def _norm_and_root(gram: Any) -> tuple[float, Any]:
    """Return the largest eigenvalue of a banded G, (m, m) and sparse, and U upper triangular with U'U = G."""
    import scipy.linalg
    import scipy.sparse

    last = gram.shape[0] - 1
    offsets = range(BAND, -1, -1)
    band = np.stack([np.pad(gram.diagonal(offset), (offset, 0)) for offset in offsets])  # as in LAPACK
    top = scipy.linalg.eigvals_banded(band, select="i", select_range=(last, last))[0]
    band[-1] += RIDGE * top
    root = scipy.linalg.cholesky_banded(band)
    return float(top), scipy.sparse.dia_array((root, offsets), shape=gram.shape)
