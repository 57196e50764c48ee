"""Pure array functions with a body per backend, and the operators that they take as matrices.

`benchfw.core_plugin` registers the kernels by name: listing them should not cost the import of NumPy.
"""

from benchfw.backends.threads import default_threads, over_pieces, useful_threads
from benchfw.kernels._kernel import Kernel, kernel, namespace
from benchfw.kernels.blocks import add_scaled, column_dots, squares_and_dots, well_conditioned
from benchfw.kernels.cholesky import (
    cholesky_solve,
    explained_variances,
    inverse_half_powers,
    scaled_cholesky,
)
from benchfw.kernels.gram import gaussian_gram, gaussian_gram_length_derivative
from benchfw.kernels.margins import logistic_loss, logistic_slope
from benchfw.kernels.operators import (
    Counted,
    DenseOperator,
    MatrixFree,
    Operator,
    Order,
    SparseOperator,
    Whole,
    add_product,
    as_operator,
    new_update,
    shifted,
    update_and_dots,
)
from benchfw.kernels.random import normals, rademacher
from benchfw.kernels.transfers import growing_arrays, read_later
from benchfw.kernels.updates import dense_product

__all__ = [
    "Counted",
    "DenseOperator",
    "Kernel",
    "MatrixFree",
    "Operator",
    "Order",
    "SparseOperator",
    "Whole",
    "add_product",
    "add_scaled",
    "as_operator",
    "cholesky_solve",
    "column_dots",
    "default_threads",
    "dense_product",
    "explained_variances",
    "gaussian_gram",
    "gaussian_gram_length_derivative",
    "growing_arrays",
    "inverse_half_powers",
    "kernel",
    "logistic_loss",
    "logistic_slope",
    "namespace",
    "new_update",
    "normals",
    "over_pieces",
    "rademacher",
    "read_later",
    "scaled_cholesky",
    "shifted",
    "squares_and_dots",
    "update_and_dots",
    "useful_threads",
    "well_conditioned",
]
