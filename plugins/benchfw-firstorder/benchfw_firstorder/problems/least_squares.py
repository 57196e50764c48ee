"""Least squares."""

from __future__ import annotations

from benchfw import Backend, Rng
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class LeastSquares(SquaredLoss):
    """Least squares.

    F(x) = |Ax - b|²/(2n), from x = 0.
    Synthetic: b = Ax + noise with normal rows whose covariance has this condition number; or a `dataset` by
    name, standardized, in place of all other parameters. With more features than samples the optimum is the
    one of least norm, and `distance` is not reported.
    """

    check_with = ({"samples": 60, "features": 8},)

    quadratic = True

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: int = 1000,
        features: int = 50,
        condition: float = 100.0,
        noise: float = 0.1,
        dataset: str | None = None,
    ) -> None:
        rows, targets = regression_data(
            backend,
            rng,
            samples=samples,
            features=features,
            condition=condition,
            noise=noise,
            dataset=dataset,
        )
        super().__init__(backend, rows, targets)
        self._know_minimum()
