"""First-order methods: gradient descent and its accelerated, proximal, stochastic and adaptive kin."""

from __future__ import annotations

from benchfw import hookimpl
from benchfw.hookspecs import Register
from benchfw_firstorder.estimators import Exact, Minibatch, SagaGradient, SvrgGradient
from benchfw_firstorder.optimizers import (
    LBFGS,
    SAGA,
    SGD,
    SVRG,
    AdaDelta,
    AdaGrad,
    Adam,
    Fista,
    GradientDescent,
    HeavyBall,
    Nesterov,
    ProximalGradient,
    RMSprop,
    Subgradient,
)
from benchfw_firstorder.oracles import Subdifferentiable
from benchfw_firstorder.problems import (
    BoxLeastSquares,
    ElasticNet,
    Lasso,
    LeastSquares,
    LogisticRegression,
    Quadratic,
)

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


@hookimpl
def register_problems(register: Register) -> None:
    """Add the problems."""
    register("quadratic", Quadratic)
    register("least-squares", LeastSquares)
    register("logistic-regression", LogisticRegression)
    register("lasso", Lasso)
    register("elastic-net", ElasticNet)
    register("box-least-squares", BoxLeastSquares)


@hookimpl
def register_estimators(register: Register) -> None:
    """Add the gradient estimators."""
    register("exact", Exact)
    register("minibatch", Minibatch)
    register("svrg", SvrgGradient)
    register("saga", SagaGradient)


@hookimpl
def register_optimizers(register: Register) -> None:
    """Add the optimizers."""
    register("gd", GradientDescent)
    register("heavy-ball", HeavyBall)
    register("nesterov", Nesterov)
    register("subgradient", Subgradient)
    register("proximal-gradient", ProximalGradient)
    register("fista", Fista)
    register("sgd", SGD)
    register("svrg", SVRG)
    register("saga", SAGA)
    register("adagrad", AdaGrad)
    register("rmsprop", RMSprop)
    register("adadelta", AdaDelta)
    register("adam", Adam)
    register("lbfgs", LBFGS)
