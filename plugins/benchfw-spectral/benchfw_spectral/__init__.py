"""Spectral sums: unbiased Chebyshev estimators of tr f(A) and of its gradient, degree laws, and their rivals.

Every name is imported when it is first used, so that the command line starts no slower for this package.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchfw import hookimpl
from benchfw.loading import attributes_at, make_kernel_registrar, make_registrar

benchfw_api = 1

PROBLEMS = {
    "spectral-sum": "problems.spectral_sum:SpectralSumProblem",
    "matrix-completion": "problems.matrix_completion:MatrixCompletion",
    "gp-hyperparameters": "problems.gp_hyperparameters:GPHyperparameters",
    "spectral-quadratic": "problems.spectral_quadratic:SpectralQuadratic",
}
ESTIMATORS = {
    "chebyshev": "estimators.chebyshev:Chebyshev",
    "hutchinson": "estimators.hutchinson:Hutchinson",
    "hutch++": "estimators.hutch_plus_plus:HutchPlusPlus",
    "xtrace": "estimators.xtrace:XTrace",
    "lanczos": "estimators.lanczos:Lanczos",
    "low-rank": "estimators.low_rank:LowRank",
    "peer-imate": "peers.imate:PeerImate",
    "peer-linear-operator": "peers.linear_operator:PeerLinearOperator",
    "peer-matfree": "peers.matfree:PeerMatfree",
    "peer-primate": "peers.primate:PeerPrimate",
}
DISTRIBUTIONS = {
    "optimal": "distributions.optimal:Optimal",
    "negative-binomial": "distributions.negative_binomial:NegativeBinomial",
    "poisson": "distributions.poisson:Poisson",
    "geometric": "distributions.geometric:Geometric",
    "deterministic": "distributions.deterministic:Deterministic",
    "oracle": "distributions.oracle:Oracle",
}
OTHERS: tuple[str, ...] = (
    "functions:Analytic",
    "functions:Function",
    "functions:get_function",
    "oracles:Estimate",
)
OTHERS += ("oracles:SpectralObjective", "variance:weighted_variance")
KERNELS = {
    "chebyshev": ("chebyshev_forms", "chebyshev_pairs"),
    "conjugate_gradients": ("conjugate_gradients",),
    "interpolation": ("cubic_weights",),
    "lanczos": ("gauss_quadrature", "lanczos", "lanczos_apply"),
    "nystrom": ("nystrom_factor",),
    "spectral_bounds": ("spectral_bounds",),
    "toeplitz": ("toeplitz_product", "toeplitz_spectrum"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""

register_problems = hookimpl(make_registrar(__name__, PROBLEMS))
register_estimators = hookimpl(make_registrar(__name__, ESTIMATORS))
register_distributions = hookimpl(make_registrar(__name__, DISTRIBUTIONS))
register_kernels = hookimpl(make_kernel_registrar(__name__, KERNELS))


@hookimpl
def register_suites(register: Callable[[Path], None]) -> None:
    """Add the suites."""
    register(Path(__file__).parent / "suites")


__getattr__, __dir__ = attributes_at(
    __name__, PROBLEMS.values(), ESTIMATORS.values(), DISTRIBUTIONS.values(), OTHERS
)
