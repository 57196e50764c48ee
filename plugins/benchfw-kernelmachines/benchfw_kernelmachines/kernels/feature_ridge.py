"""Ridge regression on random features by normal equations, in the memory of one gram matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchfw.kernels import cholesky_solve, kernel, namespace
from benchfw_kernelmachines.kernels.random_features import (
    OUTPUTS,
    feature_gram,
    feature_products,
    sample_feature_gram,
    tiles,
)
from benchfw_kernelmachines.kernels.waves import ROWS, waves


@kernel("feature-ridge")
def feature_ridge(
    frequencies: Any, batches: Iterable[tuple[Any, Any]], ridge: float, tensor_cores: bool = True
) -> Any:
    """Return (Φ'Φ + ridge I)⁻¹ Φ'Y, (2, F, C), for frequencies (d, F).

    Batches are rows (n, d) and targets (n, C), one at least, and are looked at once. Where the matrix is not
    positive definite to rounding, LinAlgError of the array library is raised.
    """
    xp = namespace(frequencies)
    gram: Any = 0.0
    right: Any = 0.0
    for rows, targets in batches:
        gram = gram + feature_gram(rows, frequencies, tensor_cores)
        right = right + feature_products(rows, frequencies, targets, tensor_cores)
    factor = xp.linalg.cholesky(gram + ridge * xp.eye(gram.shape[0], dtype=gram.dtype))
    flat = xp.reshape(right, (gram.shape[0], right.shape[2]))
    return xp.reshape(cholesky_solve(factor, flat), right.shape)


@feature_ridge.on("numpy")
def _feature_ridge_numpy(
    frequencies: Any, batches: Iterable[tuple[Any, Any]], ridge: float, tensor_cores: bool = True
) -> Any:
    del tensor_cores
    from scipy.linalg import get_blas_funcs, get_lapack_funcs

    width = 2 * frequencies.shape[1]
    # half of it is used: sums and factor are written in place, where the portable body has three such arrays
    gram = np.zeros((width, width), dtype=frequencies.dtype, order="F")
    blas: Any = get_blas_funcs(("syrk",), (gram,))
    lapack: Any = get_lapack_funcs(("potrf", "potrs"), (gram,))
    (syrk,), (potrf, potrs) = blas, lapack
    right: Any = 0.0
    for rows, targets in batches:
        right = right + np.zeros((width, targets.shape[1]), dtype=gram.dtype)  # also if there are no rows
        for tile in tiles(rows, ROWS):
            features = np.concatenate(waves(rows[tile] @ frequencies), axis=1)
            gram = syrk(1.0, features.T, 1.0, gram, lower=True, overwrite_c=True)
            right += features.T @ targets[tile]
    gram[np.arange(width), np.arange(width)] += ridge
    factor, fault = potrf(gram, lower=True, overwrite_a=True, clean=False)
    if fault:
        raise np.linalg.LinAlgError(f"the minor of order {fault} is not positive definite")
    solution, _ = potrs(factor, right, lower=True)
    return solution.reshape(2, width // 2, -1)


def sample_feature_ridge(backend: Any, rng: Any, size: int) -> tuple[Any, ...]:
    """Return 16 frequencies, two batches of rows of 8 coordinates, about `size` numbers, and a ridge."""
    rows, frequencies = sample_feature_gram(backend, rng, size)
    targets = rng.standard_normal((rows.shape[0], OUTPUTS))
    half = rows.shape[0] // 2
    batches = [(rows[half:, :], targets[half:, :])]
    if half:
        batches.append((rows[:half, :], targets[:half, :]))
    return frequencies, batches, 1.0 + rows.shape[0]
