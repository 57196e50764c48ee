"""Counts whose log-rate is the latent value."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import TINY
from benchfw_variational.likelihoods.quadrature import rules
from benchfw_variational.likelihoods.targets import check_targets
from benchfw_variational.oracles import Local

STIRLING = (-691 / 360360, 1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12)  # the last term first


@dataclass(frozen=True)
class Poisson:
    """p(y|z) = e^(yz - e^z) / y!, y = 0, 1, 2, …; what overflows is inf."""

    name = "poisson"
    discrete = True
    twice_differentiable = True

    def check(self, targets: Array) -> None:
        """Raise BenchfwError unless every target is a count."""
        xp = namespace(targets)
        legal = xp.isfinite(targets) & (targets >= 0) & (xp.floor(targets) == targets)
        check_targets(self.name, targets, legal, "whole numbers from 0 on")

    def loss(self, targets: Array, latent: Array) -> Array:
        """Return e^z - yz + log y!."""
        return _exp(latent) - targets * latent + _log_factorial(targets)

    def slope(self, targets: Array, latent: Array) -> Array:
        """Return e^z - y."""
        return _exp(latent) - targets

    def curvature(self, targets: Array, latent: Array) -> Array:
        """Return e^z."""
        return _exp(latent) + 0.0 * targets

    def expectations(self, targets: Array, mean: Array, variance: Array) -> Local:
        """Return loss, slope and curvature under z ~ N(m, v), where E e^z = e^(m + v/2)."""
        rate = _exp(mean + variance / 2)
        return Local(rate - targets * mean + _log_factorial(targets), rate - targets, rate)

    def log_predictive(self, targets: Array, mean: Array, variance: Array) -> Array:
        """Return log E p(y|z), by quadrature around the peak of its integrand."""
        xp = namespace(mean)
        peak = _peak(targets, mean, variance)
        # p is steep around log y, and bends the Gaussian around the peak
        centres = xp.stack([xp.log(targets + 0.5), peak], axis=1)
        widths = xp.exp(-xp.clip(centres, 0.0, None) / 2) / 2
        logarithms = []
        for rule in rules(mean, variance, peak, centres, widths):
            exponents = rule.exponents - self.loss(targets[rule.rows, None], rule.latent)
            largest = xp.max(exponents, axis=1, keepdims=True)
            total = xp.sum(rule.weights * xp.exp(exponents - largest), axis=1)
            logarithms.append(largest[:, 0] + xp.log(total))
        return xp.concat(logarithms)


def _peak(targets: Array, mean: Array, variance: Array) -> Array:
    """Return the z of the largest p(y|z) N(z; m, v): m + vy - w, w + log w = m + vy + log v, by Newton."""
    xp = namespace(mean)
    highest = mean + variance * targets
    level = xp.clip(highest + xp.log(variance + TINY), -700.0, None)
    w = xp.where(level > 1, level - xp.log(xp.clip(level, 1.0, None)), xp.exp(xp.clip(level, None, 1.0)))
    for _ in range(4):
        w = w * (1.0 + level - xp.log(w)) / (1.0 + w)
    return highest - w


def _exp(x: Array) -> Array:
    """Return e^x; inf where that is too large, without a warning."""
    with np.errstate(over="ignore"):
        return namespace(x).exp(x)


def _log_factorial(counts: Array) -> Array:
    """Return log y!, by Stirling's series for log (y + 8)!."""
    xp = namespace(counts)
    x = counts + 9.0
    product = 1.0 + 0.0 * counts
    for j in range(1, 9):
        product = product * (counts + j)
    series = 0.0 * x
    for term in STIRLING:
        series = series / (x * x) + term
    return (x - 0.5) * xp.log(x) - x + math.log(2 * math.pi) / 2 + series / x - xp.log(product)
