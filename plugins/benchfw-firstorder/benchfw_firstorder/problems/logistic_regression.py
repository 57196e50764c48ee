"""Logistic regression with a ridge."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Annotated, Any, ClassVar

from benchfw import Array, Backend, Constants, Count, DatasetName, Fraction, Positive, Range, Rng
from benchfw.kernels import logistic_loss, logistic_slope
from benchfw_firstorder.kernels.linear_models import logistic_gradient, logistic_value
from benchfw_firstorder.problems.content_cache import kept_by_content
from benchfw_firstorder.problems.linear_model import LinearModel
from benchfw_firstorder.problems.synthetic import gaussian_rows
from benchfw_firstorder.problems.tables import classification_table


class LogisticRegression(LinearModel):
    """Logistic regression with a ridge.

    F(x) = (1/n) Σ log(1 + exp(-b_i a_i·x)) + ridge/2 |x|², labels b_i = ±1, from x = 0.
    Synthetic labels come from a random hyperplane.

    Parameters:
      samples: rows of synthetic data.
      features: columns of synthetic data.
      condition: condition number of the rows' covariance; they are normal.
      noise: fraction of the synthetic labels that is flipped.
      ridge: weight of the ridge; without one an optimum may not exist.
      dataset: a data set of two classes by name, standardized, in place of synthetic data.
    """

    check_with: ClassVar[tuple[Mapping[str, Any], ...]] = ({"samples": 60, "features": 8},)

    unique = True
    loss = "logistic"

    def __init__(
        self,
        backend: Backend,
        rng: Rng,
        *,
        samples: Count = 1000,
        features: Count = 50,
        condition: Annotated[float, Range(least=1)] = 100.0,
        noise: Fraction = 0.05,
        ridge: Positive = 0.01,
        dataset: DatasetName | None = None,
    ) -> None:
        if dataset is None:
            xp = backend.xp
            rows = gaussian_rows(backend, rng, samples, features, condition)
            margins = rows @ rng.standard_normal(features)
            labels = xp.where((margins > 0) ^ (rng.random(samples) < noise), 1.0, -1.0)
        else:
            rows, labels = classification_table(dataset)
        super().__init__(backend, rows, labels, ridge)
        self._know_minimum()

    def mean_loss(self, features: Array, targets: Array, params: Array) -> Array:
        """Return the mean of log(1 + exp(-b a·x))."""
        return logistic_value(features, targets, params)

    def mean_loss_gradient(self, features: Array, targets: Array, params: Array) -> Array:
        """Return the mean of -b a/(1 + exp(b a·x))."""
        return logistic_gradient(features, targets, params)

    def losses(self, predictions: Array, targets: Array) -> Array:
        """Return log(1 + exp(-b a·x))."""
        return logistic_loss(targets * predictions)

    def loss_slopes(self, predictions: Array, targets: Array) -> Array:
        """Return -b/(1 + exp(b a·x))."""
        return targets * logistic_slope(targets * predictions)

    def loss_curvatures(self, predictions: Array, targets: Array) -> Array:
        """Return p(1 - p) with p = 1/(1 + exp(-a·x))."""
        return (1 - self.backend.xp.tanh(predictions / 2) ** 2) / 4

    def _know_minimum(self) -> None:
        xp = self.backend.xp
        kept = _newton(self.backend, self.features, self.targets, self.ridge)
        self.optimum = self.backend.read_only(deepcopy(kept))  # the kept one is shared
        self.constants = Constants(
            smoothness=_largest_eigenvalue(self.backend, self.features) / 4 + self.ridge,
            sample_smoothness=float((self.features**2).sum(axis=1).max()) / 4 + self.ridge,
            strong_convexity=self.ridge,
            distance=float(xp.linalg.norm(self.optimum)),
        )


@kept_by_content
def _largest_eigenvalue(backend: Backend, features: Array) -> float:
    """Return the largest eigenvalue of A'A/n, by way of the smaller of the two Gram matrices."""
    samples, width = features.shape
    gram = features.T @ features if width <= samples else features @ features.T
    return float(backend.xp.linalg.eigvalsh(gram)[-1] / samples)


@kept_by_content
def _newton(backend: Backend, features: Array, labels: Array, ridge: float) -> Array:
    """Return the minimizer (d,): Newton steps, halved while too long, until the gradient is rounding."""
    xp = backend.xp
    samples, width = features.shape

    def value(params: Array) -> float:
        return float(logistic_value(features, labels, params) + ridge / 2 * (params @ params))

    def gradient(params: Array) -> Array:
        return logistic_gradient(features, labels, params) + ridge * params

    x = xp.zeros(width)
    slope = gradient(x)
    for _ in range(100):
        tanh = xp.tanh(features @ x / 2)
        hessian = (features.T * ((1 - tanh**2) / 4)) @ features / samples + ridge * xp.eye(width)
        move = xp.linalg.solve(hessian, slope)
        before, decrease = value(x), float(slope @ move)
        length = 1.0
        while value(x - length * move) > before - 0.1 * length * decrease and decrease > 1e-12 * before:
            length /= 2
        after = x - length * move
        slope_after = gradient(after)
        # near the optimum Newton squares the error, so a gradient that no longer halves is at its rounding
        stalled = bool(slope_after @ slope_after > 0.25 * (slope @ slope))
        if stalled and decrease <= 1e-12 * before:
            break
        x, slope = after, slope_after
    return x
