"""The trace of a function of a symmetric matrix."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Any, Literal

import numpy as np

from benchfw import Array, Backend, BenchfwError, Count, CountedProblem, Positive, Range, Rng
from benchfw.errors import nearest
from benchfw.kernels import Counted, namespace
from benchfw_spectral.functions import get_function
from benchfw_spectral.functions.function import Interval
from benchfw_spectral.problems.matrices import (
    Matrix,
    gaussian_points,
    laplacian_2d,
    read_matrix,
    spread,
    with_spectrum,
)

LARGEST_EIGENVALUES = 3_000  # rows of which all eigenvalues are found in seconds
LARGEST_CHOLESKY = 6_000
LARGEST_SPARSE = 100_000  # rows; a factor of more may fill the memory
LANCZOS_STEPS = 40  # the lower end of a spectrum is found slowly


class SpectralSumProblem(CountedProblem):
    """tr f(A) of one symmetric matrix.

    A product with one column costs 1; the exact value costs the size, and is NaN where it cannot be computed
    within seconds.

    Parameters:
      function: f: "log", "sqrt", "power", "exp", "xlogx" or "inverse".
      exponent: of the power.
      matrix: "laplacian-2d": the five-point Laplacian of a square grid. "rbf": exp(-|x_i - x_j|²/(2
        length²)) of points uniform in a unit cube. "spectrum": eigenvalues as given, eigenvectors far
        from the axes. Any other: the path of a Matrix Market (.mtx) or NumPy (.npz) file.
      size: rows of the matrix; a file has a size of its own.
      shift: shift·I is added to the matrix.
      length: of the covariance "rbf".
      dimension: of the cube of "rbf".
      low: lower end of the spectrum, 0.05 by default; of a file, what is known of it, instead of a
        bound by a few Lanczos steps.
      high: upper end of the spectrum, 0.95 by default; of a file likewise.
      spectrum: eigenvalues at "chebyshev" nodes (their density is the weight 1/√(1-x²) of the
        orthogonality), "uniform", "geometric" (evenly in the logarithm), or "low-rank": all but three
        at low.
    """

    check_with = (
        {"matrix": "rbf", "size": 12, "shift": 0.5},
        {"matrix": "laplacian-2d", "size": 16, "shift": 1.0, "function": "sqrt"},
        {"matrix": "spectrum", "spectrum": "low-rank", "size": 12, "shift": 0.3, "function": "xlogx"},
    )

    cost_unit = "products"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        function: str = "log",
        exponent: Annotated[float, Range()] = 0.5,
        matrix: str = "laplacian-2d",
        size: Count = 2_500,
        shift: Annotated[float, Range()] = 0.1,
        length: Positive = 0.2,
        dimension: Count = 2,
        low: float | None = None,
        high: float | None = None,
        spectrum: Literal["chebyshev", "uniform", "geometric", "low-rank"] = "chebyshev",
    ) -> None:
        self.backend = backend
        self.function = get_function(function, exponent=exponent)
        if matrix == "laplacian-2d":
            found = laplacian_2d(backend, size, shift)
        elif matrix == "rbf":
            found = gaussian_points(backend, rng, size, shift, length, dimension)
        elif matrix == "spectrum":
            ends = (0.05 if low is None else low) + shift, (0.95 if high is None else high) + shift
            found = with_spectrum(backend, rng, spread(spectrum, size, *ends), ends)
        elif matrix.endswith((".mtx", ".npz")):
            ends_known = {"low": low, "high": high}
            known: dict[str, Any] = {name: end + shift for name, end in ends_known.items() if end is not None}
            found = read_matrix(backend, matrix, shift)._replace(**known)
        else:
            hint = nearest(matrix, ["laplacian-2d", "rbf", "spectrum", "a .mtx file", "a .npz file"])
            raise BenchfwError(f"unknown matrix '{matrix}'{hint}")
        self._matrix = found
        self.size = found.operator.size
        self.interval = _interval(found, rng)
        self.function.check(self.interval)
        self.operator = Counted(found.operator, self._count)

    @property
    def stored(self) -> Any:
        """The matrix itself, a dense array or sparse rows of the backend; None where only products exist."""
        return self._matrix.stored

    def matmat(self, block: Array) -> Array:
        """Return A block, (size, k)."""
        return self.operator.matmat(block)

    def value(self, params: None = None) -> float:
        """Return tr f(A), or NaN where it would take too long."""
        self._count(self.size)
        return self._exact

    def metrics(self, answer: float) -> Mapping[str, float]:
        """Return the error |answer - tr f(A)|."""
        return {"error": abs(float(answer) - self._exact)}

    @cached_property
    def _exact(self) -> float:
        eigenvalues, stored = self._matrix.eigenvalues, self._matrix.stored
        if eigenvalues is not None:
            return math.fsum(self.function(eigenvalues))
        sparse = hasattr(stored, "tocsr")
        if self.function.name == "log" and self.size <= (LARGEST_SPARSE if sparse else LARGEST_CHOLESKY):
            return _log_determinant(stored)
        if self.size <= LARGEST_EIGENVALUES:
            dense = self.backend.to_numpy(stored.toarray() if sparse else stored)
            return math.fsum(self.function(np.linalg.eigvalsh(dense)))
        return math.nan


def _interval(matrix: Matrix, rng: Rng) -> Interval:
    """Return an interval that holds the spectrum and is wider than a point."""
    low, high = matrix.low, matrix.high
    if low is None or high is None:
        from benchfw_spectral.kernels.spectral_bounds import spectral_bounds

        size = matrix.operator.size
        bounds = spectral_bounds(rng.standard_normal((size, 1)), matrix.operator, min(LANCZOS_STEPS, size))
        low = float(bounds[0]) if low is None else low
        high = float(bounds[1]) if high is None else high
    if not low <= high:
        raise BenchfwError(f"the spectrum cannot lie in [{low:g}, {high:g}]; correct low and high")
    width = 1e-6 * (max(abs(low), abs(high)) or 1.0)
    return (low, high) if high - low > width else (low - width, high + width)


def _log_determinant(matrix: Any) -> float:
    """Return log det of a positive definite matrix, dense or sparse, of any backend."""
    if hasattr(matrix, "tocsc"):
        from scipy.sparse.linalg import splu

        columns = matrix.tocsc()
        on_host = columns.get() if hasattr(columns, "get") else columns  # CuPy's
        factor = splu(on_host, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
        return math.fsum(np.log(np.abs(factor.U.diagonal())))
    xp = namespace(matrix)
    return 2 * float(xp.sum(xp.log(xp.linalg.diagonal(xp.linalg.cholesky(matrix)))))
