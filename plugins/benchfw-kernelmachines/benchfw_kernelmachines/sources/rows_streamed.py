"""Training rows that are made as they are read, and never stored."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Rng
from benchfw.data import Table, batches
from benchfw_kernelmachines.sources.row_source import SAMPLED, Prepare, check_batch

SKIPPED = 10_000
"""How far from its first row a stream may begin; rows that are passed over are made all the same."""


@dataclass(frozen=True)
class RowsStreamed:
    """Rows start … stop-1 of a stream of the data catalog, in its order, pass after pass."""

    dataset: str
    start: int
    stop: int
    head: Table  # its first rows, as they are
    prepare: Prepare | None = None

    @classmethod
    def opened(cls, dataset: str, start: int, stop: int) -> RowsStreamed:
        """Return the source, after a look at its first 10,000 rows."""
        return cls(dataset, start, stop, read_stream(dataset, start, min(stop, start + SAMPLED)))

    @property
    def num_samples(self) -> int:
        """How many rows a pass has."""
        return self.stop - self.start

    @property
    def targets(self) -> np.ndarray:
        """The labels of the first 10,000 rows."""
        return self.head.targets

    def sample(self) -> Table:
        """Return the first 10,000 rows."""
        return self.head

    def prepared(self, prepare: Prepare) -> RowsStreamed:
        """Return the source whose rows are prepared as they are made."""
        return replace(self, prepare=prepare)

    def some(self, count: int) -> Table:
        """Return the first rows, at most `count`."""
        count = min(count, self.num_samples)
        if count <= len(self.head.targets):
            return self._ready(Table(self.head.features[:count], self.head.targets[:count]))
        return self._ready(read_stream(self.dataset, self.start, self.start + count))

    def take(self, numbers: Array) -> Table:
        """Refuse: a stream has no row by number."""
        raise BenchfwError(
            f"the rows of '{self.dataset}' are a stream, which gives no row by its number; "
            "take fewer of them, with rows = 50000 or less, or a method that reads batches"
        )

    def batches(self, rng: Rng, size: int) -> Iterator[Table]:
        """Yield the next rows of the stream, from one of its first 10,000, drawn at random, on.

        What is left at the end of a pass, less than a batch, is passed over.
        """
        check_batch(size, self.num_samples)
        start = self.start + rng.integers(min(SKIPPED, self.num_samples))
        while True:
            for piece in batches(self.dataset, size, ("x", "y"), start=start, stop=self.stop):
                if len(piece["y"]) == size:
                    yield self._ready(Table(piece["x"], piece["y"]))
            start = self.start

    def _ready(self, table: Table) -> Table:
        return table if self.prepare is None else self.prepare(table)


def read_stream(dataset: str, start: int, stop: int) -> Table:
    """Return rows start … stop-1 of a stream, at least one."""
    (piece,) = batches(dataset, stop - start, ("x", "y"), start=start, stop=stop)
    return Table(piece["x"], piece["y"])
