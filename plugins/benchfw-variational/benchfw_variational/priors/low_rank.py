"""A prior whose covariance is of low rank."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from benchfw import Array
from benchfw.kernels import cholesky_solve, explained_variances, namespace
from benchfw_variational.cholesky import cholesky, log_determinant
from benchfw_variational.oracles import Factor
from benchfw_variational.priors.dense import DenseFactor

AT_A_TIME = 1 << 16  # entries of X that are scaled at once: X itself may be all that memory holds


class LowRankPrior:
    """z ~ N(0, XX'), X (n, D): z = Xw with standard normal w.

    Beside X it keeps O(n + D²); the dual, an (n, n) gram matrix, is used where n <= D.
    """

    def __init__(self, features: Array) -> None:
        self.features = features
        self.size: int = features.shape[0]
        self.diagonal = namespace(features).vecdot(features, features)

    def matmat(self, block: Array) -> Array:
        """Return K block for (n,) or (n, k)."""
        return self.features @ (self.features.T @ block)

    def columns(self, rows: Array) -> Array:
        """Return columns of K, (n, B)."""
        return self.features @ self.features[rows].T

    def factor(self, scales: Array) -> Factor:
        """Return B = I + (s s')∘K, factored."""
        if self.size <= self.features.shape[1]:
            return DenseFactor(self._gram, scales)
        return WoodburyFactor(self, scales)

    @cached_property
    def _gram(self) -> Array:
        return self.features @ self.features.T


class WoodburyFactor:
    """B = I + (s s')∘(XX') by the posterior of the weights w, N(·, P⁻¹), P = I + X'diag(s²)X."""

    def __init__(self, prior: LowRankPrior, scales: Array) -> None:
        xp = namespace(scales)
        self._features = prior.features
        self._scales = scales
        precision = xp.eye(prior.features.shape[1])
        for rows, block in _row_blocks(prior.features):
            precision += block.T @ (block * scales[rows, None] ** 2)
        # scales that are finite and huge may leave nothing of I, and a P that is indefinite by rounding
        self._lower = cholesky(precision)

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of B."""
        return log_determinant(self._lower)

    def solve(self, block: Array) -> Array:
        """Return B⁻¹ block for (n,) or (n, k)."""
        scales = self._scales if block.ndim == 1 else self._scales[:, None]
        weights = self._features.T @ (scales * block)
        columns = weights if weights.ndim == 2 else weights[:, None]
        weights = cholesky_solve(self._lower, columns).reshape(weights.shape)
        return block - scales * (self._features @ weights)

    def variances(self, rows: Array | None = None) -> Array:
        """Return V_ii = x_i'P⁻¹x_i at these rows, or at all of them: a sum of squares."""
        xp = namespace(self._scales)
        features = self._features if rows is None else self._features[rows]
        ones = xp.ones(features.shape[1])
        return xp.concat(
            [explained_variances(block.T, ones, self._lower) for _, block in _row_blocks(features)]
        )


def _row_blocks(matrix: Array) -> Iterator[tuple[slice, Array]]:
    """Yield some rows after the other, and where they stand."""
    count = max(1, AT_A_TIME // max(1, matrix.shape[1]))
    for start in range(0, max(1, matrix.shape[0]), count):
        rows = slice(start, start + count)
        yield rows, matrix[rows]
