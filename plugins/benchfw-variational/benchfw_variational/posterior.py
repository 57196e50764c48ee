"""Gaussian answers: mean, marginal variances, bound and predictions, whatever parameters stand behind them.

Nothing is computed before it is asked for: methods yield these on the clock, metrics look at them off it.
"""

from __future__ import annotations

import math
from functools import cached_property

from benchfw import Array
from benchfw.kernels import column_dots
from benchfw_variational.oracles import Factor, LatentGaussian


class DualPosterior:
    """q = N(Ka, (K⁻¹ + diag γ)⁻¹) by its duals a and its precisions γ >= 0, (n,) each."""

    def __init__(self, problem: LatentGaussian, dual: Array, precisions: Array) -> None:
        self.dual = dual
        self.precisions = precisions
        self._problem = problem

    @cached_property
    def mean(self) -> Array:
        """The means of the training examples' latent values, (n,)."""
        return self._problem.prior.matmat(self.dual)

    @cached_property
    def variance(self) -> Array:
        """The variances of the training examples' latent values, (n,)."""
        return self._factor.variances()

    def negative_bound(self) -> float:
        """Return F(q) = Σ f_i + ½(log|B| + tr B⁻¹ + m'a - n); infinite where a or γ is not finite."""
        xp = self._problem.backend.xp
        if not bool(xp.isfinite(self.dual).all() & xp.isfinite(self.precisions).all()):
            return math.inf
        losses = self._problem.losses(self.mean, self.variance)
        # tr B⁻¹ = n - Σ γ_i v_i: the variances are needed anyway, the inverse is not
        volume = self._factor.log_determinant - float(self.precisions @ self.variance)
        return losses + (volume + float(self.mean @ self.dual)) / 2

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent value at new rows, (k,) each."""
        xp = self._problem.backend.xp
        columns, prior = self._problem.covariances(features)
        scaled = xp.sqrt(self.precisions)[:, None] * columns
        explained = column_dots(scaled, self._factor.solve(scaled))
        return self.dual @ columns, xp.maximum(prior - explained, xp.finfo(prior.dtype).eps * prior)

    def log_predictive(self, features: Array, targets: Array) -> Array:
        """Return log p(y|x, data) under q for new rows and their targets, (k,)."""
        return self._problem.likelihood.log_predictive(targets, *self.predict(features))

    @cached_property
    def _factor(self) -> Factor:
        return self._problem.prior.factor(self._problem.backend.xp.sqrt(self.precisions))


class FactorPosterior:
    """q by λ = (m, L), the flat parameters of first-order methods."""

    def __init__(self, problem: LatentGaussian, params: Array) -> None:
        self.params = params
        self._problem = problem

    @property
    def mean(self) -> Array:
        """The means of the training examples' latent values, (n,)."""
        return self._marginals[0]

    @property
    def variance(self) -> Array:
        """The variances of the training examples' latent values, (n,)."""
        return self._marginals[1]

    def negative_bound(self) -> float:
        """Return F(q) = Σ f_i + KL; infinite where a parameter is not finite."""
        if not bool(self._problem.backend.xp.isfinite(self.params).all()):
            return math.inf
        return self._problem.losses(self.mean, self.variance) + self._problem.divergence(self.params)

    def predict(self, features: Array) -> tuple[Array, Array]:
        """Return mean and variance of the latent value at new rows, (k,) each."""
        return self._problem.predict(self.params, features)

    def log_predictive(self, features: Array, targets: Array) -> Array:
        """Return log p(y|x, data) under q for new rows and their targets, (k,)."""
        return self._problem.likelihood.log_predictive(targets, *self.predict(features))

    @cached_property
    def _marginals(self) -> tuple[Array, Array]:
        return self._problem.marginals(self.params)
