"""Mean-field inference with the bound of Blei & Lafferty."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw import Array, Rng
from benchfw_variational.kernels.topics import topic_counts
from benchfw_variational.topic_oracles import Block, Gaussians, Topics
from benchfw_variational.topics.gaussians import prior_slope
from benchfw_variational.topics.laplace import assign_at_mean
from benchfw_variational.topics.newton import climb, first_means, newton_step, softmax


@dataclass(frozen=True)
class MeanField:
    """q = N(m, diag v), with log Σ e^(m + v/2), which is larger, in place of E log Σ e^z.

    Newton steps in m (topics of words by φ_n ∝ β_n∘e^m, p = softmax(m + v/2)) and in log v take turns, until
    v_i = 1/(Σ⁻¹_ii + W p_i). Blei & Lafferty 2007.
    """

    tolerance: float = 1e-4
    iterations: int = 200

    def infer(self, block: Block, topics: Topics, rng: Rng, start: Array | None = None) -> Gaussians:
        """Return q of each document."""
        backend, xp, size = topics.backend, topics.backend.xp, topics.mean.shape[0]
        rows, own, eye = topics.words[block.words], topics.precision.diagonal(), xp.eye(size)

        def step(state: Array, chosen: Array) -> Array:
            mean, logs = state[:, :size], state[:, size:]
            counts = block.counts[chosen]
            tokens = counts.sum(axis=1)[:, None]
            shares = softmax(xp, mean + xp.exp(logs) / 2)
            assigned = topic_counts(mean[:, None, :], rows[chosen], counts).sum(axis=1)
            gradient = assigned - tokens * shares + prior_slope(mean, topics)
            spread = shares[:, :, None] * (eye - shares[:, None, :])  # diag p - pp'
            move = newton_step(backend, gradient, topics.precision + tokens[:, :, None] * spread)
            return xp.concatenate([move, log_step(tokens, mean + move, logs)], axis=1)

        def log_step(tokens: Array, mean: Array, logs: Array) -> Array:
            """Return a Newton step in log v towards log(v(Σ⁻¹_ii + Wp)) = 0."""
            variance = xp.exp(logs)
            expected = tokens * softmax(xp, mean + variance / 2)
            product = variance * (expected + own)
            # p grows with v, by pv/2 at most; steps that forget it can jump to and fro for ever
            return -xp.log(product) / (1 + expected * variance**2 / (2 * product))

        mean = first_means(block, topics, start)
        begin = xp.concatenate([mean, xp.broadcast_to(-xp.log(own), mean.shape)], axis=1)
        state = climb(backend, begin, step, self.tolerance, self.iterations)
        return Gaussians(state[:, :size], xp.exp(state[:, size:])[:, :, None] * eye)

    def assign(self, found: Gaussians, block: Block, topics: Topics, rng: Rng) -> Array:
        """Return y_n φ_n at the mean, (D, N, K)."""
        return assign_at_mean(found, block, topics)
