"""Proximal-gradient inference: the expectations themselves, by Monte Carlo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from benchfw import Array, Backend, Rng
from benchfw_variational.kernels.topics import topic_counts, topic_derivatives
from benchfw_variational.topic_oracles import Block, Gaussians, Rows, Topics
from benchfw_variational.topics.gaussians import prior_slope, repeated, samples, solve, transpose

Shape: TypeAlias = Literal["full", "diagonal"]

ROUGH, FINE = 1.0, 0.1  # step sizes β of the two stages


class Precise(NamedTuple):
    """q of some documents: mean (D, K) and precision Λ = V⁻¹, (D, K, K)."""

    mean: Array
    precision: Array

    def gaussians(self, backend: Backend) -> Gaussians:
        """Return q by its covariance."""
        return Gaussians(self.mean, backend.xp.linalg.inv(self.precision))


@dataclass(frozen=True)
class Proximal:
    """q = N(m, Λ⁻¹), Λ full or diagonal, by proximal-gradient steps in KL divergence.

    The curvature G of the likelihood is often indefinite, and steps with it as it is diverge. So the first
    `rough` steps, of size β = 1, leave out the part of G that comes from the words, and the `fine` ones, of
    size 0.1, clip its negative eigenvalues. Expectations are means over antithetic normals, new in each step.
    """

    covariance: Shape = "full"
    samples: int = 10
    rough: int = 30
    fine: int = 40

    def infer(self, block: Block, topics: Topics, rng: Rng, start: Array | None = None) -> Gaussians:
        """Return q of each document; the steps begin at the prior, whatever `start` is."""
        rows = topics.words[block.words]
        count, _, size = rows.shape
        found = precise_prior(topics, count, self.covariance)
        for step, words in [(ROUGH, False)] * self.rough + [(FINE, True)] * self.fine:
            normals = antithetic(rng, count, self.samples, size)
            found = proximal_step(found, rows, block.counts, topics, normals, step, words, self.covariance)
        return found.gaussians(topics.backend)

    def assign(self, found: Gaussians, block: Block, topics: Topics, rng: Rng) -> Array:
        """Return y_n E[φ_n], (D, N, K)."""
        count, size = found.mean.shape
        drawn = samples(topics.backend, found, antithetic(rng, count, self.samples, size))
        return topic_counts(drawn, topics.words[block.words], block.counts)


def proximal_step(
    found: Precise,
    rows: Array,
    counts: Array,
    topics: Topics,
    normals: Array,
    step: float,
    words: bool,
    covariance: Shape = "full",
    weight: float = 1.0,
) -> Precise:
    """Return q after one step of size β = `step`, r = 1/(1 + β), the likelihood counted `weight` times.

    Λ ← rΛ + (1-r)(Σ⁻¹ + weight G), then m ← m + (1-r)Λ⁻¹(weight g - Σ⁻¹(m - μ)); a diagonal Λ takes the
    diagonals of Σ⁻¹ and G. Negative eigenvalues of G are clipped. Khan et al. 2016, eq. (9) with split (37).
    """
    backend = topics.backend
    factors = backend.xp.linalg.cholesky(found.precision)
    offsets = transpose(backend.xp.linalg.solve(transpose(factors), transpose(normals)))
    gradient, curvature = topic_derivatives(found.mean[:, None, :] + offsets, rows, counts, words)
    curvature = restricted(backend, curvature, covariance)
    if words:  # else it has none
        curvature = positive_part(backend, curvature)
    change = step / (1 + step)
    target = restricted(backend, topics.precision, covariance) + weight * curvature
    precision = found.precision + change * (target - found.precision)
    slope = weight * gradient + prior_slope(found.mean, topics)
    return Precise(found.mean + change * solve(backend, precision, slope), precision)


def idle_steps(
    found: Precise, topics: Topics, step: float, idle: Rows, covariance: Shape = "full"
) -> Precise:
    """Return q after so many steps of size β without likelihood, a number for each document, (D,).

    Λ ← r^jΛ + (1-r^j)Σ⁻¹ and Λm ← r^jΛm + (1-r^j)Σ⁻¹μ are j of them at once. A diagonal Λ takes the diagonal
    of Σ⁻¹, and its mean, each entry of which is drawn by the others too, goes one step after the other.
    """
    backend = topics.backend
    change = backend.asarray(-np.expm1(-idle * np.log1p(step)))  # 1 - r^j
    target = restricted(backend, topics.precision, covariance)
    precision = found.precision + change[:, None, None] * (target - found.precision)
    if covariance == "diagonal":
        return Precise(_idle_means(found, topics, step, idle), precision)
    move = solve(backend, precision, prior_slope(found.mean, topics))
    return Precise(found.mean + change[:, None] * move, precision)


def _idle_means(found: Precise, topics: Topics, step: float, idle: Rows) -> Array:
    """Return the means after idle steps whose precisions are diagonal, (D, K)."""
    rate = step / (1 + step)
    mean, target = found.mean, topics.precision.diagonal()
    precision = found.precision.diagonal(axis1=1, axis2=2)
    for number in range(1, int(idle.max(initial=0)) + 1):
        precision = precision + rate * (target - precision)
        moves = topics.backend.asarray(idle >= number)[:, None]
        mean = mean + moves * (rate * prior_slope(mean, topics) / precision)
    return mean


def precise_prior(topics: Topics, count: int, covariance: Shape) -> Precise:
    """Return N(μ, Σ) for each of `count` documents, or the diagonal Gaussian that is nearest to it."""
    precision = restricted(topics.backend, topics.precision, covariance)
    return Precise(repeated(topics.backend, topics.mean, count), repeated(topics.backend, precision, count))


def antithetic(rng: Rng, documents: int, samples: int, topics: int) -> Array:
    """Return standard normals (D, S, K), the second half of S being minus the first."""
    half = rng.standard_normal((documents, samples // 2, topics))
    return rng.backend.xp.concatenate([half, -half], axis=1)


def restricted(backend: Backend, matrices: Array, covariance: Shape) -> Array:
    """Return the matrices, or their diagonals alone."""
    return matrices if covariance == "full" else matrices * backend.xp.eye(matrices.shape[-1])


def positive_part(backend: Backend, matrices: Array) -> Array:
    """Return symmetric matrices with their negative eigenvalues set to 0."""
    values, vectors = backend.xp.linalg.eigh(matrices)
    return (vectors * values.clip(0)[:, None, :]) @ transpose(vectors)
