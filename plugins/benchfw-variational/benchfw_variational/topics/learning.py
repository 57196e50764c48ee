"""Variational EM: expected counts and moments of all documents, and θ from them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchfw import Array, Rng
from benchfw_variational.topic_oracles import (
    Block,
    Gaussians,
    Inference,
    Rows,
    TopicAnswer,
    TopicModel,
    Topics,
)
from benchfw_variational.topics.gaussians import prior

PSEUDO_COUNT = 0.01  # of each word in each topic


class Statistics:
    """What θ is computed from; a document that is visited again replaces its part. Neal & Hinton 1998.

    Documents not visited yet stand at the prior of the start, and count as many tokens, spread as its β says.
    """

    def __init__(self, problem: TopicModel, topics: Topics) -> None:
        self._backend = problem.backend
        self._posteriors = prior(topics, problem.num_documents)
        self._unseen = np.ones(problem.num_documents, dtype=bool)
        self._start = topics.words * (problem.num_tokens / problem.num_documents / len(topics.mean))
        self._counts = problem.backend.xp.zeros(topics.words.shape)
        self._assigned = problem.backend.xp.zeros((problem.num_cells, len(topics.mean)))

    def place(self, rows: Rows, found: Gaussians) -> None:
        """Take q of some documents in place of what they had."""
        self._posteriors.mean[rows], self._posteriors.covariance[rows] = found

    def count(self, rows: Rows, block: Block, assigned: Array) -> None:
        """Take the expected counts (D, N, K) of some documents in place of those they had."""
        self._backend.xp.add.at(self._counts, block.words, assigned - self._assigned[block.cells])
        self._assigned[block.cells] = assigned
        self._unseen[rows] = False

    def means(self, rows: Rows) -> Array:
        """Return the means of q of some documents, (D, K)."""
        return self._posteriors.mean[rows]

    def posteriors(self) -> Gaussians:
        """Return q of all documents, as it is now."""
        return Gaussians(*(each.copy() for each in self._posteriors))

    def topics(self) -> Topics:
        """Return θ: β from the expected counts, μ and Σ from the moments of q."""
        counts = self._counts + (PSEUDO_COUNT + np.count_nonzero(self._unseen) * self._start)
        means, covariances = self._posteriors
        mean = means.mean(axis=0)
        away = means - mean
        covariance = covariances.mean(axis=0) + away.T @ away / len(away)
        return Topics(self._backend, counts / counts.sum(axis=0), mean, covariance)


def expectation_maximization(
    problem: TopicModel, rng: Rng, inference: Inference, batch: int | None
) -> Iterator[TopicAnswer]:
    """Yield the start, then an answer a pass; where θ is known, a single pass is all.

    θ is recomputed after each batch. A document is inferred from the mean it had.
    """
    topics = problem.start()
    statistics = Statistics(problem, topics)
    yield _answer(topics, inference, statistics)
    while True:
        for chosen in batches(problem, rng, batch):
            for rows, block in problem.read(chosen):
                found = inference.infer(block, topics, rng, statistics.means(rows))
                statistics.place(rows, found)
                if problem.learned:
                    statistics.count(rows, block, inference.assign(found, block, topics, rng))
            if problem.learned:
                topics = statistics.topics()
        yield _answer(topics, inference, statistics)
        if not problem.learned:
            return


def _answer(topics: Topics, inference: Inference, statistics: Statistics) -> TopicAnswer:
    found = statistics.posteriors()
    return TopicAnswer(topics, inference, lambda: found)


def batches(problem: TopicModel, rng: Rng, size: int | None) -> Iterator[Rows]:
    """Yield all documents in random order, `size` at a time, or all at once."""
    order = problem.backend.to_numpy(rng.permutation(problem.num_documents))
    size = size or len(order)
    for first in range(0, len(order), size):
        yield order[first : first + size]
