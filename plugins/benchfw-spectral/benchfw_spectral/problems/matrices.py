"""The matrices of spectral sums: of a known spectrum, of random points, or read from a file."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, Backend, BenchfwError, Rng
from benchfw.kernels import MatrixFree, Operator, as_operator, read_later
from benchfw_spectral.functions.function import Interval, Vector

POWER_STEPS = 5
FLOOR = 1e-3  # of the largest entry of a vector that must stay positive
RANK = 3  # of a low-rank matrix, before it is shifted


class Matrix(NamedTuple):
    """A symmetric matrix on a backend, and what is known of it beside its products."""

    operator: Operator
    stored: Any = None  # a dense array or sparse rows; None where products are all there is
    eigenvalues: Vector | None = None
    low: float | None = None  # no eigenvalue lies below
    high: float | None = None  # nor above


def laplacian_2d(backend: Backend, size: int, shift: float) -> Matrix:
    """Return the five-point Laplacian of a square grid with zero boundary, plus shift·I, as sparse rows."""
    import scipy.sparse

    side = max(1, round(math.sqrt(size)))
    if side * side != size:
        raise BenchfwError(
            f"laplacian-2d needs a square number of rows, and {size} is not one; the nearest is {side * side}"
        )
    line = scipy.sparse.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(side, side))
    shifted = line + shift / 2 * scipy.sparse.eye_array(side)
    waves = 4 * np.sin(np.arange(1, side + 1) * (np.pi / (2 * (side + 1)))) ** 2
    eigenvalues = np.add.outer(waves, waves).ravel() + shift
    return stored(backend, scipy.sparse.kronsum(shifted, shifted), eigenvalues)


def gaussian_points(
    backend: Backend, rng: Rng, size: int, shift: float, length: float, dimension: int
) -> Matrix:
    """Return exp(-|x_i - x_j|²/(2 length²)) + shift·I of points uniform in the unit cube, stored whole."""
    from benchfw.kernels import gaussian_gram

    points = rng.random((size, dimension))
    gram = gaussian_gram(points, points, length)
    top = collatz_bound(backend, gram.__matmul__, size, POWER_STEPS)() * (1 + 1e-9)
    diagonal = backend.xp.arange(size)
    gram[diagonal, diagonal] += shift
    return Matrix(as_operator(gram), gram, low=shift, high=top + shift)


def with_spectrum(backend: Backend, rng: Rng, eigenvalues: Vector, interval: Interval) -> Matrix:
    """Return a matrix with these eigenvalues and no eigenvector near an axis, by its products alone.

    A = H D H with D the eigenvalues in random order and H the orthonormal Hartley transform: a product costs
    two Fourier transforms. (Reflections would be cheaper, but a few of them leave A almost diagonal, and
    Rademacher probes almost without variance.)
    """
    size, xp = len(eigenvalues), backend.xp
    diagonal = backend.asarray(eigenvalues)[rng.permutation(size)][:, None]

    def product(block: Any) -> Any:
        return _hartley(xp, diagonal * _hartley(xp, block))

    work = 10.0 * size * math.log2(size + 1)
    return Matrix(MatrixFree(product, size, work), None, eigenvalues, *interval)


def spread(kind: str, size: int, low: float, high: float) -> Vector:
    """Return numbers in [low, high]: Chebyshev's nodes, even, even in the logarithm, or almost all low."""
    if not low < high:
        raise BenchfwError(f"a spectrum needs low < high, got [{low}, {high}]")
    if kind == "uniform":
        return np.linspace(low, high, size)
    if kind == "low-rank":
        return np.asarray(np.maximum(low, high - (high - low) / RANK * np.arange(size)))
    if kind == "geometric":
        if not low > 0:
            raise BenchfwError(f"a geometric spectrum needs low > 0, got {low}")
        return np.geomspace(low, high, size)
    angles = (np.arange(size) + 0.5) * (np.pi / size)
    return np.asarray((low + high) / 2 - (high - low) / 2 * np.cos(angles))


def read_matrix(backend: Backend, path: str, shift: float) -> Matrix:
    """Return the matrix of a Matrix Market or .npz file, plus shift·I."""
    import scipy.sparse

    found: Any = _checked(_read(path), path)
    if hasattr(found, "tocsr"):
        return stored(backend, found + shift * scipy.sparse.eye_array(found.shape[0]))
    dense = backend.asarray(found + shift * np.eye(len(found)))
    return Matrix(as_operator(dense), dense)


def stored(backend: Backend, matrix: Any, eigenvalues: Vector | None = None) -> Matrix:
    """Return a sparse matrix, or the entries of an array that are not zero, as sparse rows on the backend."""
    from scipy.sparse import csr_array

    host = matrix if hasattr(matrix, "tocsr") else csr_array(backend.to_numpy(matrix))
    rows = backend.sparse_rows(host)
    ends = () if eigenvalues is None else (float(eigenvalues.min()), float(eigenvalues.max()))
    return Matrix(as_operator(rows), rows, eigenvalues, *ends)


def _hartley(xp: Any, block: Any) -> Any:
    """Return the orthonormal Hartley transform of each column: real, symmetric, its own inverse."""
    size = block.shape[0]
    waves = xp.fft.rfft(block, axis=0, norm="ortho")
    mirrored = (waves.real + waves.imag)[1 : (size + 1) // 2]
    return xp.concatenate([waves.real - waves.imag, xp.flip(mirrored, axis=0)])


def _read(path: str) -> Any:
    from zipfile import BadZipFile

    place = Path(path)
    if not place.is_file():
        raise BenchfwError(f"matrix file '{path}' does not exist")
    try:
        if place.suffix == ".npz":
            return _read_npz(place)
        import scipy.io

        return scipy.io.mmread(place, spmatrix=False)
    except (OSError, ValueError, TypeError, EOFError, BadZipFile) as fault:
        raise BenchfwError(f"matrix file '{path}' cannot be read: {' '.join(str(fault).split())}") from fault


def _read_npz(place: Path) -> Any:
    import scipy.sparse

    with np.load(place) as arrays:
        if "format" in arrays:
            return scipy.sparse.load_npz(place)
        tables = [array for array in arrays.values() if array.ndim == 2]
    if len(tables) != 1:
        raise ValueError(f"it holds {len(tables)} arrays of two dimensions, and one is needed")
    return tables[0]


def _checked(matrix: Any, path: str) -> Any:
    """Return the matrix as float64, or raise unless it is real, finite, square and symmetric."""
    rows, columns = matrix.shape
    if rows != columns or rows == 0:
        raise BenchfwError(f"the matrix in '{path}' is {rows} × {columns}; a spectral sum needs a square one")
    entries: NDArray[Any] = matrix.data if hasattr(matrix, "tocsr") else matrix
    if entries.dtype.kind not in "fiub":
        raise BenchfwError(f"the matrix in '{path}' has {entries.dtype} entries; they must be real numbers")
    if not np.isfinite(entries).all():
        raise BenchfwError(f"the matrix in '{path}' has entries that are not finite")
    matrix = matrix.astype(np.float64)  # whole numbers and truth values do not subtract
    gap = abs(matrix - matrix.T).max()
    if gap > 1e-12 * abs(matrix).max():
        raise BenchfwError(f"the matrix in '{path}' is not symmetric: entries differ by up to {gap:.3g}")
    return matrix


def collatz_bound(
    backend: Backend, product: Callable[[Array], Array], size: int, steps: int, dtype: Any = None
) -> Callable[[], float]:
    """Return what waits for max_i (Gx)_i/x_i, x being `steps` - 1 products from 1: a bound of the spectrum.

    No eigenvalue of G >= 0 is larger. It holds for every x > 0 and falls towards the largest eigenvalue with
    each product. Collatz 1942. It depends on G alone, so that what is computed with it remains a function of
    the parameters.
    """
    xp = backend.xp
    x = xp.ones(size, dtype=dtype)
    for _ in range(steps):
        image = product(x)
        bound = (image / x).max()
        x = xp.maximum(image / xp.where(bound > 0, bound, 1.0), FLOOR)
    found = read_later(bound)
    return lambda: float(found())
