"""Frequencies drawn independently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw import Array
from benchfw.backends import Backend, Rng
from benchfw_kernelmachines.oracles import Covariance


@dataclass(frozen=True)
class IndependentFrequencies:
    """Blocks of `count` independent frequencies; equal bits on every backend. Rahimi & Recht 2007."""

    backend: Backend
    covariance: Covariance
    dimension: int
    count: int
    seed: int
    stream: int

    kind: ClassVar[str] = "independent"

    def block(self, number: int) -> Array:
        """Return the frequencies of block `number`, (d, F) float32."""
        return self._successive(number, 1)

    def blocks(self, numbers: Sequence[int]) -> Array:
        """Return those of several blocks side by side; the numbers of a run are drawn together."""
        runs = [self._successive(first, count) for first, count in _runs(numbers)]
        return runs[0] if len(runs) == 1 else self.backend.xp.concatenate(runs, axis=1)

    def _successive(self, first: int, blocks: int) -> Array:
        rng = Rng(self.backend, self.seed, self.stream, first)
        shape = (self.covariance.num_normals(self.dimension), self.count)
        normals = rng.standard_normals(blocks, shape, np.float32)
        # of one block this is a view
        side_by_side = normals.swapaxes(0, 1).reshape(shape[0], blocks * self.count)
        return self.covariance.frequencies(side_by_side)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the first number and the length of each run of successive numbers."""
    if isinstance(numbers, range) and numbers.step == 1:
        yield numbers.start, len(numbers)
        return
    start = 0
    for place in range(1, len(numbers) + 1):
        if place == len(numbers) or numbers[place] != numbers[place - 1] + 1:
            yield numbers[start], place - start
            start = place
