"""Cholesky factors of matrices that should be positive definite, and what is read from them."""

from __future__ import annotations

import numpy as np

from benchfw import Array
from benchfw.kernels import namespace


def cholesky(matrix: Array) -> Array:
    """Return the lower factor; on every backend one that is not finite where no factor exists."""
    xp = namespace(matrix)
    try:
        return xp.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:  # which CuPy does not raise: there NaN comes by itself
        return xp.full_like(matrix, xp.nan)


def log_determinant(lower: Array) -> float:
    """Return log|LL'|."""
    xp = namespace(lower)
    return 2 * float(xp.sum(xp.log(xp.linalg.diagonal(lower))))
