"""The least bound: by proximal gradients until nothing changes, and from there by L-BFGS where need be."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from benchfw import Array, BenchfwError
from benchfw_variational.cholesky import cholesky
from benchfw_variational.optimizers.pg import PG
from benchfw_variational.posterior import DualPosterior

if TYPE_CHECKING:
    from benchfw_variational.problems.latent_gaussian import LatentGaussianModel

STEPS = (1.0, 0.3, 0.1, 0.03)
MOST = 300  # passes with one step size
STATIONARY = 1e-4  # of the largest curvature: below it proximal gradients stand where the gradient vanishes
POLISHED = 1e-5  # of the largest entry of the gradient at the start
ITERATIONS = 5_000  # of L-BFGS


def optimum(problem: LatentGaussianModel) -> Array:
    """Return λ = (m, L) of the least F, to a change of 1e-12 F a pass.

    Proximal gradients take negative curvatures as 0, and do not end there for a loss that is not convex:
    L-BFGS on λ goes on from where they end, to a place without gradient, which need not be the only one.
    """
    posterior = _settled(problem)
    params = factor_params(problem, posterior)
    return params if _stationary(problem, posterior) else _polished(problem, params)


def factor_params(problem: LatentGaussianModel, posterior: DualPosterior) -> Array:
    """Return λ of a posterior given by duals a and precisions γ.

    The latent values are z = Wx with x ~ N(0, I) and w = Cx: m = CW'a, V = C (I + W'ΓW)⁻¹ C'.
    """
    xp = problem.backend.xp
    factor, loadings = problem.coordinates.prior_factor, problem.coordinates.loadings
    inner = xp.eye(problem.dimension) + loadings.T @ (posterior.precisions[:, None] * loadings)
    covariance = factor @ xp.linalg.solve(inner, factor.T)
    mean = factor @ (loadings.T @ posterior.dual)
    return problem.pack(mean, cholesky((covariance + covariance.T) / 2))


def _settled(problem: LatentGaussianModel) -> DualPosterior:
    """Return where proximal gradients end."""
    for step in STEPS:  # a step that is too long never settles
        last = math.inf
        for number, posterior in enumerate(PG(step=step).run(problem, problem.backend.rng(0))):
            bound = posterior.negative_bound()
            if abs(last - bound) <= 1e-12 * abs(bound):
                return posterior
            if number == MOST or not math.isfinite(bound):
                break
            last = bound
    raise BenchfwError("proximal gradients do not settle here, so that the optimum is not known")


def _stationary(problem: LatentGaussianModel, posterior: DualPosterior) -> bool:
    """Return whether γ = 2∂f/∂v: then ∂F/∂V = 0, and ∂F/∂m = 0 where the mean has settled.

    This is asked of γ, since λ has a gradient that is rounding where K is ill conditioned.
    """
    xp = problem.backend.xp
    everything = xp.arange(problem.num_samples)
    curvature = problem.local(everything, posterior.mean, posterior.variance).curvature
    return bool(xp.max(xp.abs(posterior.precisions - curvature)) <= STATIONARY * xp.max(xp.abs(curvature)))


def _polished(problem: LatentGaussianModel, params: Array) -> Array:
    """Return where L-BFGS comes to from λ."""
    from scipy.optimize import minimize

    backend = problem.backend

    def value_and_gradient(point: Any) -> tuple[float, Any]:
        at = backend.asarray(point)
        return problem.value(at), backend.to_numpy(problem.grad(at))

    scale = float(abs(problem.grad(problem.start())).max())
    limits = {"maxiter": ITERATIONS, "maxfun": 2 * ITERATIONS}
    options: Any = {**limits, "ftol": 0.0, "gtol": POLISHED * scale / 10}
    found = minimize(
        value_and_gradient, backend.to_numpy(params), jac=True, method="L-BFGS-B", options=options
    )
    if not abs(found.jac).max() <= POLISHED * scale:
        raise BenchfwError("the gradient of the bound does not vanish here, so that the optimum is not known")
    return problem.project(backend.asarray(found.x))
