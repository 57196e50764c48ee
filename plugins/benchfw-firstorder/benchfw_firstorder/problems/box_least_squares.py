"""Least squares over a box."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Annotated

from benchfw import Array, Backend, BenchfwError, Count, DatasetName, NonNegative, Range, Rng
from benchfw_firstorder.problems.squared_loss import SquaredLoss, regression_data


class BoxLeastSquares(SquaredLoss):
    """Least squares over a box.

    F(x) = |Ax - b|²/(2n) over lower <= x_j <= upper, from the point of the box next to 0.
    The box is both the feasible set (`project` clips) and a penalty (0 inside, infinite outside; its prox is
    the same clip). On it stochastic gradients are bounded, so the theorem on averaged SGD applies: the
    gradient bound is the root of mean_i |a_i|² max_x (a_i·x - b_i)².

    Parameters:
      lower: lower bound of every coordinate.
      upper: upper bound of every coordinate.
    """

    check_with = ({"samples": 60, "features": 8},)

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: Count = 1000,
        features: Count = 50,
        condition: Annotated[float, Range(least=1)] = 100.0,
        noise: NonNegative = 0.1,
        lower: float = -0.1,
        upper: float = 0.1,
        dataset: DatasetName | None = None,
    ) -> None:
        if not lower < upper:
            raise BenchfwError(f"lower must be below upper, got {lower} and {upper}")
        rows, targets = regression_data(backend, rng, (samples, features), condition, noise, dataset)
        super().__init__(backend, rows, targets)
        self.box = (float(lower), float(upper))
        self._know_minimum(*self.box)
        if not math.isfinite(upper - lower):
            return  # gradients are not bounded on an endless box
        xp = backend.xp
        centre, reach = (upper + lower) / 2, (upper - lower) / 2
        worst = xp.abs(centre * rows.sum(axis=1) - self.targets) + reach * xp.abs(rows).sum(axis=1)
        bound = math.sqrt(float(((rows**2).sum(axis=1) * worst**2).mean()))
        self.constants = replace(self.constants, gradient_bound=bound)

    def project(self, params: Array) -> Array:
        """Return the nearest point of the box."""
        return self.backend.xp.clip(params, *self.box)

    def prox(self, params: Array, step: float) -> Array:
        """Return the nearest point of the box."""
        return self.project(params)

    def penalty(self, params: Array) -> float:
        """Return 0 in the box, infinity outside."""
        lower, upper = self.box
        return 0.0 if bool(((params >= lower) & (params <= upper)).all()) else math.inf

    def gap(self, params: Array) -> float:
        """Return F(x) - F*: infinite outside the box."""
        return super().gap(params) + self.penalty(params)
