"""Correlated topics by proximal gradients, document by document."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.learning import check_batch, expectation_maximization
from benchfw_variational.topics.proximal import Proximal, Shape


@dataclass(frozen=True)
class CTMProximalGradient:
    """Variational EM for correlated topics, with proximal-gradient steps until each document has converged.

    30 steps of size 1 that leave out the words' part of the curvature, then 40 of size 0.1 with all of it,
    negative eigenvalues clipped; expectations are means over `samples`. `covariance` is "full" or "diagonal".
    `batch` as for ctm-laplace.
    """

    batch: int | None = None
    samples: int = 10
    covariance: Shape = "full"

    solves: ClassVar[type] = TopicModel

    def __post_init__(self) -> None:
        check_batch(self.batch)
        Proximal(self.covariance, self.samples)

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Proximal(self.covariance, self.samples), self.batch)
