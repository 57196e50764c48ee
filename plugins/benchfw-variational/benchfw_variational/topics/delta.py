"""The delta method: log-sum-exp to second order around the mean."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array, Backend, Rng
from benchfw_variational.kernels.topics import topic_derivatives
from benchfw_variational.topic_oracles import Block, Gaussians, Topics
from benchfw_variational.topics.gaussians import prior_slope
from benchfw_variational.topics.laplace import assign_at_mean
from benchfw_variational.topics.newton import climb, first_means, newton_step, softmax


@dataclass(frozen=True)
class Delta:
    """q = N(m, V), with log Σ e^m + ½ tr((diag p - pp')V) in place of E log Σ e^z, p = softmax(m).

    V = (Σ⁻¹ + W(diag p - pp'))⁻¹ as for Laplace, but m feels the trace too. Wang & Blei 2013.
    For documents of a few words the two may chase each other until `iterations` end.
    """

    tolerance: float = 1e-4
    iterations: int = 200

    def infer(self, block: Block, topics: Topics, rng: Rng, start: Array | None = None) -> Gaussians:
        """Return q of each document."""
        backend, rows = topics.backend, topics.words[block.words]

        def derivatives(mean: Array, chosen: Array | slice) -> tuple[Array, Array, Array]:
            counts = block.counts[chosen]
            gradient, curvature = topic_derivatives(mean[:, None, :], rows[chosen], counts, words=False)
            curvature = curvature + topics.precision
            covariance = backend.xp.linalg.inv(curvature)
            trace = counts.sum(axis=1)[:, None] * trace_slope(backend, mean, covariance)
            return gradient - trace / 2 + prior_slope(mean, topics), curvature, covariance

        mean = climb(
            backend,
            first_means(block, topics, start),
            lambda mean, chosen: newton_step(backend, *derivatives(mean, chosen)[:2]),
            self.tolerance,
            self.iterations,
        )
        return Gaussians(mean, derivatives(mean, slice(None))[2])

    def assign(self, found: Gaussians, block: Block, topics: Topics, rng: Rng) -> Array:
        """Return y_n φ_n at the mean, (D, N, K)."""
        return assign_at_mean(found, block, topics)


def trace_slope(backend: Backend, mean: Array, covariance: Array) -> Array:
    """Return the gradient in m of tr((diag p - pp')V), p = softmax(m), V held fixed: (D, K)."""
    shares = softmax(backend.xp, mean)
    pull = covariance.diagonal(axis1=1, axis2=2) - 2 * (covariance @ shares[:, :, None])[:, :, 0]
    return shares * (pull - (shares * pull).sum(axis=1)[:, None])
