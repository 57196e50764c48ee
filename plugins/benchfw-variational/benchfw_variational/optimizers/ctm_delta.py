"""Correlated topics by the delta method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Count, Positive, Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.delta import Delta
from benchfw_variational.topics.learning import expectation_maximization


@dataclass(frozen=True)
class CTMDelta:
    """Variational EM for correlated topics, with the delta method (Wang & Blei 2013).

    The expected log-sum-exp is taken to second order around the mean of q. An answer is given once a pass.
    """

    batch: Count | None = None
    """Documents after which θ is computed anew; all, if not given."""
    tolerance: Positive = 1e-4
    """A search ends when no entry moves by more."""
    iterations: Count = 200
    """The most steps of a search."""

    solves: ClassVar[type] = TopicModel

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Delta(self.tolerance, self.iterations), self.batch)
