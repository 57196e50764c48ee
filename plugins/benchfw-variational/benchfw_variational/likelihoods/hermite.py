"""What a batch says of q, by Gauss-Hermite."""

from __future__ import annotations

import numpy as np

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_variational.kernels.expectations import gauss_hermite
from benchfw_variational.likelihoods.sampling import at_points
from benchfw_variational.oracles import Likelihood, Local


def hermite_local(likelihood: Likelihood, targets: Array, mean: Array, variance: Array, points: int) -> Local:
    """Return loss, slope and curvature by a rule of so many points; targets, mean and variance are (B,).

    Close where the loss is smooth on the scale of √v; `likelihood.expectations` is right everywhere.
    """
    xp = namespace(mean)
    nodes, weights = (xp.asarray(part, dtype=mean.dtype) for part in gauss_hermite(points))
    with np.errstate(over="ignore", invalid="ignore"):  # an overflow is reported as diverged
        parts = at_points(likelihood, targets, mean, variance, nodes[:, None])
        return Local(*(weights @ part for part in parts))
