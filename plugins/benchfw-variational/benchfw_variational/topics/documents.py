"""Ragged documents, and blocks of them of one length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, Backend
from benchfw_variational.topic_oracles import Block, Rows

LARGEST = 64  # documents in a block: few enough for the cache, many enough to hide Python


class Documents:
    """Word counts in compressed rows; behind the last cell stands an empty one, which fills up blocks."""

    def __init__(
        self, backend: Backend, words: NDArray[Any], counts: NDArray[Any], starts: NDArray[Any]
    ) -> None:
        self.backend = backend
        self.num_cells = len(counts) + 1
        self.num_tokens = float(counts.sum())
        self._starts = starts.astype(np.int64)
        self._lengths = np.diff(self._starts)
        self._words = backend.asarray(np.append(words.astype(np.int64), 0))
        self._counts = backend.asarray(np.append(counts.astype(np.float64), 0.0))

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def not_empty(self) -> Rows:
        """The numbers of the documents that have words."""
        return np.flatnonzero(self._lengths)

    def block(self, rows: Rows) -> Block:
        """Return these documents as one block."""
        offsets = np.arange(self._lengths[rows].max(initial=0))
        inside = offsets < self._lengths[rows, None]
        places = np.where(inside, self._starts[rows, None] + offsets, self.num_cells - 1)
        cells = self.backend.asarray(places)
        return Block(cells, self._words[cells], self._counts[cells])

    def blocks(self, rows: Rows | None = None, largest: int = LARGEST) -> Iterator[tuple[Rows, Block]]:
        """Yield these documents, or all, in blocks of similar length, with their numbers."""
        rows = np.arange(len(self)) if rows is None else rows
        rows = rows[np.argsort(self._lengths[rows], kind="stable")]
        for first in range(0, len(rows), largest):
            chosen = rows[first : first + largest]
            yield chosen, self.block(chosen)

    def word_counts(self, num_words: int) -> Array:
        """Return how often each word occurs, (V,)."""
        return self.backend.xp.bincount(self._words, weights=self._counts, minlength=num_words)


def compressed_rows(
    backend: Backend, words: NDArray[Any], counts: NDArray[Any], starts: NDArray[Any], rows: Rows
) -> Documents:
    """Return some rows of a matrix of counts in compressed rows, without its zeros."""
    pieces = [np.arange(starts[row], starts[row + 1]) for row in rows]
    kept = [piece[counts[piece] > 0] for piece in pieces]
    cells = np.concatenate([*kept, np.arange(0)])
    ends = np.cumsum([0, *(len(piece) for piece in kept)])
    return Documents(backend, words[cells], counts[cells], ends)
