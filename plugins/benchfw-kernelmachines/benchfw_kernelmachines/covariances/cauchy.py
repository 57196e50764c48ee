"""The Cauchy covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array
from benchfw.kernels import namespace
from benchfw_kernelmachines.covariances.row_tiles import by_rows
from benchfw_kernelmachines.oracles import Distance


@dataclass(frozen=True)
class Cauchy:
    """k = Π 1 / (1 + ((x_i - y_i) / length)²); the coordinates of frequencies are Laplace's.

    Rahimi & Recht 2007.
    """

    length: float

    name: ClassVar[str] = "cauchy"
    distance: ClassVar[Distance] = "euclidean"
    isotropic: ClassVar[bool] = False

    def gram(self, left: Array, right: Array) -> Array:
        """Return k(x_i - y_j), (n, m), for rows (n, d) and (m, d)."""
        xp, length = namespace(left, right), float(self.length)

        def gram(rows: Array) -> Array:
            scaled = (rows[:, None, :] - right[None, :, :]) / length
            return xp.prod(1.0 / (1.0 + scaled * scaled), axis=2)

        return by_rows(gram, left, right.size)

    def num_normals(self, dimension: int) -> int:
        """Return three times the dimension: a coordinate is a normal of random size, which takes two more."""
        return 3 * dimension

    def frequencies(self, normals: Array) -> Array:
        """Return frequencies, (d, F), made of standard normals, (3d, F)."""
        dimension = normals.shape[0] // 3
        one, other = normals[dimension : 2 * dimension, :], normals[2 * dimension :, :]
        # a normal whose variance is one² + other², twice an exponential, has Laplace's law
        size = namespace(normals).sqrt(one * one + other * other)
        return normals[:dimension, :] * size / float(self.length)
