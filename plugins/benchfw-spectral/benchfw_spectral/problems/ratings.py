"""Ratings of items by users, split into those to learn from and those to test on."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, BenchfwError
from benchfw.data import load, split

BOX = (0.0, 5.0)  # no rating lies outside


class Known(NamedTuple):
    """Ratings by their places in the flattened θ: cells (n,), values (n,)."""

    cells: Array
    values: Array

    def residuals(self, params: Array) -> Array:
        """Return θ_ij - R_ij, (n,)."""
        return params.reshape(-1)[self.cells] - self.values

    def squares(self, params: Array) -> float:
        """Return the sum of the squared residuals, added up in float64."""
        residuals = self.residuals(params).astype("float64", copy=False)
        return float(residuals @ residuals)

    def rmse(self, params: Array) -> float:
        """Return the root of the mean squared residual."""
        return math.sqrt(self.squares(params) / self.cells.shape[0])


class Ratings(NamedTuple):
    """The ratings of a data set: shape (items, users), and its two parts."""

    shape: tuple[int, int]
    train: Known
    test: Known


def read_ratings(name: str, seed: int) -> Ratings:
    """Return the ratings of a data set, split; items and users without any are left out."""
    arrays = load(name)
    columns = [arrays.get(each, np.empty((0, 0))) for each in ("user", "item", "rating")]
    if any(each.ndim != 1 or len(each) != len(columns[0]) for each in columns):
        raise BenchfwError(
            f"data set '{name}' holds no ratings: it needs the columns user, item and rating of one length, "
            f"and has {', '.join(sorted(arrays))}"
        )
    values: NDArray[np.float64] = columns[2].astype(np.float64)
    if not ((values >= BOX[0]) & (values <= BOX[1])).all():  # NaN is not a rating either
        raise BenchfwError(
            f"data set '{name}' has ratings that are not numbers from {BOX[0]:g} to {BOX[1]:g}; rescale them"
        )
    (users, user), (items, item) = (np.unique(each, return_inverse=True) for each in columns[:2])
    cells = item * len(users) + user
    parts = split(name, seed, arrays=arrays)
    if not len(parts.train) or not len(parts.test):
        raise BenchfwError(f"data set '{name}' has too few ratings to train on some and test on others")
    if not np.diff(np.sort(cells)).all():  # np.unique takes many times as long
        raise BenchfwError(f"data set '{name}' has two ratings of one item by one user; keep one of them")
    train, test = (rows[np.argsort(cells[rows])] for rows in (parts.train, parts.test))  # in memory's order
    return Ratings(
        (len(items), len(users)), Known(cells[train], values[train]), Known(cells[test], values[test])
    )
