"""What the core itself registers, through the same hooks as any plugin: its kernels and its tuners.

They are named, not imported: listing what there is should not cost the import of NumPy.
"""

from __future__ import annotations

from benchfw.hookspecs import Register, hookimpl
from benchfw.loading import make_kernel_registrar

KERNELS = {
    "blocks": ("add_scaled", "column_dots", "squares_and_dots"),
    "cholesky": ("cholesky_solve", "explained_variances", "inverse_half_powers", "scaled_cholesky"),
    "gram": ("gaussian_gram", "gaussian_gram_length_derivative"),
    "random": ("normals", "rademacher"),
    "updates": ("dense_product",),
}
"""The kernels by their file; `sample_NAME` beside each makes arguments of a given size."""

TUNERS = {
    "grid": "Grid",
    "random": "Random",
    "sobol": "Sobol",
}
"""The tuners by name, with their classes in benchfw.tuning.tuners."""


@hookimpl
def register_tuners(register: Register) -> None:
    for name, kind in TUNERS.items():
        register(name, f"benchfw.tuning.tuners:{kind}")


register_kernels = hookimpl(make_kernel_registrar("benchfw", KERNELS))
