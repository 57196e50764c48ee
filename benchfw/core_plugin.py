"""What the core itself registers, by the same door as everybody else: its kernels.

They are named, not imported: listing what there is should not cost the import of NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfw.hookspecs import hookimpl

if TYPE_CHECKING:
    from benchfw.hookspecs import RegisterKernel

KERNELS = {
    "block_check": ("largest_steps",),
    "blocks": ("add_scaled", "column_dots", "squares_and_dots"),
    "chebyshev": ("chebyshev_forms", "chebyshev_pairs"),
    "conjugate_gradients": ("conjugate_gradients",),
    "expectations": ("logistic_expectations", "logistic_log_mean", "scaled_erfc"),
    "gram": ("gaussian_gram", "gaussian_gram_length_derivative"),
    "interpolation": ("cubic_weights",),
    "lanczos": ("gauss_quadrature", "lanczos", "lanczos_apply"),
    "linear_models": ("least_squares_gradient", "least_squares_value", "logistic_gradient", "logistic_value"),
    "monte_carlo": ("score_function_gradients",),
    "normals": ("normals",),
    "nystrom": ("nystrom_factor",),
    "probes": ("rademacher",),
    "random_features": ("feature_gram", "feature_products", "feature_scores"),
    "scaled_cholesky": ("cholesky_solve", "explained_variances", "inverse_half_powers", "scaled_cholesky"),
    "softmax": ("softmax_derivative", "softmax_loss"),
    "spectral_bounds": ("spectral_bounds",),
    "thresholding": ("soft_threshold",),
    "toeplitz": ("toeplitz_product",),
    "topics": ("topic_counts", "topic_derivatives", "topic_log_likelihood", "topic_predictive"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""


@hookimpl
def register_kernels(register: RegisterKernel) -> None:
    """Add the kernels of the core."""
    for file, names in KERNELS.items():
        for name in names:
            register(f"benchfw.kernels.{file}:{name}", f"benchfw.kernels.{file}:sample_{name}")
