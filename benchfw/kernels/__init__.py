"""Pure array functions with a body per backend; the core registers them in `benchfw.core_plugin`."""

from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.blocks import add_scaled, column_dots
from benchfw.kernels.chebyshev import chebyshev_forms, chebyshev_pairs
from benchfw.kernels.conjugate_gradients import conjugate_gradients
from benchfw.kernels.gram import gaussian_gram, gaussian_gram_length_derivative
from benchfw.kernels.interpolation import cubic_weights
from benchfw.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply
from benchfw.kernels.linear_models import (
    least_squares_gradient,
    least_squares_value,
    logistic_gradient,
    logistic_value,
)
from benchfw.kernels.normals import normals
from benchfw.kernels.probes import rademacher
from benchfw.kernels.spectral_bounds import spectral_bounds
from benchfw.kernels.thresholding import soft_threshold
from benchfw.kernels.toeplitz import toeplitz_product, toeplitz_spectrum

__all__ = [
    "Kernel",
    "add_scaled",
    "chebyshev_forms",
    "chebyshev_pairs",
    "column_dots",
    "conjugate_gradients",
    "cubic_weights",
    "gauss_quadrature",
    "gaussian_gram",
    "gaussian_gram_length_derivative",
    "kernel",
    "lanczos",
    "lanczos_apply",
    "least_squares_gradient",
    "least_squares_value",
    "logistic_gradient",
    "logistic_value",
    "namespace",
    "normals",
    "rademacher",
    "soft_threshold",
    "spectral_bounds",
    "toeplitz_product",
    "toeplitz_spectrum",
]
