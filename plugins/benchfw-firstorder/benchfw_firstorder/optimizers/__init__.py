"""The optimizers of the family, one a file."""

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

__all__ = [
    "LBFGS",
    "SAGA",
    "SGD",
    "SVRG",
    "AdaDelta",
    "AdaGrad",
    "Adam",
    "Fista",
    "GradientDescent",
    "HeavyBall",
    "Nesterov",
    "ProximalGradient",
    "RMSprop",
    "Subgradient",
]
