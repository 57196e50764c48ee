"""The problems of the family, one a file."""

from benchfw_firstorder.problems.box_least_squares import BoxLeastSquares
from benchfw_firstorder.problems.elastic_net import ElasticNet
from benchfw_firstorder.problems.lasso import Lasso
from benchfw_firstorder.problems.least_squares import LeastSquares
from benchfw_firstorder.problems.logistic_regression import LogisticRegression
from benchfw_firstorder.problems.quadratic import Quadratic

__all__ = ["BoxLeastSquares", "ElasticNet", "Lasso", "LeastSquares", "LogisticRegression", "Quadratic"]
