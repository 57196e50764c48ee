"""Correlated topics by the Laplace approximation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Rng
from benchfw_variational.topic_oracles import TopicAnswer, TopicModel
from benchfw_variational.topics.laplace import Laplace
from benchfw_variational.topics.learning import check_batch, expectation_maximization


@dataclass(frozen=True)
class CTMLaplace:
    """Variational EM for correlated topics, with the Laplace approximation (Wang & Blei 2013).

    q is a Gaussian at the mode of each document's posterior, found by Newton steps until no entry moves by
    `tolerance`, at most `iterations` of them. θ is computed anew after each `batch` of documents, or once a
    pass; an answer is given once a pass.
    """

    batch: int | None = None
    tolerance: float = 1e-4
    iterations: int = 200

    solves: ClassVar[type] = TopicModel

    def __post_init__(self) -> None:
        check_batch(self.batch)
        Laplace(self.tolerance, self.iterations)

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Laplace(self.tolerance, self.iterations), self.batch)
