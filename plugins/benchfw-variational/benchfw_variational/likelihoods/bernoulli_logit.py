"""Labels ±1 whose log-odds are the latent value."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
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
        xp = namespace(latent)
        margin = targets * latent
        size = xp.abs(margin)
        return (size - margin) / 2 + xp.log1p(xp.exp(-size))

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return -y σ(-yz)."""
        xp = namespace(latent)
        margin = targets * latent
        decay = xp.exp(-xp.abs(margin))
        return -targets * xp.where(margin < 0, 0.0 * decay + 1.0, decay) / (1.0 + decay)

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
