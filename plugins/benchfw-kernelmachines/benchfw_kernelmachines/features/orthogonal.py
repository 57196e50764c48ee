"""Frequencies orthogonal to each other, as many at a time as there are coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Backend, get_backend
from benchfw_kernelmachines.features.independent import IndependentFrequencies
from benchfw_kernelmachines.oracles import Covariance


@dataclass(frozen=True)
class OrthogonalFrequencies:
    """Independent frequencies that keep their lengths and get orthogonal directions. Yu et al. 2016.

    Made on the host: a factorization would not give the same bits on every backend.
    """

    backend: Backend
    covariance: Covariance
    dimension: int
    count: int
    seed: int
    stream: int

    kind: ClassVar[str] = "orthogonal"

    def __post_init__(self) -> None:
        if not getattr(self.covariance, "isotropic", False):
            raise BenchfwError(
                "orthogonal frequencies need a covariance of Euclidean distances, "
                f"and {self.covariance.name} is not one; take gaussian or matern, or independent frequencies"
            )

    def block(self, number: int) -> Array:
        """Return the frequencies of block `number`, (d, F) float32."""
        independent = IndependentFrequencies(
            get_backend("numpy"), self.covariance, self.dimension, self.count, self.seed, self.stream
        )
        block = independent.block(number).astype(np.float64)
        for first in range(0, self.count, self.dimension):
            some = block[:, first : first + self.dimension]
            # Q depends on directions alone, so that lengths stay independent of it; its signs do not matter,
            # for cosines are even
            some[...] = np.linalg.qr(some).Q * np.linalg.norm(some, axis=0)
        return self.backend.asarray(block.astype(np.float32))

    def blocks(self, numbers: Sequence[int]) -> Array:
        """Return those of several blocks side by side, (d, F len(numbers))."""
        return self.backend.xp.concatenate([self.block(number) for number in numbers], axis=1)
