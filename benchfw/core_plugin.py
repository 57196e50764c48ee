"""What the core itself registers, through the same hooks as any plugin: its kernels.

They are named, not imported: listing what there is should not cost the import of NumPy.
"""

from __future__ import annotations

from benchfw.hookspecs import hookimpl
from benchfw.loading import make_kernel_registrar

KERNELS = {
    "blocks": ("add_scaled", "column_dots", "squares_and_dots"),
    "cholesky": ("cholesky_solve", "explained_variances", "inverse_half_powers", "scaled_cholesky"),
    "conjugate_gradients": ("conjugate_gradients",),
    "gram": ("gaussian_gram", "gaussian_gram_length_derivative"),
    "lanczos": ("gauss_quadrature", "lanczos", "lanczos_apply"),
    "random": ("normals", "rademacher"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""

register_kernels = hookimpl(make_kernel_registrar("benchfw", KERNELS))
