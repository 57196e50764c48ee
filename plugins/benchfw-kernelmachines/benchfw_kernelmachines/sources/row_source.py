"""What every source of training rows offers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeAlias

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Rng, get_backend
from benchfw.data import Table

SAMPLED = 10_000
"""How many rows of a set that is not in memory stand for all of them where something is fitted."""
SAMPLE_STREAM = 0x73616D706C65  # "sample": no other use of a seed shares its numbers

Prepare: TypeAlias = Callable[[Table], Table]
"""Rows as stored, on the host -> rows (n, d) float32 and labels (n,), on the backend."""


class RowSource(Protocol):
    """Training rows: as stored, until `prepared` has said what to make of them."""

    @property
    def num_samples(self) -> int:
        """How many rows there are."""
        ...

    @property
    def targets(self) -> np.ndarray:
        """Labels as stored, (n,): all of them, or those of the sample of a stream."""
        ...

    def sample(self) -> Table:
        """Return rows, as stored, on which to fit what is to be learned of the features."""
        ...

    def prepared(self, prepare: Prepare) -> RowSource:
        """Return the source whose batches and rows are prepared."""
        ...

    def some(self, count: int) -> Table:
        """Return at most `count` rows from all over the set, or the first of a stream: always the same."""
        ...

    def take(self, numbers: Array) -> Table:
        """Return the rows of these numbers; BenchfwError where rows are a stream."""
        ...

    def batches(self, rng: Rng, size: int) -> Iterator[Table]:
        """Yield batches of `size` rows without end."""
        ...


def sample_numbers(population: int, count: int) -> np.ndarray:
    """Return `count` different numbers below `population`, or all, sorted: (count,), the same every time."""
    if count >= population:
        return np.arange(population)
    rng = Rng(get_backend("numpy"), 0, SAMPLE_STREAM)
    return np.sort(rng.choice(population, size=count, replace=False))


def check_batch(size: int, num_samples: int) -> None:
    """Raise BenchfwError where there is no batch of this size."""
    if not 1 <= size <= num_samples:
        raise BenchfwError(f"batch must be 1 to {num_samples}, the number of training rows, got {size}")
