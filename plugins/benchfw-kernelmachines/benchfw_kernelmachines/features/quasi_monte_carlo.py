"""Frequencies from points that fill the cube more evenly than random ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw import Array, BenchfwError
from benchfw.backends import Backend
from benchfw_kernelmachines.oracles import Covariance

BITS = 30  # of a coordinate of a Sobol point


@dataclass(frozen=True)
class QuasiMonteCarloFrequencies:
    """Frequencies from scrambled Sobol points, made on the host. Avron et al. 2016.

    Every block is scrambled on its own: each of its points is uniform, and the block unbiased.
    """

    backend: Backend
    covariance: Covariance
    dimension: int
    count: int
    seed: int
    stream: int

    kind: ClassVar[str] = "quasi-monte-carlo"

    def __post_init__(self) -> None:
        from scipy.stats.qmc import Sobol

        if self.covariance.num_normals(self.dimension) > Sobol.MAXDIM:
            raise BenchfwError(
                f"quasi-monte-carlo frequencies in {self.dimension:,} dimensions need Sobol points of more "
                f"than {Sobol.MAXDIM:,}; take independent ones, or reduce the rows by components"
            )

    def block(self, number: int) -> Array:
        """Return the frequencies of block `number`, (d, F) float32."""
        from scipy.special import ndtri
        from scipy.stats.qmc import Sobol

        scrambling = np.random.default_rng([self.seed, self.stream, number])
        sobol = Sobol(self.covariance.num_normals(self.dimension), bits=BITS, seed=scrambling)
        points = sobol.random_base2((self.count - 1).bit_length())[: self.count]
        # half a step further no point is 0, whose normal is infinite
        normals = ndtri(points.T + 0.5 ** (BITS + 1)).astype(np.float32)
        return self.backend.asarray(self.covariance.frequencies(normals))

    def blocks(self, numbers: Sequence[int]) -> Array:
        """Return those of several blocks side by side, (d, F len(numbers))."""
        return self.backend.xp.concatenate([self.block(number) for number in numbers], axis=1)
