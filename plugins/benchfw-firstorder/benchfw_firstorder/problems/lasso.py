"""Lasso: least squares with an ℓ₁ penalty."""

from __future__ import annotations

from benchfw import Backend, Rng
from benchfw_firstorder.kernels.thresholding import soft_threshold
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.problems.checks import check_not_negative
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class Lasso(SquaredLoss):
    """Lasso: least squares with an ℓ₁ penalty.

    F(x) = |Ax - b|²/(2n) + w|x|₁, from x = 0; `value` and `grad` are those of the first part.
    The weight w is given as `penalty_ratio`, its share of the smallest w at which x* = 0. Synthetic: normal
    rows, `samples` of `features` columns whose covariance has this condition number, a truth with `nonzeros`
    entries, `noise` on the targets; or a `dataset` by name, standardized, in place of these.
    """

    check_with = ({"samples": 30, "features": 40, "nonzeros": 5},)

    penalized = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: int = 100,
        features: int = 200,
        nonzeros: int = 10,
        condition: float = 1.0,
        noise: float = 0.1,
        penalty_ratio: float = 0.1,
        dataset: str | None = None,
    ) -> None:
        self._build(
            backend,
            *regression_data(
                backend,
                rng,
                samples=samples,
                features=features,
                condition=condition,
                noise=noise,
                nonzeros=nonzeros,
                dataset=dataset,
            ),
            penalty_ratio,
            ridge=0.0,
        )

    def _build(
        self, backend: Backend, rows: Array, targets: Array, penalty_ratio: float, ridge: float
    ) -> None:
        check_not_negative(penalty_ratio=penalty_ratio, ridge=ridge)
        super().__init__(backend, rows, targets, ridge)
        self.weight = penalty_ratio * float(backend.xp.abs(rows.T @ targets).max()) / self.num_samples
        self._know_minimum()

    def prox(self, params: Array, step: float) -> Array:
        """Return the soft threshold of x at step · w."""
        return soft_threshold(params, step * self.weight)

    def subgrad(self, params: Array) -> Array:
        """Return ∇f + w sign(x), with 0 for the sign of 0; costs one gradient."""
        return self.grad(params) + self.weight * self.backend.xp.sign(params)
