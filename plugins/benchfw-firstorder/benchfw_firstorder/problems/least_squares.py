"""Least squares."""

from __future__ import annotations

from typing import Annotated

from benchfw import Backend, Count, DatasetName, NonNegative, Range, Rng
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class LeastSquares(SquaredLoss):
    """Least squares.

    F(x) = |Ax - b|²/(2n), from x = 0. With more features than samples the optimum is the one of least norm,
    and `distance` is not reported.
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
