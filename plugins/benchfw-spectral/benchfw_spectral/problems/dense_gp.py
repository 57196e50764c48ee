"""The covariance of points in any dimension, stored whole."""

from __future__ import annotations

from functools import cached_property

from benchfw import Array, Backend, BenchfwError
from benchfw.kernels import DenseOperator, gaussian_gram, gaussian_gram_length_derivative
from benchfw_spectral.functions.function import Interval
from benchfw_spectral.problems.matrices import collatz_bound

LARGEST = 5_000  # points: 200 MB a matrix, and a gradient holds three
POWER_STEPS = 5


class Points:
    """Inputs (d, p) of a Gaussian process, and those to predict at."""

    def __init__(self, backend: Backend, inputs: Array, test_inputs: Array) -> None:
        self.size = len(inputs)
        if self.size > LARGEST:
            raise BenchfwError(
                f"a dense covariance of {self.size:,} points does not fit; take at most {LARGEST:,} points"
            )
        self.backend = backend
        self.inputs = backend.asarray(inputs)
        self.test_inputs = backend.asarray(test_inputs)
        reach = float(((inputs.max(axis=0) - inputs.min(axis=0)) ** 2).sum() ** 0.5)
        self.lengths: Interval = (reach / 1000, reach)

    def covariance(self, scale: float, length: float) -> DenseCovariance:
        """Return C at one (s_f, ℓ)."""
        return DenseCovariance(self, scale, length)


class DenseCovariance:
    """C_ij = s_f² exp(-|x_i - x_j|²/(2ℓ²))."""

    def __init__(self, points: Points, scale: float, length: float) -> None:
        self.points = points
        self.scale = scale
        self.length = length
        self.rank = points.size
        self.matrix = scale**2 * gaussian_gram(points.inputs, points.inputs, length)
        self.bounding = POWER_STEPS

    @cached_property
    def top(self) -> float:
        """No eigenvalue of C is larger."""
        return collatz_bound(self.points.backend, self.matrix.__matmul__, self.rank, POWER_STEPS)()

    @cached_property
    def slope(self) -> Array:
        """∂C/∂ log ℓ."""
        inputs = self.points.inputs
        return self.scale**2 * self.length * gaussian_gram_length_derivative(inputs, inputs, self.length)

    def operator(self, noise: float) -> DenseOperator:
        """Return C + σ² I, stored."""
        return DenseOperator(self._noisy(noise))

    def forms(self, left: Array, right: Array) -> tuple[Array, Array]:
        """Return Σ_i l_i' C r_i and Σ_i l_i' (∂C/∂ log ℓ) r_i."""
        return (left * (self.matrix @ right)).sum(), (left * (self.slope @ right)).sum()

    def log_determinant(self, noise: float) -> float:
        """Return log det(C + σ² I), by Cholesky's factor."""
        xp = self.points.backend.xp
        return float(2 * xp.log(xp.diagonal(xp.linalg.cholesky(self._noisy(noise)))).sum())

    def inverse_traces(self, noise: float) -> tuple[float, float]:
        """Return tr A⁻¹ and tr(A⁻¹ ∂C/∂ log ℓ)."""
        xp = self.points.backend.xp
        inverse = xp.linalg.inv(self._noisy(noise))
        return float(xp.trace(inverse)), float((inverse * self.slope).sum())

    def predict(self, weights: Array) -> Array:
        """Return C_* weights, (t,)."""
        points = self.points
        return self.scale**2 * (gaussian_gram(points.test_inputs, points.inputs, self.length) @ weights)

    def _noisy(self, noise: float) -> Array:
        return self.matrix + noise**2 * self.points.backend.xp.eye(self.rank)
