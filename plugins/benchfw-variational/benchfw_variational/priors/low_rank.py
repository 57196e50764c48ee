"""A prior whose covariance is of low rank, plus a multiple of the identity."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from benchfw import Array, BenchfwError
from benchfw.kernels import cholesky_solve, explained_variances, namespace
from benchfw_variational.cholesky import cholesky, log_determinant
from benchfw_variational.oracles import Factor
from benchfw_variational.priors.dense import DenseFactor

AT_A_TIME = 1 << 16  # entries of X that are scaled at once: X itself may be all that memory holds


class LowRankPrior:
    """z ~ N(0, XX' + noise I), X (n, D): z = Xw + e with standard normal w and e of variance `noise`.

    Beside X it keeps O(n + D²); the dual, an (n, n) gram matrix, is used where n <= D.
    """

    def __init__(self, features: Array, noise: float = 0.0) -> None:
        if not noise >= 0:
            raise BenchfwError(f"the noise of a low-rank prior is a variance, not {noise:g}; give 0 or more")
        self.features = features
        self.noise = noise
        self.size: int = features.shape[0]
        self.diagonal = noise + namespace(features).vecdot(features, features)
        self.caveats: tuple[str, ...] = ()

    def matmat(self, block: Array) -> Array:
        """Return K block for (n,) or (n, k)."""
        product = self.features @ (self.features.T @ block)
        return product + self.noise * block if self.noise else product

    def columns(self, rows: Array) -> Array:
        """Return columns of K, (n, B)."""
        columns = self.features @ self.features[rows].T
        columns[rows, namespace(columns).arange(len(rows))] += self.noise
        return columns

    def factor(self, scales: Array) -> Factor:
        """Return B = I + (s s')∘K, factored."""
        if self.size <= self.features.shape[1]:
            return DenseFactor(self._gram, scales)
        return WoodburyFactor(self, scales)

    @cached_property
    def _gram(self) -> Array:
        return self.features @ self.features.T + self.noise * namespace(self.features).eye(self.size)


class WoodburyFactor:
    """B = I + (s s')∘(XX' + δI) by the posterior of the weights w, N(·, P⁻¹), P = I + X'TX.

    T = diag(s² / (1 + δs²)): what an example says of its x'w, with e integrated out.
    """

    def __init__(self, prior: LowRankPrior, scales: Array) -> None:
        xp = namespace(scales)
        self._features = prior.features
        self._noise = prior.noise
        self._scales = scales
        self._spread = 1 + prior.noise * scales**2
        precision = xp.eye(prior.features.shape[1])
        for rows, block in _row_blocks(prior.features):
            precision += block.T @ (block * (scales[rows] ** 2 / self._spread[rows])[:, None])
        # scales that are finite and huge may leave nothing of I, and a P that is indefinite by rounding
        self._lower = cholesky(precision)

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of B."""
        return log_determinant(self._lower) + float(namespace(self._spread).log(self._spread).sum())

    def solve(self, block: Array) -> Array:
        """Return B⁻¹ block for (n,) or (n, k)."""
        scales, spread = (
            (each if block.ndim == 1 else each[:, None]) for each in (self._scales, self._spread)
        )
        rest = block / spread
        weights = self._features.T @ (scales * rest)
        columns = weights if weights.ndim == 2 else weights[:, None]
        weights = cholesky_solve(self._lower, columns).reshape(weights.shape)
        return rest - scales / spread * (self._features @ weights)

    def variances(self, rows: Array | None = None) -> Array:
        """Return V_ii at these rows, or at all of them: a sum of positive terms.

        Given w, z_i has the mean x_i'w / (1 + δs_i²) and the variance δ / (1 + δs_i²).
        """
        xp = namespace(self._scales)
        features, spread = self._features, self._spread
        if rows is not None:
            features, spread = features[rows], spread[rows]
        ones = xp.ones(features.shape[1])
        parts = [
            explained_variances(block.T, ones, self._lower) / spread[each] ** 2
            for each, block in _row_blocks(features)
        ]
        return xp.concat(parts) + self._noise / spread


def _row_blocks(matrix: Array) -> Iterator[tuple[slice, Array]]:
    """Yield some rows after the other, and where they stand."""
    count = max(1, AT_A_TIME // max(1, matrix.shape[1]))
    for start in range(0, max(1, matrix.shape[0]), count):
        rows = slice(start, start + count)
        yield rows, matrix[rows]
