"""Squared loss: what least squares, lasso, elastic net and box-constrained least squares share."""

from __future__ import annotations

import numpy as np

from benchfw import Array, Backend, BenchfwError, Constants, Rng
from benchfw_firstorder.kernels.linear_models import least_squares_gradient, least_squares_value
from benchfw_firstorder.problems.linear_model import LinearModel
from benchfw_firstorder.problems.minimum import quadratic_minimum
from benchfw_firstorder.problems.synthetic import gaussian_rows
from benchfw_firstorder.problems.tables import regression_table


class SquaredLoss(LinearModel):
    """F(x) = |Ax - b|²/(2n) + ridge/2 |x|² + weight |x|₁ over a box, the minimum known exactly.

    Parameters:
      samples: rows of synthetic data, b = Ax + noise.
      features: columns of synthetic data.
      condition: condition number of the synthetic rows' covariance; the rows are normal.
      noise: standard deviation of the noise on synthetic targets.
      dataset: a data set by name, standardized, in place of synthetic data.
    """

    loss = "squared"

    def mean_loss(self, features: Array, targets: Array, params: Array) -> Array:
        """Return |Ax - b|²/(2n)."""
        return least_squares_value(features, targets, params)

    def mean_loss_gradient(self, features: Array, targets: Array, params: Array) -> Array:
        """Return A'(Ax - b)/n."""
        return least_squares_gradient(features, targets, params)

    def losses(self, predictions: Array, targets: Array) -> Array:
        """Return half the squared residuals."""
        return (predictions - targets) ** 2 / 2

    def loss_slopes(self, predictions: Array, targets: Array) -> Array:
        """Return the residuals Ax - b."""
        return predictions - targets

    def loss_curvatures(self, predictions: Array, targets: Array) -> Array:
        """Return ones."""
        return self.backend.xp.ones_like(predictions)

    def hessp(self, params: Array, direction: Array) -> Array:
        """Return (A'A/n + ridge) times a direction, (d,): two products with the data, as a gradient."""
        self._count(1.0)
        bent = self.features.T @ (self.features @ direction) / self.num_samples
        return bent + self.ridge * direction

    def penalty(self, params: Array) -> float:
        """Return weight |x|₁."""
        return self.weight * float(self.backend.xp.abs(params).sum())

    def objective(self, params: Array) -> float:
        """Return F, uncounted."""
        return self._value(params) + self.penalty(params)

    def gap(self, params: Array) -> float:
        """Return F(x) - F* as a sum of parts that are none of them negative, so that no digits cancel.

        ½|A(x-x*)|²/n + ridge/2 |x-x*|², and by coordinate the slope of f at x* plus the penalty's change.
        """
        xp = self.backend.xp
        difference = params - self.optimum
        moved = self.features @ difference
        curved = (moved @ moved / self.num_samples + self.ridge * (difference @ difference)) / 2
        bend = self.weight * (xp.abs(params) - xp.abs(self.optimum))
        return float(curved + (self._slope * difference + bend).sum())

    def _know_minimum(self, lower: float = -np.inf, upper: float = np.inf) -> None:
        """Find x* and the constants from the Gram matrix, on the host."""
        backend, xp = self.backend, self.backend.xp
        gram = self.features.T @ self.features / self.num_samples + self.ridge * xp.eye(self.num_features)
        linear = self.features.T @ self.targets / self.num_samples
        minimum = quadratic_minimum(
            backend, backend.to_numpy(gram), backend.to_numpy(linear), self.weight, lower, upper
        )
        self.optimum = backend.read_only(backend.asarray(minimum.params.copy()))  # the kept one is shared
        self.unique = minimum.unique
        self.constants = Constants(
            smoothness=minimum.smoothness,
            sample_smoothness=float((self.features**2).sum(axis=1).max()) + self.ridge,
            strong_convexity=minimum.strong_convexity,
            distance=float(xp.linalg.norm(self.start() - self.optimum)),
        )
        slope = self._gradient(self.optimum)
        # where x* is free the slope of f balances the penalty's exactly; what is left there is rounding
        free = (self.optimum > lower) & (self.optimum < upper) & ((self.optimum != 0) | (self.weight == 0))
        self._slope = xp.where(free, -self.weight * xp.sign(self.optimum), slope)


def regression_data(
    backend: Backend,
    rng: Rng,
    shape: tuple[int, int],
    condition: float,
    noise: float,
    dataset: str | None,
    nonzeros: int | None = None,
) -> tuple[Array, Array]:
    """Return A (n, d) and b (n,): b = A x + noise, A normal with the given condition number, or a data set.

    x is normal, of length about 1, with `nonzeros` entries that are not 0 (all, if None).
    """
    samples, features = shape
    if dataset is not None:
        table, targets = regression_table(dataset)
        return backend.asarray(table), backend.asarray(targets)
    if nonzeros is not None and nonzeros > features:
        raise BenchfwError(f"nonzeros must be from 1 to the number of features, {features}, got {nonzeros}")
    xp = backend.xp
    rows = gaussian_rows(backend, rng, samples, features, condition)
    truth = rng.standard_normal(features) / (nonzeros or features) ** 0.5
    if nonzeros is not None:
        truth = xp.where(rng.permutation(features) < nonzeros, truth, 0.0)
    return rows, rows @ truth + noise * rng.standard_normal(samples)
