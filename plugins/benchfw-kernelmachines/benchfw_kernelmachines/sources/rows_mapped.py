"""Training rows that stay in their file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from benchfw import Array
from benchfw.backends import Backend, Rng
from benchfw.data import Table
from benchfw_kernelmachines.sources.row_source import SAMPLED, Prepare, check_batch, sample_numbers

AT_A_TIME = 1024  # rows; reading one may bring in 64 KB around it


@dataclass(frozen=True)
class RowsMapped:
    """Rows `places` of a memory-mapped array (N, …), all of them where there is no such list; labels (n,)."""

    backend: Backend
    features: np.memmap
    targets: np.ndarray
    places: np.ndarray | None = None
    prepare: Prepare | None = None

    @property
    def num_samples(self) -> int:
        """How many rows there are."""
        return len(self.targets)

    def sample(self) -> Table:
        """Return 10,000 rows from all over the file."""
        return self.some(SAMPLED)

    def prepared(self, prepare: Prepare) -> RowsMapped:
        """Return the source whose rows are prepared as they are read."""
        return replace(self, prepare=prepare)

    def head(self, count: int) -> RowsMapped:
        """Return the source of the first rows alone."""
        return replace(self, targets=self.targets[:count])

    def some(self, count: int) -> Table:
        """Return at most `count` rows from all over the file, always the same."""
        return self.take(sample_numbers(self.num_samples, count))

    def take(self, numbers: Array) -> Table:
        """Return the rows of these numbers."""
        numbers = self.backend.to_numpy(numbers)
        places = numbers if self.places is None else self.places[numbers]
        table = Table(_gathered(self.features, places), self.targets[numbers])
        return table if self.prepare is None else self.prepare(table)

    def batches(self, rng: Rng, size: int) -> Iterator[Table]:
        """Yield batches of different rows, every set as probable as every other, in the order of the file."""
        check_batch(size, self.num_samples)
        while True:
            numbers = rng.choice(self.num_samples, size=size, replace=False)
            yield self.take(np.sort(self.backend.to_numpy(numbers)))


def _gathered(mapped: np.memmap, places: np.ndarray) -> np.ndarray:
    """Return rows of a mapped array, (k, …).

    Pages once read count as memory of this process until their map is closed, so that each few rows get a
    map of their own.
    """
    rows = np.empty((len(places), *mapped.shape[1:]), mapped.dtype)
    order: Literal["C", "F"] = "C" if mapped.flags.c_contiguous else "F"
    for first in range(0, len(places), AT_A_TIME):
        part = slice(first, first + AT_A_TIME)
        fresh = np.memmap(str(mapped.filename), mapped.dtype, "r", mapped.offset, mapped.shape, order)
        rows[part] = fresh[places[part]]
    return rows
