"""Correlated topics by variational EM, with four ways to infer the topics of a document."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

from benchfw import Count, Positive, Range, Rng
from benchfw_variational.topic_oracles import Inference, TopicAnswer, TopicModel
from benchfw_variational.topics.delta import Delta
from benchfw_variational.topics.laplace import Laplace
from benchfw_variational.topics.learning import expectation_maximization
from benchfw_variational.topics.mean_field import MeanField
from benchfw_variational.topics.proximal import Proximal, Shape


@dataclass(frozen=True)
class CTMBySearch:
    """Variational EM for correlated topics, with a search for q of each document until nothing moves."""

    batch: Count | None = None
    """Documents after which θ is recomputed; all, if not given."""
    tolerance: Positive = 1e-4
    """A search ends when no entry moves by more."""
    iterations: Count = 200
    """The most steps of a search."""

    search: ClassVar[Callable[[float, int], Inference]]
    solves: ClassVar[type] = TopicModel

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        inference = type(self).search(self.tolerance, self.iterations)
        return expectation_maximization(problem, rng, inference, self.batch)


@dataclass(frozen=True)
class CTMLaplace(CTMBySearch):
    """Variational EM for correlated topics, with the Laplace approximation (Wang & Blei 2013).

    q is a Gaussian at the mode of each document's posterior, found by Newton steps. An answer is given once a
    pass.
    """

    search = Laplace


@dataclass(frozen=True)
class CTMDelta(CTMBySearch):
    """Variational EM for correlated topics, with the delta method (Wang & Blei 2013).

    The expected log-sum-exp is taken to second order around the mean of q. An answer is given once a pass.
    """

    search = Delta


@dataclass(frozen=True)
class CTMMeanField(CTMBySearch):
    """Variational EM for correlated topics, with mean-field inference (Blei & Lafferty 2007).

    V is diagonal, and the expected log-sum-exp is bounded by Jensen's inequality. An answer is given once a
    pass.
    """

    search = MeanField


@dataclass(frozen=True)
class CTMProximalGradient:
    """Variational EM for correlated topics, with proximal-gradient steps until each document has converged.

    30 steps of size 1 that leave out the words' part of the curvature, then 40 of size 0.1 with all of it,
    negative eigenvalues clipped. An answer is given once a pass.
    """

    batch: Count | None = None
    """Documents after which θ is recomputed; all, if not given."""
    samples: Annotated[int, Range(least=2, multiple_of=2)] = 10
    """Samples of an expectation, in antithetic pairs."""
    covariance: Shape = "full"
    """Shape of V: "full" or "diagonal"."""

    solves: ClassVar[type] = TopicModel

    def run(self, problem: TopicModel, rng: Rng) -> Iterator[TopicAnswer]:
        """Yield the start, then θ and q after each pass."""
        return expectation_maximization(problem, rng, Proximal(self.covariance, self.samples), self.batch)
