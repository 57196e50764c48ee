"""The latent value, seen through noise with exponential tails."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchfw import Array, Positive
from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import ROOT_HALF, TINY, scaled_erfc
from benchfw_variational.likelihoods.targets import check_finite
from benchfw_variational.oracles import Local


@dataclass(frozen=True)
class Laplace:
    """p(y|z) = e^(-|y - z|/scale) / (2 scale)."""

    scale: Positive = 1.0

    name = "laplace"
    discrete = False
    twice_differentiable = False  # all of the loss's curvature is in one point

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is finite."""
        check_finite(self.name, targets)

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return |z - y| / scale + log(2 scale)."""
        return abs(latent - targets) / self.scale + math.log(2 * self.scale)

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return the sign of z - y over the scale."""
        return namespace(latent).sign(latent - targets) / self.scale

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return 0, the second derivative everywhere but at z = y."""
        return 0.0 * (latent - targets)

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(m, v); the last is 2 N(y; m, v) / scale."""
        xp = namespace(mean)
        error = mean - targets
        deviation = xp.sqrt(variance + TINY)
        ratio = xp.abs(error) / deviation
        density = xp.exp(-ratio * ratio / 2)
        outside = density * scaled_erfc(ROOT_HALF * ratio)  # P(|x| > ratio) for x ~ N(0, 1)
        width = math.sqrt(2 / math.pi)
        distance = xp.abs(error) * (1.0 - outside) + deviation * density * width
        return Local(
            distance / self.scale + math.log(2 * self.scale),
            xp.sign(error) * (1.0 - outside) / self.scale,
            width * density / (deviation * self.scale),
        )

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log E p(y|z), relative to the slower of two tails: that of p or that of the Gaussian."""
        xp = namespace(mean)
        deviation = xp.sqrt(variance + TINY) / self.scale
        distance = xp.abs(mean - targets) / self.scale
        ratio = distance / deviation
        gap = deviation - ratio
        left = scaled_erfc(ROOT_HALF * (deviation + ratio))
        right = scaled_erfc(ROOT_HALF * xp.abs(gap))
        correction = xp.log1p((left - right) * xp.exp(-gap * gap / 2) / 2)
        exponential = deviation * deviation / 2 - distance + correction
        gaussian = xp.log((left + right) / 2) - ratio * ratio / 2
        return xp.where(gap < 0, exponential, gaussian) - math.log(2 * self.scale)
