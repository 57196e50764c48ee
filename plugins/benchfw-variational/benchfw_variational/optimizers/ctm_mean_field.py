"""Correlated topics by mean-field inference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.learning import check_batch, expectation_maximization
from benchfw_variational.topics.mean_field import MeanField


@dataclass(frozen=True)
class CTMMeanField:
    """Variational EM for correlated topics, with mean-field inference (Blei & Lafferty 2007).

    V is diagonal, and the expected log-sum-exp is bounded by Jensen's inequality. Parameters as for
    ctm-laplace.
    """

    batch: int | None = None
    tolerance: float = 1e-4
    iterations: int = 200

    solves: ClassVar[type] = TopicModel

    def __post_init__(self) -> None:
        check_batch(self.batch)
        MeanField(self.tolerance, self.iterations)

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, MeanField(self.tolerance, self.iterations), self.batch)
