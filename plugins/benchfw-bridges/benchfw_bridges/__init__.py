"""Bridges: objects of other libraries in the roles of benchfw.

Every name is imported when it is first used, and so is the library that it needs: one that is not installed
is named, with what to install, where something of it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchfw import hookimpl
from benchfw.loading import attributes_at, make_registrar

benchfw_api = 1

PROBLEMS: dict[str, str] = {
    "jax-function": "from_jax.problem:JaxFunction",
    "torch-module": "from_torch.module:TorchModule",
    "benchopt": "from_benchopt.problem:BenchoptProblem",
    "sklearn-classification": "from_sklearn.scores:ScoredClassification",
    "sklearn-regression": "from_sklearn.scores:ScoredRegression",
}
OPTIMIZERS: dict[str, str] = {
    "optax": "from_jax.optimizer:optax_optimizer",
    "jax-solver": "from_jax.solver:jax_solver",
    "benchopt": "from_benchopt.solver:benchopt_solver",
    "scipy-minimize": "from_scipy.minimize:ScipyMinimize",
    "scipy-least-squares": "from_scipy.least_squares:ScipyLeastSquares",
    "scipy-linear": "from_scipy.linear:ScipyLinear",
    "scipy-lsqr": "from_scipy.linear:ScipyLsqr",
    "sklearn": "from_sklearn.fit:SklearnFit",
    "sklearn-partial-fit": "from_sklearn.partial_fit:SklearnPartialFit",
    "torch-optim": "from_torch.optim:TorchOptim",
}
BACKENDS: dict[str, str] = {
    "torch": "from_torch.backend:TorchBackend",
    "torch-cuda": "from_torch.backend:TorchCudaBackend",
}
TUNERS: dict[str, str] = {"optuna": "from_optuna.tuner:OptunaTPE"}

register_problems = hookimpl(make_registrar(__name__, PROBLEMS))
register_importers = hookimpl(make_registrar(__name__, {"benchopt": "from_benchopt.results:BenchoptResults"}))
register_optimizers = hookimpl(make_registrar(__name__, OPTIMIZERS))
register_backends = hookimpl(make_registrar(__name__, BACKENDS))
register_tuners = hookimpl(make_registrar(__name__, TUNERS))


@hookimpl
def register_suites(register: Callable[[Path], None]) -> None:
    """Add the suites."""
    register(Path(__file__).parent / "suites")


__getattr__, __dir__ = attributes_at(__name__, PROBLEMS.values(), OPTIMIZERS.values(), BACKENDS.values())
