"""The vector w over which λ = (m, L) is Gaussian, and how the latent values follow from it."""

from __future__ import annotations

from typing import Protocol

from benchfw import Array
from benchfw.kernels import explained_variances, namespace
from benchfw_variational.priors.dense import DensePrior

PANEL = 128  # columns; what a panel multiplies in vain is a triangle of so many rows


class Coordinates(Protocol):
    """w ~ N(0, CC') of `dimension` entries, of which the latent values are linear functions."""

    dimension: int

    @property
    def prior_factor(self) -> Array:
        """C, lower triangular, (d, d)."""
        ...

    @property
    def loadings(self) -> Array:
        """W, (n, d): the latent values are Wx for w = Cx."""
        ...

    def whitened_square(self, block: Array) -> float:
        """Return |C⁻¹ block|², for (d, k)."""
        ...

    def latent(self, mean: Array, lower: Array, batch: Array | None) -> tuple[Array, Array]:
        """Return mean and variance, under N(m, LL'), of the latent values of a batch, or of all examples."""
        ...

    def pull_back(
        self, mean: Array, lower: Array, batch: Array, slopes: Array, curvatures: Array
    ) -> tuple[Array, Array]:
        """Return the gradients of Σ slopes m_i + ½ Σ curvatures v_i + ½ |C⁻¹m|² + ½ |C⁻¹L|².

        That in m is (d,), that in L (d, d); what stands above its diagonal is of no account.
        """
        ...


class LatentCoordinates:
    """w are the latent values themselves, C the Cholesky factor of K: O(n³) a gradient."""

    def __init__(self, prior: DensePrior) -> None:
        self.dimension = prior.size
        self._prior = prior

    @property
    def prior_factor(self) -> Array:
        """The lower Cholesky factor of K."""
        return self._prior.cholesky

    @property
    def loadings(self) -> Array:
        """The same."""
        return self._prior.cholesky

    def whitened_square(self, block: Array) -> float:
        """Return |C⁻¹ block|²."""
        ones = namespace(block).ones(self.dimension)
        return float(explained_variances(block, ones, self._prior.cholesky).sum())

    def latent(self, mean: Array, lower: Array, batch: Array | None) -> tuple[Array, Array]:
        """Return entries of m and of the diagonal of LL'."""
        if batch is not None:
            mean, lower = mean[batch], lower[batch]
        return mean, (lower * lower).sum(axis=1)

    def pull_back(
        self, mean: Array, lower: Array, batch: Array, slopes: Array, curvatures: Array
    ) -> tuple[Array, Array]:
        """Return K⁻¹m and K⁻¹L, with the slopes and the curvatures times L added in the rows of the batch."""
        precision = self._prior.precision
        by_mean = precision @ mean
        by_mean[batch] += slopes
        by_lower = namespace(lower).zeros_like(lower)
        # a third of the whole product: rows and columns from the panel's first on are all that it needs
        for first in range(0, self.dimension, PANEL):
            panel = slice(first, first + PANEL)
            by_lower[first:, panel] = precision[first:, first:] @ lower[first:, panel]
        by_lower[batch] += curvatures[:, None] * lower[batch]
        return by_mean, by_lower


class LinearCoordinates:
    """w ~ N(0, s²I) with latent values z = Rw, R (n, d): O(B d²) a gradient.

    R are the features of a linear model, or with s = 1 the Cholesky factor of K: whitened coordinates.
    """

    def __init__(self, rows: Array, deviation: float = 1.0) -> None:
        self.dimension: int = rows.shape[1]
        self._rows = rows
        self._deviation = deviation

    @property
    def prior_factor(self) -> Array:
        """The identity, s times."""
        return self._deviation * namespace(self._rows).eye(self.dimension)

    @property
    def loadings(self) -> Array:
        """Those of independent normals: sR."""
        return self._deviation * self._rows

    def whitened_square(self, block: Array) -> float:
        """Return |block|²/s²."""
        return float((block * block).sum()) / self._deviation**2

    def latent(self, mean: Array, lower: Array, batch: Array | None) -> tuple[Array, Array]:
        """Return Rm and |L'r_i|²."""
        return linear_marginals(self._rows if batch is None else self._rows[batch], mean, lower)

    def pull_back(
        self, mean: Array, lower: Array, batch: Array, slopes: Array, curvatures: Array
    ) -> tuple[Array, Array]:
        """Return R'slopes + m/s² and R'diag(curvatures)RL + L/s²."""
        rows, variance = self._rows[batch], self._deviation**2
        by_lower = rows.T @ (curvatures[:, None] * (rows @ lower))
        return rows.T @ slopes + mean / variance, by_lower + lower / variance


def linear_marginals(rows: Array, mean: Array, lower: Array) -> tuple[Array, Array]:
    """Return mean and variance of x'w for rows x and w ~ N(m, LL')."""
    return rows @ mean, ((rows @ lower) ** 2).sum(axis=1)
