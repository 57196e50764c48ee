"""Correlated topics by proximal gradients, document by document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from benchfw import Count, Range, Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.learning import expectation_maximization
from benchfw_variational.topics.proximal import Proximal, Shape


@dataclass(frozen=True)
class CTMProximalGradient:
    """Variational EM for correlated topics, with proximal-gradient steps until each document has converged.

    30 steps of size 1 that leave out the words' part of the curvature, then 40 of size 0.1 with all of it,
    negative eigenvalues clipped. An answer is given once a pass.
    """

    batch: Count | None = None
    """Documents after which θ is computed anew; all, if not given."""
    samples: Annotated[int, Range(least=2, multiple_of=2)] = 10
    """Samples of an expectation, in antithetic pairs."""
    covariance: Shape = "full"
    """Shape of V: "full" or "diagonal"."""

    solves: ClassVar[type] = TopicModel

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Proximal(self.covariance, self.samples), self.batch)
