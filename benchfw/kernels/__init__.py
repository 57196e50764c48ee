"""Pure array functions with a body per backend; the core registers them in `benchfw.core_plugin`."""

from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.linear_models import (
    least_squares_gradient,
    least_squares_value,
    logistic_gradient,
    logistic_value,
)
from benchfw.kernels.normals import normals
from benchfw.kernels.thresholding import soft_threshold

__all__ = [
    "Kernel",
    "kernel",
    "least_squares_gradient",
    "least_squares_value",
    "logistic_gradient",
    "logistic_value",
    "namespace",
    "normals",
    "soft_threshold",
]
