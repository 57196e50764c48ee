"""What a batch says of q, by sums over points z = m + √v ε: Monte Carlo, and Gauss-Hermite."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw import BenchfwError
from benchfw.errors import nearest
from benchfw.kernels import namespace
from benchfw.kernels.expectations import gauss_hermite
from benchfw.kernels.monte_carlo import score_function_gradients
from benchfw_variational.oracles import Array, Likelihood, Local


def sampled_local(
    likelihood: Likelihood, targets: Array, mean: Array, variance: Array, normals: Array, kind: str
) -> Local:
    """Return the means over normals (S, B) of loss and derivatives; targets, mean and variance are (B,).

    "score-function" needs the loss alone, eq. (12) of Khan et al. 2016; "reparameterization" takes its
    derivatives at the points (Bonnet 1964, Price 1958). Unbiased both, and the curvature may be negative.
    """
    # an overflow is inf, and inf - inf NaN: the trial that meets them is reported as diverged
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "reparameterization":
            weights = namespace(normals).ones_like(normals[:, 0]) / normals.shape[0]
            return _weighted(likelihood, targets, mean, variance, normals, weights)
        if kind == "score-function":
            xp = namespace(normals)
            losses = likelihood.loss(targets, mean + xp.sqrt(variance) * normals)
            return Local(xp.mean(losses, axis=0), *score_function_gradients(losses, normals, variance))
    kinds = ("reparameterization", "score-function")
    raise BenchfwError(f"unknown kind of sampled expectation '{kind}'{nearest(kind, kinds)}")


def hermite_local(likelihood: Likelihood, targets: Array, mean: Array, variance: Array, count: int) -> Local:
    """Return them by Gauss-Hermite with `count` points: for losses that are smooth on the scale of √v."""
    xp = namespace(mean)
    nodes, weights = (xp.asarray(part, dtype=mean.dtype) for part in gauss_hermite(count))
    return _weighted(likelihood, targets, mean, variance, nodes[:, None], weights)


def _weighted(
    likelihood: Any, targets: Array, mean: Array, variance: Array, normals: Array, weights: Array
) -> Local:
    """Return the sums with weights (S,) of loss, slope and curvature at normals (S, B) or (S, 1)."""
    deviation = namespace(mean).sqrt(variance)
    latent = mean + deviation * normals
    slopes = likelihood.slope(targets, latent)
    if likelihood.twice_differentiable:
        curvatures = likelihood.curvature(targets, latent)
    else:  # 2 ∂f/∂v = E[f' ε] / √v needs no second derivative
        curvatures = slopes * normals / deviation
    return Local(weights @ likelihood.loss(targets, latent), weights @ slopes, weights @ curvatures)
