"""The latent value, seen through noise with algebraic tails: robust regression."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchfw import Array, Positive
from benchfw.kernels import namespace
from benchfw_variational.likelihoods.targets import check_finite
from benchfw_variational.oracles import Local

STEP = 0.27  # of the trapezoidal rule; its error is e^(-π²/STEP) for functions bounded where |Im u| < π/2
AT_ONCE = 512  # examples


@dataclass(frozen=True)
class StudentT:
    """p(y|z) ∝ (1 + (y - z)² / (degrees scale²))^(-(degrees + 1)/2); its loss is not convex."""

    degrees: Positive = 4.0
    scale: Positive = 1.0

    name = "student-t"
    discrete = False
    twice_differentiable = True

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is finite."""
        check_finite(self.name, targets)

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return (degrees + 1)/2 log(1 + (z - y)² / (degrees scale²)), and a constant."""
        squares = (latent - targets) ** 2 / self._width
        return (self.degrees + 1) / 2 * namespace(latent).log1p(squares) + self._constant

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return (degrees + 1) (z - y) / (degrees scale² + (z - y)²)."""
        error = latent - targets
        return (self.degrees + 1) * error / (self._width + error**2)

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return the derivative of the slope; negative where |z - y| > √degrees scale."""
        squares = (latent - targets) ** 2
        return (self.degrees + 1) * (self._width - squares) / (self._width + squares) ** 2

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(mean, variance).

        log(1 + x) = ∫ (1 - e^(-tx)) e^-t dt/t over t > 0 (Frullani), and with x = (z - y)² / k the mean of
        e^(-tx) is (1 + 2tv/k)^-½ exp(-t (m - y)² / (k + 2tv)): smooth in log t, whatever m and v.
        """
        xp = namespace(mean)
        parts = [
            self._integrals(mean[rows, None] - targets[rows, None], variance[rows, None])
            for rows in _slices(mean.shape[0])
        ]
        loss, slope, curvature = (xp.concat(part) for part in zip(*parts, strict=True))
        factor = self.degrees + 1
        return Local(factor / 2 * loss + self._constant, factor * slope, factor * curvature)

    def _integrals(self, error: Array, variance: Array) -> tuple[Array, Array, Array]:
        """Return E log(1 + x), half its slope and half its curvature, (b,) each, for errors m - y (b, 1)."""
        xp = namespace(error)
        t = xp.exp(STEP * xp.arange(-280, 15, dtype=error.dtype))
        spread = t / (self._width + 2 * variance * t)
        exponent = -xp.log1p(2 * variance * t / self._width) / 2 - error**2 * spread
        measure = STEP * xp.exp(-t)
        transform = xp.exp(exponent)
        slope = transform * spread
        bend = slope * (1.0 - 2.0 * error**2 * spread)
        return -xp.expm1(exponent) @ measure, error[:, 0] * (slope @ measure), bend @ measure

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log E p(y|z).

        Student's t is a mixture of Gaussians of variance scale² / τ over τ ~ Gamma(degrees/2, degrees/2), so
        that the mean is an integral over u = log τ alone, of N(y; mean, variance + scale² e^-u).
        """
        xp = namespace(mean)
        parts = [
            self._log_mixture((mean[rows, None] - targets[rows, None]) ** 2, variance[rows, None])
            for rows in _slices(mean.shape[0])
        ]
        half = self.degrees / 2
        constant = half * math.log(half) - math.lgamma(half) - math.log(2 * math.pi) / 2
        return xp.concat(parts) + constant

    def _log_mixture(self, squares: Array, variance: Array) -> Array:
        """Return log ∫ e^((degrees/2)(u - e^u)) t^-½ e^(-squares / 2t) du, t = v + scale² e^-u."""
        xp = namespace(squares)
        degrees = self.degrees
        # the integrand is narrower than a unit where the degrees are many, and has tails e^((degrees + 1)u/2)
        step = min(STEP, 0.5 / math.sqrt(degrees + 1))
        spread = 80 / (degrees + 1) + 9 / math.sqrt(degrees)
        far = float(xp.max(squares)) if squares.shape[0] else 0.0
        low = -math.log1p(far / self._width) - spread
        high = math.log1p(80 / degrees + 13 / math.sqrt(degrees))
        u = low + step * xp.arange(math.ceil((high - low) / step), dtype=squares.dtype)
        total = variance + self.scale**2 * xp.exp(-u)
        exponents = (degrees * (u - xp.exp(u)) - xp.log(total) - squares / total) / 2
        largest = xp.max(exponents, axis=1, keepdims=True)
        return largest[:, 0] + xp.log(step * xp.sum(xp.exp(exponents - largest), axis=1))

    @property
    def _width(self) -> float:
        return self.degrees * self.scale**2

    @property
    def _constant(self) -> float:
        half = self.degrees / 2
        return math.lgamma(half) - math.lgamma(half + 0.5) + math.log(math.pi * self._width) / 2


def _slices(size: int) -> list[slice]:
    """Return the slices of a few examples each, and at least one."""
    return [slice(start, min(start + AT_ONCE, size)) for start in range(0, max(size, 1), AT_ONCE)]
