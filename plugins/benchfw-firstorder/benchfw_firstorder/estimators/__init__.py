"""The estimators of the family, one a file."""

from benchfw_firstorder.estimators.exact import Exact
from benchfw_firstorder.estimators.minibatch import Minibatch
from benchfw_firstorder.estimators.saga import SagaGradient
from benchfw_firstorder.estimators.svrg import SvrgGradient

__all__ = ["Exact", "Minibatch", "SagaGradient", "SvrgGradient"]
