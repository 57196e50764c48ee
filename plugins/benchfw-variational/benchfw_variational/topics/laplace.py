"""The Laplace approximation of a document's posterior."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array, Rng
from benchfw_variational.kernels.topics import topic_counts, topic_derivatives
from benchfw_variational.topic_oracles import Block, Gaussians, Topics
from benchfw_variational.topics.gaussians import prior_slope
from benchfw_variational.topics.newton import climb, first_means, newton_step


@dataclass(frozen=True)
class Laplace:
    """q = N(m, H⁻¹) at a mode m of p(z | y), with H = Σ⁻¹ + W(diag p - pp'), p = softmax(m).

    H takes the topics of the words, φ_n ∝ β_n∘e^m, as known. Wang & Blei 2013.
    """

    tolerance: float = 1e-4
    iterations: int = 200

    def infer(self, block: Block, topics: Topics, rng: Rng, start: Array | None = None) -> Gaussians:
        """Return q of each document."""
        backend, rows = topics.backend, topics.words[block.words]

        def derivatives(mean: Array, chosen: Array | slice) -> tuple[Array, Array]:
            counts = block.counts[chosen]
            gradient, curvature = topic_derivatives(mean[:, None, :], rows[chosen], counts, words=False)
            return gradient + prior_slope(mean, topics), curvature + topics.precision

        mean = climb(
            backend,
            first_means(block, topics, start),
            lambda mean, chosen: newton_step(backend, *derivatives(mean, chosen)),
            self.tolerance,
            self.iterations,
        )
        return Gaussians(mean, backend.xp.linalg.inv(derivatives(mean, slice(None))[1]))

    def assign(self, found: Gaussians, block: Block, topics: Topics, rng: Rng) -> Array:
        """Return y_n φ_n at the mean, (D, N, K)."""
        return assign_at_mean(found, block, topics)


def assign_at_mean(found: Gaussians, block: Block, topics: Topics) -> Array:
    """Return y_n φ_n with φ_n ∝ β_n∘e^m, (D, N, K)."""
    return topic_counts(found.mean[:, None, :], topics.words[block.words], block.counts)
