"""Pure array functions with a body per backend; the core registers them in `benchfw.core_plugin`."""

from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.block_check import largest_steps
from benchfw.kernels.blocks import add_scaled, column_dots, squares_and_dots
from benchfw.kernels.chebyshev import chebyshev_forms, chebyshev_pairs
from benchfw.kernels.conjugate_gradients import conjugate_gradients
from benchfw.kernels.expectations import logistic_expectations, logistic_log_mean, scaled_erfc
from benchfw.kernels.gram import gaussian_gram, gaussian_gram_length_derivative
from benchfw.kernels.interpolation import cubic_weights
from benchfw.kernels.lanczos import gauss_quadrature, lanczos, lanczos_apply
from benchfw.kernels.linear_models import (
    least_squares_gradient,
    least_squares_value,
    logistic_gradient,
    logistic_value,
)
from benchfw.kernels.monte_carlo import score_function_gradients
from benchfw.kernels.normals import normals
from benchfw.kernels.nystrom import nystrom_factor, nystrom_preconditioner
from benchfw.kernels.probes import rademacher
from benchfw.kernels.random_features import feature_gram, feature_products, feature_scores
from benchfw.kernels.scaled_cholesky import (
    cholesky_solve,
    explained_variances,
    inverse_half_powers,
    scaled_cholesky,
)
from benchfw.kernels.softmax import softmax_derivative, softmax_loss
from benchfw.kernels.spectral_bounds import spectral_bounds
from benchfw.kernels.thresholding import soft_threshold
from benchfw.kernels.toeplitz import toeplitz_product
from benchfw.kernels.topics import topic_counts, topic_derivatives, topic_log_likelihood, topic_predictive

__all__ = [
    "Kernel",
    "add_scaled",
    "chebyshev_forms",
    "chebyshev_pairs",
    "cholesky_solve",
    "column_dots",
    "conjugate_gradients",
    "cubic_weights",
    "explained_variances",
    "feature_gram",
    "feature_products",
    "feature_scores",
    "gauss_quadrature",
    "gaussian_gram",
    "gaussian_gram_length_derivative",
    "inverse_half_powers",
    "kernel",
    "lanczos",
    "lanczos_apply",
    "largest_steps",
    "least_squares_gradient",
    "least_squares_value",
    "logistic_expectations",
    "logistic_gradient",
    "logistic_log_mean",
    "logistic_value",
    "namespace",
    "normals",
    "nystrom_factor",
    "nystrom_preconditioner",
    "rademacher",
    "scaled_cholesky",
    "scaled_erfc",
    "score_function_gradients",
    "soft_threshold",
    "softmax_derivative",
    "softmax_loss",
    "spectral_bounds",
    "squares_and_dots",
    "toeplitz_product",
    "topic_counts",
    "topic_derivatives",
    "topic_log_likelihood",
    "topic_predictive",
]
