"""The Gaussian covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array
from benchfw.kernels import gaussian_gram
from benchfw_kernelmachines.oracles import Distance


@dataclass(frozen=True)
class Gaussian:
    """k = exp(-|x - y|² / (2 length²)); frequencies are normal. Rahimi & Recht 2007."""

    length: float

    name: ClassVar[str] = "gaussian"
    distance: ClassVar[Distance] = "euclidean"
    isotropic: ClassVar[bool] = True

    def gram(self, left: Array, right: Array) -> Array:
        """Return k(x_i - y_j), (n, m), for rows (n, d) and (m, d)."""
        return gaussian_gram(left, right, self.length)

    def num_normals(self, dimension: int) -> int:
        """Return the dimension: a normal a coordinate."""
        return dimension

    def frequencies(self, normals: Array) -> Array:
        """Return frequencies, (d, F), made of standard normals, (d, F)."""
        return normals / float(self.length)
