"""Labels ±1 whose log-odds are the latent value."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import logistic_loss, logistic_slope, namespace
from benchfw_variational.kernels.expectations import logistic_expectations, logistic_log_mean
from benchfw_variational.likelihoods.targets import check_signs
from benchfw_variational.oracles import Local


@dataclass(frozen=True)
class BernoulliLogit:
    """p(y|z) = σ(yz), σ(x) = 1 / (1 + e^-x), y = ±1."""

    name = "bernoulli-logit"
    discrete = True
    twice_differentiable = True

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is -1 or 1."""
        check_signs(self.name, targets)

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return log(1 + e^(-yz))."""
        return logistic_loss(targets * latent)

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return -y σ(-yz)."""
        return targets * logistic_slope(targets * latent)

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return σ(z) σ(-z)."""
        xp = namespace(latent)
        decay = xp.exp(-xp.abs(targets * latent))
        return decay / (1.0 + decay) ** 2

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(mean, variance)."""
        loss, slope, curvature = logistic_expectations(targets * mean, variance)
        return Local(loss, targets * slope, curvature)

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log E σ(yz)."""
        return logistic_log_mean(targets * mean, variance)
