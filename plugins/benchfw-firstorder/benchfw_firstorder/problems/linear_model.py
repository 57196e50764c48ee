"""What all problems on rows of data share: the oracles of a mean loss of linear predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Literal

from benchfw import Array, Backend, Constants, CountedProblem, clip_gap


class LinearModel(CountedProblem, ABC):
    """f(x) = (1/n) Σ_i loss(a_i·x, b_i) + ridge/2 |x|², counted in gradients.

    A gradient over all n samples costs 1, over a batch of B it costs B/n. A value costs ½: one product with
    the data, where a gradient takes two. A subclass says the loss, and sets `optimum` and the constants.
    Other libraries are given the data themselves: `features`, `targets`, the name of the `loss`, and the
    weights `ridge` and `weight` of ridge/2 |x|² and weight |x|₁.
    """

    loss: Literal["squared", "logistic"]
    weight = 0.0

    cost_unit = "gradients"
    quadratic = False  # f is quadratic and every point feasible: then gradient descent is a linear map
    penalized = False  # the objective has a part that neither grad nor project sees

    optimum: Array
    unique: bool
    constants: Constants

    def __init__(self, backend: Backend, features: Array, targets: Array, ridge: float = 0.0) -> None:
        self.backend = backend
        self.features = backend.read_only(backend.asarray(features))
        self.targets = backend.read_only(backend.asarray(targets))
        self.ridge = ridge
        self.num_samples, self.num_features = self.features.shape

    @abstractmethod
    def mean_loss(self, features: Array, targets: Array, params: Array) -> Array:
        """Return the mean loss over these samples, a scalar."""

    @abstractmethod
    def mean_loss_gradient(self, features: Array, targets: Array, params: Array) -> Array:
        """Return the gradient of `mean_loss`, (d,)."""

    @abstractmethod
    def losses(self, predictions: Array, targets: Array) -> Array:
        """Return each sample's loss, (B,)."""

    @abstractmethod
    def loss_slopes(self, predictions: Array, targets: Array) -> Array:
        """Return the derivative of each sample's loss in its prediction, (B,)."""

    @abstractmethod
    def loss_curvatures(self, predictions: Array, targets: Array) -> Array:
        """Return the second derivative of each sample's loss in its prediction, (B,)."""

    def start(self) -> Array:
        """Return the feasible point next to the origin."""
        return self.project(self.backend.xp.zeros(self.num_features))

    def value(self, params: Array) -> float:
        """Return f."""
        self._count(0.5)
        return self._value(params)

    def grad(self, params: Array) -> Array:
        """Return ∇f, (d,)."""
        self._count(1.0)
        return self._gradient(params)

    def value_and_grad(self, params: Array) -> tuple[float, Array]:
        """Return f and ∇f for the price of the gradient: they share the product with the data."""
        self._count(1.0)
        predictions = self.features @ params
        loss = float(self.losses(predictions, self.targets).mean())
        gradient = self.features.T @ self.loss_slopes(predictions, self.targets) / self.num_samples
        return loss + self.ridge / 2 * float(params @ params), gradient + self.ridge * params

    def hessp(self, params: Array, direction: Array) -> Array:
        """Return ∇²f times a direction, (d,): two products with the data, and one more for the curvatures."""
        self._count(1.5)
        curvatures = self.loss_curvatures(self.features @ params, self.targets)
        bent = self.features.T @ (curvatures * (self.features @ direction)) / self.num_samples
        return bent + self.ridge * direction

    def grad_batch(self, params: Array, batch: Array) -> Array:
        """Return the mean of ∇f_i over the samples in `batch`, (d,)."""
        self._count(batch.shape[0] / self.num_samples)
        gradient = self.mean_loss_gradient(self.features[batch], self.targets[batch], params)
        return gradient + self.ridge * params if self.ridge else gradient

    def grad_samples(self, params: Array, batch: Array) -> Array:
        """Return ∇f_i for each sample in `batch`, (B, d)."""
        self._count(batch.shape[0] / self.num_samples)
        rows = self.features[batch]
        slopes = self.loss_slopes(rows @ params, self.targets[batch])
        return slopes[:, None] * rows + self.ridge * params

    def subgrad(self, params: Array) -> Array:
        """Return a subgradient of the whole objective: without a penalty, ∇f."""
        return self.grad(params)

    def project(self, params: Array) -> Array:
        """Return the parameters: every point is feasible."""
        return params

    def metrics(self, answer: Array) -> Mapping[str, float]:
        """Return gap F(x) - F* (at least 0), objective F(x), and, where x* is unique, distance |x - x*|."""
        objective = self.objective(answer)
        found = {"gap": clip_gap(self.gap(answer), objective), "objective": objective}
        if self.unique:
            found["distance"] = float(self.backend.xp.linalg.norm(answer - self.optimum))
        return found

    def objective(self, params: Array) -> float:
        """Return F, uncounted: for metrics, not for methods."""
        return self._value(params)

    def gap(self, params: Array) -> float:
        """Return F(x) - F*, uncounted."""
        return self.objective(params) - self.objective(self.optimum)

    def _value(self, params: Array) -> float:
        loss = float(self.mean_loss(self.features, self.targets, params))
        return loss + self.ridge / 2 * float(params @ params) if self.ridge else loss

    def _gradient(self, params: Array) -> Array:
        gradient = self.mean_loss_gradient(self.features, self.targets, params)
        return gradient + self.ridge * params if self.ridge else gradient
