"""Correlated topics by the delta method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.delta import Delta
from benchfw_variational.topics.learning import check_batch, expectation_maximization


@dataclass(frozen=True)
class CTMDelta:
    """Variational EM for correlated topics, with the delta method (Wang & Blei 2013).

    The expected log-sum-exp is taken to second order around the mean of q. Parameters as for ctm-laplace.
    """

    batch: int | None = None
    tolerance: float = 1e-4
    iterations: int = 200

    solves: ClassVar[type] = TopicModel

    def __post_init__(self) -> None:
        check_batch(self.batch)
        Delta(self.tolerance, self.iterations)

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Delta(self.tolerance, self.iterations), self.batch)
