"""Ratings of items by users, split into those to learn from and those to test on."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import Array, BenchfwError
from benchfw.data import load, split

BOX = (0.0, 5.0)  # no rating lies outside
LARGEST_SPAN = 8  # of ids, times their number


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
    (num_users, user), (num_items, item) = map(_number, columns[:2])
    cells = item * num_users + user
    parts = split(name, seed, arrays=arrays)
    if not len(parts.train) or not len(parts.test):
        raise BenchfwError(f"data set '{name}' has too few ratings to train on some and test on others")
    in_order = np.argsort(cells)  # that of memory
    if not np.diff(cells[in_order]).all():
        raise BenchfwError(f"data set '{name}' has two ratings of one item by one user; keep one of them")
    train, test = (
        np.repeat(in_order, np.bincount(rows, minlength=len(cells))[in_order])
        for rows in (parts.train, parts.test)
    )
    return Ratings(
        (num_items, num_users), Known(cells[train], values[train]), Known(cells[test], values[test])
    )


def _number(ids: NDArray[Any]) -> tuple[int, NDArray[np.int64]]:
    """Return how many different ids there are, and the number of each among them, in their order."""
    whole = ids.size > 0 and np.can_cast(ids.dtype, np.int64)
    span = int(ids.max()) - int(ids.min()) if whole else math.inf
    if span > LARGEST_SPAN * len(ids):
        found, numbers = np.unique(ids, return_inverse=True)  # sorts, which takes many times as long
        return len(found), numbers
    places = ids.astype(np.int64) - int(ids.min())
    numbers = np.cumsum(np.bincount(places) > 0) - 1
    return int(numbers[-1]) + 1, numbers[places]
