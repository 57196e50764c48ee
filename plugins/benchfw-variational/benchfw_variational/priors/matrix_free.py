"""A prior of whose covariance only products are known."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from benchfw import Array
from benchfw.kernels import MatrixFree, column_dots, conjugate_gradients, gauss_quadrature, lanczos, namespace

TOLERANCE = 1e-10
ITERATIONS = 10_000
LANCZOS_STEPS = 50
AT_A_TIME = 64  # columns that are solved for at once


class MatrixFreePrior:
    """z ~ N(0, K) by the product K block, (n, k) -> (n, k), and the diagonal of K: O(n) memory beside K's.

    `probes`, (n, p) random signs that stay the same from one factor to the next, give log-determinants by
    Lanczos quadrature, with a standard error; without them these are NaN.
    """

    def __init__(
        self, product: Callable[[Array], Array], diagonal: Array, probes: Array | None = None
    ) -> None:
        self._product = product
        self.diagonal = diagonal
        self.probes = probes
        self.size: int = diagonal.shape[0]
        self.caveats: tuple[str, ...] = ()

    def matmat(self, block: Array) -> Array:
        """Return K block for (n,) or (n, k)."""
        return self._product(block) if block.ndim == 2 else self._product(block[:, None])[:, 0]

    def columns(self, rows: Array) -> Array:
        """Return columns of K, (n, B)."""
        xp = namespace(self.diagonal)
        units = xp.zeros((self.size, len(rows)))
        units[rows, xp.arange(len(rows))] = 1.0
        return self._product(units)

    def factor(self, scales: Array) -> IterativeFactor:
        """Return B = I + (s s')∘K, ready to be solved with."""
        return IterativeFactor(self, scales)


class IterativeFactor:
    """B = I + (s s')∘K by conjugate gradients, to a residual of TOLERANCE."""

    def __init__(self, prior: MatrixFreePrior, scales: Array) -> None:
        self._prior = prior
        self._scales = scales
        self._operator = MatrixFree(self._product, prior.size)

    @property
    def log_determinant(self) -> float:
        """The logarithm of the determinant of B, estimated; NaN without probes."""
        if self._prior.probes is None:
            return math.nan
        xp = namespace(self._scales)
        steps = min(LANCZOS_STEPS, self._prior.size)
        nodes, weights = gauss_quadrature(*lanczos(self._prior.probes, self._operator, steps))
        # no eigenvalue of B is below 1, whatever rounding says
        forms = xp.sum(weights * xp.log(xp.maximum(nodes, xp.ones_like(nodes))), axis=0)
        return float(xp.mean(column_dots(self._prior.probes, self._prior.probes) * forms))

    def solve(self, block: Array) -> Array:
        """Return B⁻¹ block for (n,) or (n, k)."""
        columns = block if block.ndim == 2 else block[:, None]
        return conjugate_gradients(columns, self._operator, TOLERANCE, ITERATIONS).reshape(block.shape)

    def variances(self, rows: Array | None = None) -> Array:
        """Return k_ii - (s∘k_i)'B⁻¹(s∘k_i) at these rows, or at all of them: a solve for each."""
        xp = namespace(self._scales)
        rows = xp.arange(self._prior.size) if rows is None else rows
        prior = self._prior.diagonal[rows]
        explained = xp.concat([self._explained(each) for each in _in_parts(rows)])
        return xp.maximum(prior - explained, float(xp.finfo(prior.dtype).eps) * prior)

    def _explained(self, rows: Array) -> Array:
        columns = self._scales[:, None] * self._prior.columns(rows)
        return column_dots(columns, self.solve(columns))

    def _product(self, block: Array) -> Array:
        scales = self._scales[:, None]
        return block + scales * self._prior.matmat(scales * block)


def _in_parts(rows: Array) -> Iterator[Array]:
    for start in range(0, max(1, len(rows)), AT_A_TIME):
        yield rows[start : start + AT_A_TIME]
