"""Labels ±1: the sign of the latent value, seen through standard Gaussian noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import ROOT_HALF, scaled_erfc
from benchfw_variational.likelihoods.quadrature import rules
from benchfw_variational.likelihoods.targets import check_signs
from benchfw_variational.oracles import Local

FAR, LEVELS = 14.0, 9  # from where a continued fraction of this depth is exact; the sum has lost 2 digits


@dataclass(frozen=True)
class BernoulliProbit:
    """p(y|z) = Φ(yz), Φ the distribution function of N(0, 1), y = ±1."""

    name = "bernoulli-probit"
    discrete = True
    twice_differentiable = True

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is -1 or 1."""
        check_signs(self.name, targets)

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return -log Φ(yz)."""
        margin = targets * latent
        return -_log_normal(margin, *_tail(margin))

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return -y φ(yz) / Φ(yz)."""
        margin = targets * latent
        return -targets * _hazard(margin, *_tail(margin))

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return h (yz + h) with h = φ(yz) / Φ(yz)."""
        margin = targets * latent
        return _curvature(margin, _hazard(margin, *_tail(margin)))

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(mean, variance), by quadrature.

        Where all of them are tiny, -log Φ(z) falls like φ(z): the peak of their integrands is that of φ times
        the Gaussian, and they keep their relative precision.
        """
        xp = namespace(mean)
        margin = targets * mean
        peak = xp.where(margin > 0, margin / (1.0 + variance), margin)
        sums = []
        zero = 0.0 * margin[:, None]
        for rule in rules(margin, variance, peak, zero, zero + 1.0):
            density = rule.weights * xp.exp(rule.exponents)
            tail = _tail(rule.latent)
            hazard = _hazard(rule.latent, *tail)
            functions = -_log_normal(rule.latent, *tail), -hazard, _curvature(rule.latent, hazard)
            sums.append([xp.sum(density * values, axis=1) for values in functions])
        loss, slope, curvature = (xp.concat(part) for part in zip(*sums, strict=True))
        return Local(loss, targets * slope, curvature)

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log Φ(y mean / √(1 + variance))."""
        margin = targets * mean / namespace(variance).sqrt(1.0 + variance)
        return _log_normal(margin, *_tail(margin))


def _tail(x: Array) -> tuple[Array, Array]:
    """Return two factors of Φ(-|x|): e^(x²/2) times it, and e^(-x²/2)."""
    xp = namespace(x)
    return scaled_erfc(ROOT_HALF * xp.abs(x)) / 2, xp.exp(-x * x / 2)


def _log_normal(x: Array, ratio: Array, density: Array) -> Array:
    """Return log Φ(x)."""
    xp = namespace(x)
    return xp.where(x < 0, xp.log(ratio) - x * x / 2, xp.log1p(-ratio * density))


def _hazard(x: Array, ratio: Array, density: Array) -> Array:
    """Return φ(x) / Φ(x)."""
    return namespace(x).where(x < 0, 1.0 / ratio, density / (1.0 - ratio * density)) / math.sqrt(2 * math.pi)


def _curvature(x: Array, hazard: Array) -> Array:
    """Return h (x + h), h the hazard; x + h = 1/(|x| + 2/(|x| + 3/(|x| + …))) for x < 0. Laplace 1805."""
    xp = namespace(x)
    distance = xp.where(x < -FAR, -x, 0.0 * x + FAR)
    fraction = 0.0 * x
    for numerator in range(LEVELS, 1, -1):
        fraction = numerator / (distance + fraction)
    # h is |x| and little more: the sum would lose its digits
    return hazard * xp.where(x < -FAR, 1.0 / (distance + fraction), x + hazard)
