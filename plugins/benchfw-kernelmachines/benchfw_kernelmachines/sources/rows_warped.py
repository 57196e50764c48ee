"""Training rows that are warped pictures, made on the backend by their number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Backend, Rng
from benchfw.data import Table, load
from benchfw_datasets.synthetic.warps import WarpedPictures
from benchfw_kernelmachines.sources.row_source import SAMPLED, Prepare, check_batch


@dataclass(frozen=True)
class RowsWarped:
    """The first `num_samples` rows of an endless set of warped pictures, in its order, pass after pass."""

    backend: Backend
    pictures: WarpedPictures
    num_samples: int
    head: Table  # its first rows, as stored, on the host
    prepare: Prepare | None = None

    @classmethod
    def opened(cls, backend: Backend, settings: Mapping[str, Any], count: int) -> RowsWarped:
        """Return the source, after a look at its first 10,000 rows."""
        arrays = load(str(settings["source"]))
        pictures = WarpedPictures(backend, arrays["x_train"], arrays["y_train"], int(settings["seed"]))
        features, targets = pictures.rows(0, min(count, SAMPLED))
        return cls(backend, pictures, count, Table(backend.to_numpy(features), targets))

    @property
    def targets(self) -> np.ndarray:
        """The labels of the first 10,000 rows."""
        return self.head.targets

    def sample(self) -> Table:
        """Return the first 10,000 rows."""
        return self.head

    def prepared(self, prepare: Prepare) -> RowsWarped:
        """Return the source whose rows are prepared as they are made."""
        return replace(self, prepare=prepare)

    def some(self, count: int) -> Table:
        """Return the first rows, at most `count`."""
        return self._made(0, min(count, self.num_samples))

    def take(self, numbers: Array) -> Table:
        """Refuse: rows are made in runs."""
        raise BenchfwError(
            "warped pictures are made as they are read and none is kept; "
            "take fewer of them, with rows = 50000 or less, or a method that reads batches"
        )

    def batches(self, rng: Rng, size: int) -> Iterator[Table]:
        """Yield the next rows, from any one of them, drawn at random, on.

        What is left at the end of a pass, less than a batch, is passed over.
        """
        check_batch(size, self.num_samples)
        start = int(rng.integers(self.num_samples))
        while True:
            for first in range(start, self.num_samples - size + 1, size):
                yield self._made(first, first + size)
            start = 0

    def _made(self, start: int, stop: int) -> Table:
        table = Table(*self.pictures.rows(start, stop))
        return table if self.prepare is None else self.prepare(table)
