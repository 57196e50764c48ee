"""A prior whose covariance is stored whole."""

from __future__ import annotations

from functools import cached_property

from benchfw import Array, BenchfwError
from benchfw.kernels import cholesky_solve, explained_variances, namespace, scaled_cholesky
from benchfw_variational.cholesky import cholesky, log_determinant

JITTER_LIMIT = 1e-3  # of the largest variance: with more the prior would be another one


class DensePrior:
    """z ~ N(0, K + jitter I), K (n, n).

    The jitter grows by powers of ten until a Cholesky factor exists, which `caveats` then reports.
    """

    def __init__(self, gram: Array, jitter: float = 0.0) -> None:
        self.gram, self.cholesky, added = _positive_definite(gram, jitter)
        self.size: int = gram.shape[0]
        self.diagonal = namespace(gram).linalg.diagonal(self.gram)
        self.caveats: tuple[str, ...] = ()
        if added != jitter:
            self.caveats = (
                f"the covariance was not positive definite with a jitter of {jitter:g}; {added:g} was added",
            )

    @cached_property
    def precision(self) -> Array:
        """K⁻¹, (n, n)."""
        return cholesky_solve(self.cholesky, namespace(self.gram).eye(self.size))

    def matmat(self, block: Array) -> Array:
        """Return K block for (n,) or (n, k)."""
        return self.gram @ block

    def columns(self, rows: Array) -> Array:
        """Return columns of K, (n, B)."""
        return self.gram[rows].T  # K = K', and rows lie together in memory

    def factor(self, scales: Array) -> DenseFactor:
        """Return B = I + (s s')∘K, factored."""
        return DenseFactor(self.gram, scales)


class DenseFactor:
    """B = I + (s s')∘K by Cholesky."""

    def __init__(self, gram: Array, scales: Array) -> None:
        self._gram = gram
        self._scales = scales
        self._lower = scaled_cholesky(gram, scales)

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of B."""
        return log_determinant(self._lower)

    def solve(self, block: Array) -> Array:
        """Return B⁻¹ block for (n,) or (n, k)."""
        columns = block if block.ndim == 2 else block[:, None]
        return cholesky_solve(self._lower, columns).reshape(block.shape)

    def variances(self, rows: Array | None = None) -> Array:
        """Return k_ii - |L⁻¹(s∘k_i)|² at these rows, or at all of them."""
        xp = namespace(self._gram)
        prior = xp.linalg.diagonal(self._gram)
        columns = self._gram
        if rows is not None:
            prior, columns = prior[rows], self._gram[rows].T
        # what rounding leaves of k_ii is not a variance, and may be negative
        least = float(xp.finfo(prior.dtype).eps) * prior
        return xp.maximum(prior - explained_variances(columns, self._scales, self._lower), least)


def _positive_definite(gram: Array, jitter: float) -> tuple[Array, Array, float]:
    """Return K + jitter I, its lower Cholesky factor, and the jitter that it took."""
    xp = namespace(gram)
    scale = float(xp.max(xp.abs(xp.linalg.diagonal(gram))))
    added = jitter
    while True:
        matrix = gram + added * xp.eye(gram.shape[0])
        lower = cholesky(matrix)
        if bool(xp.all(xp.isfinite(xp.linalg.diagonal(lower)))):
            return matrix, lower, added
        more = 10 * added or 1e-10 * scale
        if not 0 < more <= JITTER_LIMIT * scale:
            raise BenchfwError(
                f"the covariance of the prior is not positive definite, even with {added:.1g} added to its "
                "diagonal; check that its entries are finite, or take a larger jitter or a shorter length"
            )
        added = more
