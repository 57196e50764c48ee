"""PG-SVI for correlated topics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from benchfw import Count, Log, Positive, Range, Rng
from benchfw_variational.topic_oracles import Gaussians, Rows, TopicAnswer, TopicModel, Topics
from benchfw_variational.topics.learning import Statistics, batches
from benchfw_variational.topics.proximal import (
    Precise,
    Proximal,
    Shape,
    antithetic,
    idle_steps,
    precise_prior,
    proximal_step,
)


@dataclass(frozen=True)
class CTMProximalSVI:
    """PG-SVI for correlated topics (Khan et al. 2016, §7.2), V full: steps of size β on mini-batches.

    q of documents outside of the batch falls back towards the prior by r = 1/(1 + β), which is made up for
    when they are seen again. θ follows each batch; an answer is given once a pass, and infers q of new
    documents as ctm-pg does. The defaults are the paper's, larger batches with larger steps only faster.
    """

    step: Positive = 0.001
    """β; what counts is step n/batch."""
    batch: Count = 2
    """Documents an iteration; their likelihood counts n/batch times."""
    samples: Annotated[int, Range(least=2, multiple_of=2)] = 10
    """Samples of an expectation, in antithetic pairs."""
    rough: Annotated[int, Range(least=0)] = 5
    """Passes that leave out the words' part of the curvature; later its negative eigenvalues are clipped."""

    covariance: ClassVar[Shape] = "full"
    solves: ClassVar[type] = TopicModel
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-5, 0.1)}

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        topics = problem.start()
        inference = Proximal(self.covariance, self.samples)
        statistics = Statistics(problem, topics)
        visits = Visits.none(topics, problem.num_documents, self.step, self.covariance)
        passes = 0
        while True:
            yield _answer(topics, inference, visits)
            for chosen in batches(problem, rng, self.batch):
                weight = problem.num_documents / len(chosen)
                for rows, block in problem.read(chosen):
                    normals = antithetic(rng, len(rows), self.samples, len(topics.mean))
                    found = proximal_step(
                        visits.now(rows, topics),
                        topics.words[block.words],
                        block.counts,
                        topics,
                        normals,
                        self.step,
                        passes >= self.rough,
                        self.covariance,
                        weight,
                    )
                    visits.place(rows, found)
                    if problem.learned:
                        seen = found.gaussians(problem.backend)
                        statistics.place(rows, seen)
                        statistics.count(rows, block, inference.assign(seen, block, topics, rng))
                visits.iteration += 1
                if problem.learned:
                    topics = statistics.topics()
            passes += 1


@dataclass(frozen=True)
class CTMProximalSVIMeanField(CTMProximalSVI):
    """PG-SVI for correlated topics (Khan et al. 2016, §7.2), V diagonal."""

    covariance: ClassVar[Shape] = "diagonal"


@dataclass
class Visits:
    """q of all documents as each visit left it, and when that was."""

    found: Precise
    after: Rows  # iterations until then, (n,)
    iteration: int
    step: float
    covariance: Shape

    @classmethod
    def none(cls, topics: Topics, count: int, step: float, covariance: Shape) -> Visits:
        """Return the prior for all documents, before the first iteration."""
        return cls(precise_prior(topics, count, covariance), np.zeros(count, np.int64), 0, step, covariance)

    def place(self, rows: Rows, found: Precise) -> None:
        """Take q of some documents that the iteration under way has visited."""
        self.found.mean[rows], self.found.precision[rows] = found
        self.after[rows] = self.iteration + 1

    def now(self, rows: Rows | slice, topics: Topics) -> Precise:
        """Return q of some documents, after the iterations that did not visit them."""
        found = Precise(*(each[rows] for each in self.found))
        return idle_steps(found, topics, self.step, self.iteration - self.after[rows], self.covariance)

    def copy(self) -> Visits:
        """Return what later visits leave as it is."""
        found = Precise(*(each.copy() for each in self.found))
        return Visits(found, self.after.copy(), self.iteration, self.step, self.covariance)


def _answer(topics: Topics, inference: Proximal, visits: Visits) -> TopicAnswer:
    kept = visits.copy()

    def posteriors() -> Gaussians:
        return kept.now(slice(None), topics).gaussians(topics.backend)

    return TopicAnswer(topics, inference, posteriors)
