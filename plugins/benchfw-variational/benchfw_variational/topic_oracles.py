"""What methods for correlated topics may ask of a problem, and what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, Backend, Problem, Rng

Rows: TypeAlias = NDArray[np.int64]
"""Numbers of documents; on the host, where blocks are laid out."""


@dataclass(frozen=True)
class Topics:
    """The parameters θ of a correlated topic model: z ~ N(μ, Σ), p(word n | z) = Σ_k β_nk softmax(z)_k."""

    backend: Backend
    words: Array  # β, (V, K), all positive; columns add up to 1
    mean: Array  # μ, (K,)
    covariance: Array  # Σ, (K, K)

    @cached_property
    def precision(self) -> Array:
        """Σ⁻¹, (K, K)."""
        return self.backend.xp.linalg.inv(self.covariance)


class Block(NamedTuple):
    """Some documents, filled up to one length with a word of count 0: (D, N) each."""

    cells: Array  # places in the arrays of the whole collection
    words: Array
    counts: Array


class Gaussians(NamedTuple):
    """q(z) of some documents: mean (D, K), covariance (D, K, K)."""

    mean: Array
    covariance: Array


class Inference(Protocol):
    """A way to find q(z) of documents where θ is known: a frozen dataclass."""

    def infer(self, block: Block, topics: Topics, rng: Rng, start: Array | None = None) -> Gaussians:
        """Return q of each document; the search may begin at these means, (D, K)."""
        ...

    def assign(self, found: Gaussians, block: Block, topics: Topics, rng: Rng) -> Array:
        """Return how many occurrences of each word belong to each topic, (D, N, K)."""
        ...


@dataclass(frozen=True)
class TopicAnswer:
    """θ, a way to infer q for new documents, and q of the problem's own documents when asked."""

    topics: Topics
    inference: Inference
    posteriors: Callable[[], Gaussians]


class TopicModel(Problem, Protocol):
    """Documents whose topics are to be learned, or only inferred where θ is known; cost counts documents."""

    num_documents: int
    num_cells: int  # words of all documents, and the empty one that fills up blocks
    num_tokens: float
    learned: bool  # else θ is known, and stays as it is

    def start(self) -> Topics:
        """Return θ to begin with."""
        ...

    def read(self, rows: Rows) -> Iterator[tuple[Rows, Block]]:
        """Yield these documents in blocks of similar length, with their numbers; costs 1 a document."""
        ...
