"""The Laplace covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.covariances.row_tiles import by_rows
from benchfw_kernelmachines.oracles import Distance

SMALLEST = 2.0**-24  # a normal may be rounded to 0, once in millions


@dataclass(frozen=True)
class Laplace:
    """k = exp(-|x - y|₁ / length); the coordinates of frequencies are Cauchy. Rahimi & Recht 2007."""

    length: float

    name: ClassVar[str] = "laplace"
    distance: ClassVar[Distance] = "cityblock"
    isotropic: ClassVar[bool] = False

    def gram(self, left: Array, right: Array) -> Array:
        """Return k(x_i - y_j), (n, m), for rows (n, d) and (m, d)."""
        xp, length = namespace(left, right), float(self.length)

        def gram(rows: Array) -> Array:
            return xp.exp(xp.sum(xp.abs(rows[:, None, :] - right[None, :, :]), axis=2) / -length)

        return by_rows(gram, left, right.size)

    def num_normals(self, dimension: int) -> int:
        """Return twice the dimension: a coordinate is a ratio of normals."""
        return 2 * dimension

    def frequencies(self, normals: Array) -> Array:
        """Return frequencies, (d, F), made of standard normals, (2d, F)."""
        xp, dimension = namespace(normals), normals.shape[0] // 2
        above, below = normals[:dimension, :], xp.abs(normals[dimension:, :])
        return above / xp.maximum(below, SMALLEST) / float(self.length)
