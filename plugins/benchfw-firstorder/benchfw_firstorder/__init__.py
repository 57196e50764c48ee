"""First-order methods: gradient descent and its accelerated, proximal, stochastic and adaptive kin.

Every name is imported when it is first used, so that the command line starts no slower for this package.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from benchfw import hookimpl
from benchfw.loading import attributes_at, register_kernel_places, register_places

if TYPE_CHECKING:
    from benchfw.hookspecs import Register, RegisterKernel
    from benchfw_firstorder.estimators.exact import Exact
    from benchfw_firstorder.estimators.minibatch import Minibatch
    from benchfw_firstorder.estimators.saga import SagaGradient
    from benchfw_firstorder.estimators.svrg import SvrgGradient
    from benchfw_firstorder.optimizers.adadelta import AdaDelta
    from benchfw_firstorder.optimizers.adagrad import AdaGrad
    from benchfw_firstorder.optimizers.adam import Adam
    from benchfw_firstorder.optimizers.fista import Fista
    from benchfw_firstorder.optimizers.gd import GradientDescent
    from benchfw_firstorder.optimizers.heavy_ball import HeavyBall
    from benchfw_firstorder.optimizers.lbfgs import LBFGS
    from benchfw_firstorder.optimizers.nesterov import Nesterov
    from benchfw_firstorder.optimizers.proximal_gradient import ProximalGradient
    from benchfw_firstorder.optimizers.rmsprop import RMSprop
    from benchfw_firstorder.optimizers.saga import SAGA
    from benchfw_firstorder.optimizers.sgd import SGD
    from benchfw_firstorder.optimizers.subgradient import Subgradient
    from benchfw_firstorder.optimizers.svrg import SVRG
    from benchfw_firstorder.oracles import Subdifferentiable
    from benchfw_firstorder.problems.box_least_squares import BoxLeastSquares
    from benchfw_firstorder.problems.elastic_net import ElasticNet
    from benchfw_firstorder.problems.lasso import Lasso
    from benchfw_firstorder.problems.least_squares import LeastSquares
    from benchfw_firstorder.problems.logistic_regression import LogisticRegression
    from benchfw_firstorder.problems.quadratic import Quadratic

benchfw_api = 1

__all__ = [
    "LBFGS",
    "SAGA",
    "SGD",
    "SVRG",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "BoxLeastSquares",
    "ElasticNet",
    "Exact",
    "Fista",
    "GradientDescent",
    "HeavyBall",
    "Lasso",
    "LeastSquares",
    "LogisticRegression",
    "Minibatch",
    "Nesterov",
    "ProximalGradient",
    "Quadratic",
    "RMSprop",
    "SagaGradient",
    "Subdifferentiable",
    "Subgradient",
    "SvrgGradient",
]

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


@hookimpl
def register_problems(register: Register) -> None:
    """Add the problems."""
    register_places(register, __name__, PROBLEMS)


@hookimpl
def register_estimators(register: Register) -> None:
    """Add the gradient estimators."""
    register_places(register, __name__, ESTIMATORS)


@hookimpl
def register_optimizers(register: Register) -> None:
    """Add the optimizers."""
    register_places(register, __name__, OPTIMIZERS)


@hookimpl
def register_kernels(register: RegisterKernel) -> None:
    """Add the kernels."""
    register_kernel_places(register, __name__, KERNELS)


@hookimpl
def register_suites(register: Callable[[Path], None]) -> None:
    """Add the suites."""
    register(Path(__file__).parent / "suites")


__getattr__ = attributes_at(
    __name__, PROBLEMS.values(), ESTIMATORS.values(), OPTIMIZERS.values(), ["oracles:Subdifferentiable"]
)
