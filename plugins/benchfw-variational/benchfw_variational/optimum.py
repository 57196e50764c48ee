"""The least bound, by proximal gradients until nothing changes any more."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from benchfw import BenchfwError
from benchfw_variational.optimizers.pg import PG
from benchfw_variational.oracles import Array
from benchfw_variational.posterior import DualPosterior

if TYPE_CHECKING:
    from benchfw_variational.problems.latent_gaussian import LatentGaussianModel

STEPS = (1.0, 0.3, 0.1, 0.03)
MOST = 300  # passes with one step size


def optimum(problem: LatentGaussianModel) -> Array:
    """Return λ = (m, L) of the least F, to a change of 1e-12 F a pass; nothing is counted."""
    cost = problem.cost
    try:
        for step in STEPS:  # a step that is too long never settles
            last = math.inf
            for number, posterior in enumerate(PG(step=step).run(problem, problem.backend.rng(0))):
                bound = posterior.negative_bound()
                if abs(last - bound) <= 1e-12 * abs(bound):
                    return factor_params(problem, posterior)
                if number == MOST or not math.isfinite(bound):
                    break
                last = bound
    finally:
        problem.cost = cost
    raise BenchfwError("proximal gradients do not settle here, so that the optimum is not known")


def factor_params(problem: LatentGaussianModel, posterior: DualPosterior) -> Array:
    """Return λ of a posterior given by duals a and precisions γ.

    The latent values are z = Wx with x ~ N(0, I) and w = Cx: m = CW'a, V = C (I + W'ΓW)⁻¹ C'.
    """
    xp = problem.backend.xp
    factor = problem.prior_factor()
    loadings = getattr(problem.prior, "features", factor)  # a low-rank prior has W, a dense one W = C
    inner = xp.eye(problem.dimension) + loadings.T @ (posterior.precisions[:, None] * loadings)
    covariance = factor @ xp.linalg.solve(inner, factor.T)
    mean = factor @ (loadings.T @ posterior.dual)
    return problem.pack(mean, xp.linalg.cholesky((covariance + covariance.T) / 2))
