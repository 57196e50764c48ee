"""Variational inference: proximal-gradient SVI, everything it is compared with, and its models.

Every name is imported when it is first used, so that the command line starts no slower for this package.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchfw import hookimpl
from benchfw.loading import attributes_at, make_kernel_registrar, make_registrar

benchfw_api = 1

PROBLEMS = {
    "gp-classification": "problems.gp_classification:GPClassification",
    "bayesian-glm": "problems.bayesian_glm:BayesianGLM",
    "gp-scaled": "problems.scaled_gp:ScaledGP",
    "correlated-topics": "problems.correlated_topics:CorrelatedTopics",
}
ESTIMATORS = {
    "quadrature": "estimators.quadrature:Quadrature",
    "score-function": "estimators.sampled:ScoreFunction",
    "reparameterization": "estimators.sampled:Reparameterization",
}
OPTIMIZERS = {
    "pg-svi": "optimizers.pg_svi:PGSVI",
    "pg": "optimizers.pg:PG",
    "pg-mc": "optimizers.pg:PGMC",
    "proximal-svi": "optimizers.proximal_svi:ProximalSVI",
    "laplace": "optimizers.laplace:Laplace",
    "ctm-pg": "optimizers.ctm_em:CTMProximalGradient",
    "ctm-pg-svi": "optimizers.ctm_pg_svi:CTMProximalSVI",
    "ctm-pg-svi-mf": "optimizers.ctm_pg_svi:CTMProximalSVIMeanField",
    "ctm-mean-field": "optimizers.ctm_em:CTMMeanField",
    "ctm-delta": "optimizers.ctm_em:CTMDelta",
    "ctm-laplace": "optimizers.ctm_em:CTMLaplace",
    "peer-gpytorch": "peers.gpytorch_natural:PeerGPyTorch",
    "peer-sklearn-laplace": "peers.sklearn_laplace:PeerSklearnLaplace",
}
OTHERS: tuple[str, ...] = (
    "likelihoods:get_likelihood",
    "oracles:LatentGaussian",
    "oracles:Likelihood",
    "oracles:Local",
)
OTHERS += ("oracles:Posterior", "oracles:Prior")
KERNELS = {
    "expectations": ("logistic_expectations", "logistic_log_mean", "scaled_erfc"),
    "monte_carlo": ("score_function_gradients",),
    "topics": ("topic_counts", "topic_derivatives", "topic_log_likelihood", "topic_predictive"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""

register_problems = hookimpl(make_registrar(__name__, PROBLEMS))
register_estimators = hookimpl(make_registrar(__name__, ESTIMATORS))
register_optimizers = hookimpl(make_registrar(__name__, OPTIMIZERS))
register_kernels = hookimpl(make_kernel_registrar(__name__, KERNELS))


@hookimpl
def register_suites(register: Callable[[Path], None]) -> None:
    """Add the suites."""
    register(Path(__file__).parent / "suites")


__getattr__, __dir__ = attributes_at(
    __name__, PROBLEMS.values(), ESTIMATORS.values(), OPTIMIZERS.values(), OTHERS
)
