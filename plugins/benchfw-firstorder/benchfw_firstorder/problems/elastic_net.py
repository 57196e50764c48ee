"""Elastic net: least squares with an ℓ₁ penalty and a ridge."""

from __future__ import annotations

from typing import Annotated

from benchfw import Backend, Count, DatasetName, NonNegative, Range, Rng
from benchfw_firstorder.problems.lasso import Lasso
from benchfw_firstorder.problems.squared_loss import regression_data


class ElasticNet(Lasso):
    """Elastic net: least squares with a ridge and an ℓ₁ penalty.

    F(x) = |Ax - b|²/(2n) + ridge/2 |x|² + w|x|₁, from x = 0; all but the last part is smooth.
    The ridge makes it strongly convex, so that proximal methods converge linearly.

    Parameters:
      ridge: weight of the ridge.
    """

    check_with = ({"samples": 30, "features": 40, "nonzeros": 5},)

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
        ridge: NonNegative = 0.01,
        dataset: DatasetName | None = None,
    ) -> None:
        self._build(
            backend,
            *regression_data(backend, rng, (samples, features), condition, noise, dataset, nonzeros),
            penalty_ratio,
            ridge=ridge,
        )
