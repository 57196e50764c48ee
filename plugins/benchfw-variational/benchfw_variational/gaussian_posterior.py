"""A Gaussian answer by its mean and its whole covariance."""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

from benchfw import Array
from benchfw_variational.cholesky import cholesky
from benchfw_variational.divergences import Gaussian
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import FactorPosterior


class SquaredSteps(NamedTuple):
    """|G_k|² of the steps so far, G_k = (λ_k - λ_{k+1})/β_k for λ = (m, V): their number, least and mean."""

    number: int
    least: float
    mean: float

    def and_then(self, another: float) -> SquaredSteps:
        """Return them with one step more."""
        number = self.number + 1
        return SquaredSteps(number, min(self.least, another), self.mean + (another - self.mean) / number)


NO_STEPS = SquaredSteps(0, math.inf, 0.0)


class GaussianPosterior:
    """q = N(m, V) over the latent values of the training examples, and the steps that led there."""

    def __init__(
        self, problem: LatentGaussian, gaussian: Gaussian, squared_steps: SquaredSteps = NO_STEPS
    ) -> None:
        self.mean = gaussian.mean
        self.covariance = gaussian.covariance
        self.squared_steps = squared_steps
        self._problem = problem

    @property
    def variance(self) -> Array:
        """The variances of the training examples' latent values, (n,)."""
        return self._problem.backend.xp.diagonal(self.covariance)

    @cached_property
    def proper(self) -> bool:
        """Whether the mean is finite and the covariance positive definite."""
        xp = self._problem.backend.xp
        return bool(xp.isfinite(self.mean).all() & xp.isfinite(self._lower).all())

    def negative_bound(self) -> float:
        """Return F(q); infinite where q is not a Gaussian."""
        return self._factored.negative_bound() if self.proper else math.inf

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent value at new rows, (k,) each."""
        return self._factored.predict(features)

    def log_predictive(self, features: Array, targets: Array) -> Array:
        """Return log p(y|x, data) under q for new rows and their targets, (k,)."""
        return self._problem.likelihood.log_predictive(targets, *self.predict(features))

    @cached_property
    def _lower(self) -> Array:
        return cholesky(self.covariance)

    @cached_property
    def _factored(self) -> FactorPosterior:
        return FactorPosterior(self._problem, self._problem.pack(self.mean, self._lower))
