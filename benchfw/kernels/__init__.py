"""Pure array functions with a body per backend; the core registers them in `benchfw.core_plugin`."""

from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.blocks import add_scaled, column_dots, squares_and_dots
from benchfw.kernels.cholesky import (
    cholesky_solve,
    explained_variances,
    inverse_half_powers,
    scaled_cholesky,
)
from benchfw.kernels.conjugate_gradients import conjugate_gradients
from benchfw.kernels.gram import gaussian_gram, gaussian_gram_length_derivative
from benchfw.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply
from benchfw.kernels.random import normals, rademacher

__all__ = [
    "Kernel",
    "add_scaled",
    "cholesky_solve",
    "column_dots",
    "conjugate_gradients",
    "explained_variances",
    "gauss_quadrature",
    "gaussian_gram",
    "gaussian_gram_length_derivative",
    "inverse_half_powers",
    "kernel",
    "lanczos",
    "lanczos_apply",
    "namespace",
    "normals",
    "rademacher",
    "scaled_cholesky",
    "squares_and_dots",
]
