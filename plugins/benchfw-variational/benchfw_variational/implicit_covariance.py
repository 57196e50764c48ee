"""The covariance V = (K⁻¹ + diag γ)⁻¹ that proximal-gradient steps move, never formed.

Both classes are the state of such a method: γ decays, γ grows on a batch, and in between V is asked for the
variances of a batch and for K⁻¹V g.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.kernels import (
    cholesky_solve,
    explained_variances,
    inverse_half_powers,
    namespace,
    scaled_cholesky,
)
from benchfw_variational.oracles import Factor, Prior
from benchfw_variational.priors.dense import DenseFactor, DensePrior

TOLERANCE = 1e-12  # of reused factors, relative to the prior variances


class ImplicitCovariance:
    """V by a factor of B = I + SKS, S² = diag γ, found anew whenever γ has changed."""

    def __init__(self, prior: Prior, precisions: Array) -> None:
        self.precisions = precisions
        self._prior = prior
        self._factor: Factor | None = None

    def decay(self, keep: float) -> None:
        """Replace γ by keep γ."""
        self.precisions = keep * self.precisions
        self._factor = None

    def add(self, rows: Array, increments: Array) -> None:
        """Add increments >= 0, (B,), to γ in different rows, (B,)."""
        self.precisions = _increased(self.precisions, rows, increments)
        self._factor = None

    def variances(self, rows: Array | None = None) -> Array:
        """Return V_ii at these rows, or at all of them."""
        return self._factored().variances(rows)

    def precondition(self, gradient: Array) -> Array:
        """Return K⁻¹V g = (I - SB⁻¹SK) g, (n,)."""
        scales = self.precisions**0.5
        return gradient - scales * self._factored().solve(scales * self._prior.matmat(gradient))

    def _factored(self) -> Factor:
        if self._factor is None:
            self._factor = self._prior.factor(self.precisions**0.5)
        return self._factor


class ReusedCovariance:
    """The same V by the factor of B₀, B at an earlier γ₀, found anew after `refactor` batches only.

    Since then γ = cγ₀ + δ, with δ on the rows of the last batches. U = (K⁻¹ + diag cγ₀)⁻¹ is
    K - KS₀f(B₀⁻¹)S₀K, where f(x) = x / (1 + θx), θ = (1-c)/c, is x times a polynomial of few terms on [0, 1];
    and from U to V it is as from a prior to a posterior of the latent values of the last batches alone. With
    P terms a batch takes some P B n² operations, in triangular solves, where a factor takes n³/3. Where the
    step changes, the factor is found anew.
    """

    def __init__(self, prior: Prior, precisions: Array, refactor: int) -> None:
        if not isinstance(prior, DensePrior):
            raise BenchfwError("refactor above 1 needs a prior whose covariance is stored whole; give 1")
        self.precisions = precisions
        self._gram = prior.gram
        self._terms, self._keep = 1, 1.0
        self._refactor = refactor
        self._restart()

    def _restart(self) -> None:
        xp = namespace(self._gram)
        self._scales = self.precisions**0.5
        self._lower = scaled_cholesky(self._gram, self._scales)
        self._kept = 1.0
        self._rows = xp.zeros(0, dtype=xp.int64)
        self._increments = xp.zeros(0)
        self._powers: list[Array] = []
        self._moments = xp.zeros((self._terms, 0, 0))
        self._seen: _Seen | None = None

    def decay(self, keep: float) -> None:
        """Replace γ by keep γ."""
        if keep != self._keep:
            self._keep, self._terms = keep, _terms_for(keep**-self._refactor - 1)
            self._restart()
        self.precisions = keep * self.precisions
        self._increments = keep * self._increments
        self._kept *= keep

    def add(self, rows: Array, increments: Array) -> None:
        """Add increments >= 0, (B,), to γ in different rows, (B,)."""
        self.precisions = _increased(self.precisions, rows, increments)
        if len(self._powers) + 1 == self._refactor:
            self._restart()
            return
        xp = namespace(self._gram)
        seen = self._look_at(rows)
        above = xp.concat([self._moments, seen.cross], axis=2)
        below = xp.concat([xp.matrix_transpose(seen.cross), seen.own], axis=2)
        self._moments = xp.concat([above, below], axis=1)
        self._powers.append(seen.powers)
        self._rows = xp.concat([self._rows, rows])
        self._increments = xp.concat([self._increments, increments])
        self._seen = None  # it knows nothing of the newest rows

    def variances(self, rows: Array | None = None) -> Array:
        """Return V_ii at these rows, or at all of them, which takes a factor of its own."""
        if rows is None:
            return DenseFactor(self._gram, self.precisions**0.5).variances()
        xp = namespace(self._gram)
        seen = self._look_at(rows)
        weights = self._weights()
        prior = xp.linalg.diagonal(self._gram)[rows]
        variances = prior - weights @ xp.linalg.diagonal(seen.own[: len(weights)])
        if self._powers:
            covariances = self._gram[self._rows][:, rows] - _weighted(weights, seen.cross)
            variances = variances - explained_variances(covariances, *self._recent(weights))
        return xp.maximum(variances, float(xp.finfo(prior.dtype).eps) * prior)

    def precondition(self, gradient: Array) -> Array:
        """Return K⁻¹V g, (n,)."""
        xp = namespace(self._gram)
        weights = self._weights()
        image = self._gram @ gradient
        if self._powers:
            powers = inverse_half_powers((self._scales * image)[:, None], self._lower, len(weights))
            marginal = image[self._rows] - _weighted(weights, self._against(powers))[:, 0]
            scales, lower = self._recent(weights)
            moved = scales * cholesky_solve(lower, (scales * marginal)[:, None])[:, 0]
            image = image - moved @ self._gram[self._rows]
            # a row may be in two batches
            gradient = gradient - xp.bincount(self._rows, weights=moved, minlength=len(gradient))
        powers = inverse_half_powers((self._scales * image)[:, None], self._lower, 2 * len(weights))
        return gradient - self._scales * _weighted(weights, powers[1::2])[:, 0]

    def _look_at(self, rows: Array) -> _Seen:
        if self._seen is None or self._seen.rows is not rows:
            xp = namespace(self._gram)
            columns = self._scales[:, None] * self._gram[rows].T
            powers = inverse_half_powers(columns, self._lower, self._terms)
            own = xp.matrix_transpose(powers) @ powers
            self._seen = _Seen(rows, powers, self._against(powers), own)
        return self._seen

    def _against(self, powers: Array) -> Array:
        """Return the moments of the recent rows with other half powers (p, n, k): (p, T, k)."""
        xp = namespace(powers)
        found = [xp.matrix_transpose(each[: len(powers)]) @ powers for each in self._powers]
        return xp.concat([powers[:, :0, :], *found], axis=1)

    def _recent(self, weights: Array) -> tuple[Array, Array]:
        """Return √δ of the recent rows, (T,), and the factor of I + √δ U √δ over them, (T, T)."""
        covariance = self._gram[self._rows][:, self._rows] - _weighted(weights, self._moments)
        scales = self._increments**0.5
        return scales, scaled_cholesky(covariance, scales)

    def _weights(self) -> Array:
        """Return the coefficients of the polynomial that is 1 / (1 + θx) at Chebyshev points of [0, 1]."""
        theta = 1 / self._kept - 1
        terms = _terms_for(theta)
        points = (1 + np.cos((np.arange(terms) + 0.5) * np.pi / terms)) / 2
        coefficients = np.linalg.solve(np.vander(points, increasing=True), 1 / (1 + theta * points))
        return namespace(self._gram).asarray(coefficients)


class _Seen(NamedTuple):
    """Rows (B,), half powers of their columns (P, n, B), moments with recent rows (P, T, B) and own."""

    rows: Array
    powers: Array
    cross: Array
    own: Array


def _terms_for(theta: float) -> int:
    """Return how many terms make 1 / (1 + θx) good to the tolerance on [0, 1]: each gains a factor of 4/θ."""
    if not theta < 1:
        raise BenchfwError("the step is too large to reuse a factor: take a smaller one, or refactor = 1")
    return 1 if theta < TOLERANCE else int(np.ceil(np.log(TOLERANCE / 2) / np.log(theta / 4)))


def _weighted(weights: Array, stack: Array) -> Array:
    """Return the sum of the first matrices of a stack (P, …), weighted by (p,), p <= P."""
    return namespace(stack).tensordot(weights, stack[: len(weights)], axes=1)


def _increased(precisions: Array, rows: Array, increments: Array) -> Array:
    precisions = precisions.copy()
    precisions[rows] += increments
    return precisions
