"""What the core itself registers, by the same door as everybody else: its kernels.

They are named, not imported: listing what there is should not cost the import of NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchfw.hookspecs import hookimpl
from benchfw.loading import register_kernel_places

if TYPE_CHECKING:
    from benchfw.hookspecs import RegisterKernel

KERNELS = {
    "blocks": ("add_scaled", "column_dots", "squares_and_dots"),
    "cholesky": ("cholesky_solve", "explained_variances", "inverse_half_powers", "scaled_cholesky"),
    "conjugate_gradients": ("conjugate_gradients",),
    "gram": ("gaussian_gram", "gaussian_gram_length_derivative"),
    "lanczos": ("gauss_quadrature", "lanczos", "lanczos_apply"),
    "random": ("normals", "rademacher"),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""


@hookimpl
def register_kernels(register: RegisterKernel) -> None:
    """Add the kernels of the core."""
    register_kernel_places(register, "benchfw", KERNELS)
