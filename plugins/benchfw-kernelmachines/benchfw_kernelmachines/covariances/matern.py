"""The Matérn covariance."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from benchfw import Array, BenchfwError
from benchfw.kernels import namespace
from benchfw_kernelmachines.covariances.row_tiles import by_rows
from benchfw_kernelmachines.oracles import Distance

SMALLEST = 2.0**-24  # a normal may be rounded to 0, once in millions


@dataclass(frozen=True)
class Matern:
    """The covariance of smoothness ν = 0.5, 1.5 or 2.5: p_ν(r) e^-r with r = √(2ν) |x - y| / length.

    p is 1, 1 + r or 1 + r + r²/3; frequencies are multivariate t of 2ν degrees. Rasmussen & Williams 2006,
    §4.2.
    """

    length: float
    smoothness: float = 1.5

    name: ClassVar[str] = "matern"
    distance: ClassVar[Distance] = "euclidean"
    isotropic: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.smoothness not in {0.5, 1.5, 2.5}:
            raise BenchfwError(
                f"the smoothness of the matern covariance is 0.5, 1.5 or 2.5, not {self.smoothness}"
            )

    @property
    def degrees(self) -> int:
        """2ν."""
        return round(2 * self.smoothness)

    def gram(self, left: Array, right: Array) -> Array:
        """Return k(x_i - y_j), (n, m), for rows (n, d) and (m, d)."""
        xp, scale = namespace(left, right), sqrt(self.degrees) / self.length
        # in float64: the root of what a difference of squares leaves over is far from 0 in float32
        others = xp.astype(right, xp.float64)
        centre = xp.sum(others, axis=0) / max(right.shape[0], 1)
        others = (others - centre) * scale
        squares = xp.sum(others * others, axis=1)

        def gram(rows: Array) -> Array:
            own = (xp.astype(rows, xp.float64) - centre) * scale
            squared = xp.sum(own * own, axis=1)[:, None] + squares - 2.0 * (own @ others.T)
            return xp.astype(self._of(xp, xp.sqrt(xp.maximum(squared, 0.0))), left.dtype)

        return by_rows(gram, left, right.shape[0])

    def _of(self, xp: Array, distances: Array) -> Array:
        """Return p(r) e^-r."""
        decay = xp.exp(-distances)
        if self.degrees == 1:
            return decay
        linear = 1.0 + distances
        return decay * (linear if self.degrees == 3 else linear + distances * distances / 3)

    def num_normals(self, dimension: int) -> int:
        """Return the dimension and the degrees of freedom: a normal vector over the root of a chi-square."""
        return dimension + self.degrees

    def frequencies(self, normals: Array) -> Array:
        """Return frequencies, (d, F), made of standard normals, (d + 2ν, F)."""
        xp, dimension = namespace(normals), normals.shape[0] - self.degrees
        squares = normals[dimension, :] * normals[dimension, :]
        for row in range(dimension + 1, normals.shape[0]):  # one by one: equal bits on every backend
            squares = squares + normals[row, :] * normals[row, :]
        sizes = xp.maximum(xp.sqrt(squares / self.degrees), SMALLEST)
        return normals[:dimension, :] / sizes / float(self.length)
