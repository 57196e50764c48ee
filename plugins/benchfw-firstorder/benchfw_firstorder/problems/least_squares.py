"""Least squares."""

from __future__ import annotations

from typing import Annotated

from benchfw import Array, Backend, Count, DatasetName, NonNegative, Range, Rng
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class LeastSquares(SquaredLoss):
    """Least squares.

    F(x) = |Ax - b|²/(2n), from x = 0. With more features than samples the optimum is the one of least norm,
    and `distance` is not reported. As half a sum of squares, F(x) = |r|²/2, it has the residuals
    r = (Ax - b)/√n, their Jacobian A/√n and products with it; a product costs ½, as a value does.
    """

    check_with = ({"samples": 60, "features": 8},)

    quadratic = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: Count = 1000,
        features: Count = 50,
        condition: Annotated[float, Range(least=1)] = 100.0,
        noise: NonNegative = 0.1,
        dataset: DatasetName | None = None,
    ) -> None:
        rows, targets = regression_data(backend, rng, (samples, features), condition, noise, dataset)
        super().__init__(backend, rows, targets)
        self._know_minimum()

    def residuals(self, params: Array) -> Array:
        """Return r = (Ax - b)/√n, (n,)."""
        self._count(0.5)
        return (self.features @ params - self.targets) / self.num_samples**0.5

    def jacobian(self, params: Array) -> Array:
        """Return A/√n, (n, d), the same at all parameters; it costs as much as a product: it reads A."""
        self._count(0.5)
        return self.features / self.num_samples**0.5

    def jvp(self, params: Array, direction: Array) -> Array:
        """Return the Jacobian times a direction, (n,)."""
        self._count(0.5)
        return self.features @ direction / self.num_samples**0.5

    def vjp(self, params: Array, weights: Array) -> Array:
        """Return the transposed Jacobian times a weight for each residual, (d,)."""
        self._count(0.5)
        return self.features.T @ weights / self.num_samples**0.5
