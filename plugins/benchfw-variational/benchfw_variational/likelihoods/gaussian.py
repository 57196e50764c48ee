"""The latent value, seen through Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchfw import Array, Positive
from benchfw.kernels import namespace
from benchfw_variational.likelihoods.targets import check_finite
from benchfw_variational.oracles import Local


@dataclass(frozen=True)
class Gaussian:
    """p(y|z) = N(y; z, noise)."""

    noise: Positive = 1.0
    """A variance."""

    name = "gaussian"
    discrete = False
    twice_differentiable = True

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is finite."""
        check_finite(self.name, targets)

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return (z - y)² / (2 noise) + ½ log(2π noise)."""
        return ((latent - targets) ** 2 / self.noise + math.log(2 * math.pi * self.noise)) / 2

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return (z - y) / noise."""
        return (latent - targets) / self.noise

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return 1 / noise."""
        return 0.0 * (latent - targets) + 1 / self.noise

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(mean, variance)."""
        loss = self.loss(targets, mean) + variance / (2 * self.noise)
        return Local(loss, self.slope(targets, mean), self.curvature(targets, mean))

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log N(y; mean, variance + noise)."""
        total = variance + self.noise
        return -((targets - mean) ** 2 / total + namespace(total).log(2 * math.pi * total)) / 2
