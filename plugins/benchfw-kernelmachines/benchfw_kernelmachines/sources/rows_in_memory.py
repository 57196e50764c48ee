"""Training rows held in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from benchfw import Array
from benchfw.backends import Rng
from benchfw.data import Table
from benchfw.kernels import namespace
from benchfw_kernelmachines.sources.row_source import Prepare, check_batch, sample_numbers

AT_A_TIME = 4096  # rows; whole, a set of bytes would be four times as large in float32


@dataclass(frozen=True)
class RowsInMemory:
    """Features (n, …) and labels (n,): as stored, on the host, or prepared, on the backend."""

    table: Table

    @property
    def num_samples(self) -> int:
        """How many rows there are."""
        return int(self.table.targets.shape[0])

    @property
    def targets(self) -> np.ndarray:
        """All labels."""
        return self.table.targets

    def sample(self) -> Table:
        """Return all rows."""
        return self.table

    def prepared(self, prepare: Prepare) -> RowsInMemory:
        """Return the rows prepared once and for all."""
        pieces = [
            prepare(self._slice(slice(at, at + AT_A_TIME))) for at in range(0, self.num_samples, AT_A_TIME)
        ]
        xp = namespace(pieces[0].features)
        return RowsInMemory(Table(*(xp.concat(part) for part in zip(*pieces, strict=True))))

    def head(self, count: int) -> RowsInMemory:
        """Return the source of the first rows alone."""
        return RowsInMemory(self._slice(slice(count)))

    def some(self, count: int) -> Table:
        """Return at most `count` rows from all over the set, always the same."""
        return self.take(sample_numbers(self.num_samples, count))

    def take(self, numbers: Array) -> Table:
        """Return the rows of these numbers."""
        # on a GPU a third of the time of the same by brackets
        return Table(*(namespace(part).take(part, numbers, axis=0) for part in self.table))

    def _slice(self, rows: slice) -> Table:
        return Table(self.table.features[rows], self.table.targets[rows])

    def batches(self, rng: Rng, size: int) -> Iterator[Table]:
        """Yield batches of different rows, every set of rows as probable as every other."""
        check_batch(size, self.num_samples)
        while True:
            yield self.take(rng.choice(self.num_samples, size=size, replace=False))
