"""First-order methods: gradient descent and its accelerated, proximal, stochastic and adaptive kin.

Every name is imported when it is first used, so that the command line starts no slower for this package.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from benchfw import hookimpl
from benchfw.loading import attributes_at, make_kernel_registrar, make_registrar

benchfw_api = 1

PROBLEMS = {
    "quadratic": "problems.quadratic:Quadratic",
    "least-squares": "problems.least_squares:LeastSquares",
    "logistic-regression": "problems.logistic_regression:LogisticRegression",
    "lasso": "problems.lasso:Lasso",
    "elastic-net": "problems.elastic_net:ElasticNet",
    "box-least-squares": "problems.box_least_squares:BoxLeastSquares",
}
ESTIMATORS = {
    "exact": "estimators.exact:Exact",
    "minibatch": "estimators.minibatch:Minibatch",
    "svrg": "estimators.svrg:SvrgGradient",
    "saga": "estimators.saga:SagaGradient",
}
OPTIMIZERS = {
    "gd": "optimizers.gd:GradientDescent",
    "heavy-ball": "optimizers.heavy_ball:HeavyBall",
    "nesterov": "optimizers.nesterov:Nesterov",
    "subgradient": "optimizers.subgradient:Subgradient",
    "proximal-gradient": "optimizers.proximal_gradient:ProximalGradient",
    "fista": "optimizers.fista:Fista",
    "sgd": "optimizers.sgd:SGD",
    "svrg": "optimizers.svrg:SVRG",
    "saga": "optimizers.saga:SAGA",
    "adagrad": "optimizers.adagrad:AdaGrad",
    "rmsprop": "optimizers.rmsprop:RMSprop",
    "adadelta": "optimizers.adadelta:AdaDelta",
    "adam": "optimizers.adam:Adam",
    "lbfgs": "optimizers.lbfgs:LBFGS",
}
KERNELS = {
    "linear_models": ("least_squares_gradient", "least_squares_value", "logistic_gradient", "logistic_value"),
    "thresholding": ("soft_threshold",),
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
    __name__,
    PROBLEMS.values(),
    ESTIMATORS.values(),
    OPTIMIZERS.values(),
    ["optimizers.subgradient:Subdifferentiable"],
)
