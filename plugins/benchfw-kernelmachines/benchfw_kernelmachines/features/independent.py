"""Frequencies drawn independently."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from benchfw.backends import Backend, Rng
from benchfw_kernelmachines.oracles import Array, Covariance


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
        rng = Rng(self.backend, self.seed, self.stream, number)
        shape = (self.covariance.num_normals(self.dimension), self.count)
        return self.covariance.frequencies(rng.standard_normal(shape, np.float32))
