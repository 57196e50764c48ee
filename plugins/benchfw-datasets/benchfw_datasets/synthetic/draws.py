"""What several makers share."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchfw import BenchfwError
from benchfw.backends import Rng, get_backend

Array = np.ndarray[Any, Any]


def open_stream(seed: int, number: int = 0) -> Rng:
    """Return the random stream of a synthetic set; `number` is the set's own, or a block of its rows."""
    return Rng(get_backend("numpy"), seed, 0x7477696E0000 + number)  # "twin"


def squash(values: Array, low: float, high: float) -> Array:
    """Return values moved into (low, high) by x/(1+|x|): no library function whose last bit may differ."""
    return np.asarray(low + (high - low) * (1 + values / (1 + np.abs(values))) / 2)


def draw_correlated(rng: Rng, rows: int, columns: int, memory: float = 0.8) -> Array:
    """Return standard normals (rows, columns) in which each column remembers the one before."""
    values: Array = rng.standard_normal((rows, columns))
    fresh = float(np.sqrt(1 - memory * memory))
    for column in range(1, columns):
        values[:, column] = memory * values[:, column - 1] + fresh * values[:, column]
    return values


def weighted_sum(features: Array, weights: Array) -> Array:
    """Return features @ weights, added up column by column: a BLAS may add in any order."""
    total = np.zeros(len(features))
    for column, weight in enumerate(weights):
        total += features[:, column] * weight
    return total


def popularity_weights(count: int, flatness: float) -> Array:
    """Return weights 1/(rank + flatness) that add up to 1, (count,)."""
    weights: Array = 1.0 / (np.arange(count) + flatness)
    return np.asarray(weights / np.cumsum(weights)[-1])


def draw_split(rng: Rng, rows: int, train: int) -> dict[str, Array]:
    """Return train_idx and test_idx, int32, sorted."""
    if train >= rows:
        raise BenchfwError(f"train must leave rows to test, got {train} of {rows}")
    order = rng.permutation(rows)
    return {
        "train_idx": np.sort(order[:train]).astype(np.int32),
        "test_idx": np.sort(order[train:]).astype(np.int32),
    }
