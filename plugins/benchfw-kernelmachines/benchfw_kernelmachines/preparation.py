"""From features as stored to the rows of a problem: scaling, standardization, principal components."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from benchfw import Array
from benchfw.backends import Backend
from benchfw.kernels import namespace

AT_A_TIME = 4096  # rows


@dataclass(frozen=True)
class Preparation:
    """x -> (x - shift) * scale, and then its coordinates in `components`, (p, d), where there are any."""

    shift: Array  # (p,) float64
    scale: Array  # (p,) float64
    components: Array | None = None

    @property
    def columns(self) -> int:
        """How many numbers the features of a row are."""
        return int(self.shift.shape[0])

    @property
    def dimension(self) -> int:
        """How many coordinates a row has."""
        return int(self.shift.shape[0] if self.components is None else self.components.shape[1])

    def __call__(self, features: Array) -> Array:
        """Return rows, (n, d) float32, of features (n, …) of any type, on the backend of the preparation."""
        xp = namespace(features)
        # in float64 where float32 would round features off before the shift makes them small
        dtype = np.result_type(features.dtype, np.float32)
        flat, shift, scale = (xp.astype(each, dtype) for each in (_flat(features), self.shift, self.scale))
        rows = xp.astype((flat - shift) * scale, xp.float32, copy=False)
        return rows if self.components is None else rows @ self.components

    def on(self, backend: Backend) -> Preparation:
        """Return the same, with its arrays on a backend."""
        parts = (self.shift, self.scale, self.components)
        return Preparation(*(None if part is None else backend.asarray(part) for part in parts))


def fit_preparation(features: np.ndarray, components: int, *, standardize: bool) -> Preparation:
    """Return the preparation that these rows, (n, …), ask for.

    Pixels, that is bytes above 1, are divided by 255. Columns are brought to mean 0 and variance 1 if
    `standardize` says so; a constant one becomes 0. Of more than `components` columns (unless it is 0) the
    principal components of most variance are kept.
    """
    flat = _flat(features)
    columns = flat.shape[1]
    reduced = 0 < components < columns
    shift = flat.mean(axis=0, dtype=np.float64) if standardize or reduced else np.zeros(columns)
    scale = np.full(columns, 1 / 255 if flat.dtype == np.uint8 and flat.max() > 1 else 1.0)
    if standardize:
        # not by the deviation: the mean of a constant column is off by a rounding error
        varies = flat.min(axis=0) < flat.max(axis=0)
        scale = np.divide(1.0, _deviation(flat, shift), out=np.zeros(columns), where=varies)
    prepare = Preparation(shift, scale)
    return replace(prepare, components=_principal(flat, prepare, components)) if reduced else prepare


def _flat(features: Array) -> Array:
    return features.reshape(features.shape[0], -1)


def _deviation(flat: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Return the standard deviation of the columns, (p,) float64."""
    squares = np.zeros_like(mean)
    for first in range(0, len(flat), AT_A_TIME):
        squares += ((flat[first : first + AT_A_TIME] - mean) ** 2).sum(axis=0)
    return np.sqrt(squares / len(flat))


def _principal(flat: np.ndarray, prepare: Preparation, components: int) -> np.ndarray:
    """Return the directions of most variance, most first, (p, components) float32."""
    from scipy.linalg import eigh

    columns = flat.shape[1]
    covariance = np.zeros((columns, columns))
    for first in range(0, len(flat), AT_A_TIME):
        rows = prepare(flat[first : first + AT_A_TIME])
        covariance += rows.T @ rows
    _, vectors = eigh(covariance, subset_by_index=(columns - components, columns - 1))
    directions = vectors[:, ::-1]
    # a direction's sign is free: its largest entry is made positive
    largest = np.argmax(np.abs(directions), axis=0)
    directions = directions * np.sign(directions[largest, np.arange(components)])
    return np.ascontiguousarray(directions, dtype=np.float32)
