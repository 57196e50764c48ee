"""Lasso: least squares with an ℓ₁ penalty."""

from __future__ import annotations

from typing import Annotated

from benchfw import Array, Backend, Count, DatasetName, NonNegative, Range, Rng
from benchfw_firstorder.kernels.thresholding import soft_threshold
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class Lasso(SquaredLoss):
    """Lasso: least squares with an ℓ₁ penalty.

    F(x) = |Ax - b|²/(2n) + w|x|₁, from x = 0; `value` and `grad` are those of the first part.

    Parameters:
      nonzeros: entries of the synthetic truth that are not 0.
      penalty_ratio: the weight w, as a share of the smallest at which x* = 0.
    """

    check_with = ({"samples": 30, "features": 40, "nonzeros": 5},)

    penalized = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: Count = 100,
        features: Count = 200,
        nonzeros: Count = 10,
        condition: Annotated[float, Range(least=1)] = 1.0,
        noise: NonNegative = 0.1,
        penalty_ratio: NonNegative = 0.1,
        dataset: DatasetName | None = None,
    ) -> None:
        self._build(
            backend,
            *regression_data(backend, rng, (samples, features), condition, noise, dataset, nonzeros),
            penalty_ratio,
            ridge=0.0,
        )

    def _build(
        self, backend: Backend, rows: Array, targets: Array, penalty_ratio: float, ridge: float
    ) -> None:
        super().__init__(backend, rows, targets, ridge)
        self.weight = penalty_ratio * float(backend.xp.abs(rows.T @ targets).max()) / self.num_samples
        self._know_minimum()

    def prox(self, params: Array, step: float) -> Array:
        """Return the soft threshold of x at step · w."""
        return soft_threshold(params, step * self.weight)

    def subgrad(self, params: Array) -> Array:
        """Return ∇f + w sign(x), with 0 for the sign of 0; costs one gradient."""
        return self.grad(params) + self.weight * self.backend.xp.sign(params)
