"""What a batch says of q, by means over points z = m + √v ε, random or Gauss-Hermite's."""

from __future__ import annotations

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.errors import nearest
from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import gauss_hermite
from benchfw_variational.kernels.monte_carlo import score_function_gradients
from benchfw_variational.oracles import Likelihood, Local


def sampled_local(
    likelihood: Likelihood, targets: Array, mean: Array, variance: Array, normals: Array, kind: str
) -> Local:
    """Return the means over normals (S, B) of loss and derivatives; targets, mean and variance are (B,).

    "score-function" needs the loss alone, eq. (12) of Khan et al. 2016; "reparameterization" takes its
    derivatives at the points (Bonnet 1964, Price 1958). Unbiased both, and the curvature may be negative.
    """
    xp = namespace(normals)
    # an overflow is inf, and inf - inf NaN: the trial that meets them is reported as diverged
    with np.errstate(over="ignore", invalid="ignore"):
        if kind == "reparameterization":
            parts = at_points(likelihood, targets, mean, variance, normals)
            return Local(*(xp.mean(part, axis=0) for part in parts))
        if kind == "score-function":
            losses = likelihood.loss(targets, mean + xp.sqrt(variance) * normals)
            return Local(xp.mean(losses, axis=0), *score_function_gradients(losses, normals, variance))
    kinds = ("reparameterization", "score-function")
    raise BenchfwError(f"unknown kind of sampled expectation '{kind}'{nearest(kind, kinds)}")


def hermite_local(likelihood: Likelihood, targets: Array, mean: Array, variance: Array, points: int) -> Local:
    """Return loss, slope and curvature by a rule of so many points; targets, mean and variance are (B,).

    Close where the loss is smooth on the scale of √v; `likelihood.expectations` is right everywhere.
    """
    xp = namespace(mean)
    nodes, weights = (xp.asarray(part, dtype=mean.dtype) for part in gauss_hermite(points))
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported as diverged
        parts = at_points(likelihood, targets, mean, variance, nodes[:, None])
        return Local(*(weights @ part for part in parts))


def at_points(likelihood: Likelihood, targets: Array, mean: Array, variance: Array, normals: Array) -> Local:
    """Return loss, slope and curvature at z = m + √v ε, (S, B) each, for normals ε (S, B) or (S, 1)."""
    deviation = namespace(normals).sqrt(variance)
    latent = mean + deviation * normals
    slopes = likelihood.slope(targets, latent)
    if likelihood.twice_differentiable:
        curvatures = likelihood.curvature(targets, latent)
    else:  # 2 ∂f/∂v = E[f' ε] / √v needs no second derivative
        curvatures = slopes * normals / deviation
    return Local(likelihood.loss(targets, latent), slopes, curvatures)
