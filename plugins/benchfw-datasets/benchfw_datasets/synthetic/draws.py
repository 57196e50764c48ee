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


def exponential(values: Array) -> Array:
    """Return e^x for |x| up to 36 to 1 %, by arithmetic that every machine does alike."""
    result = 1 + values / (1 << 16)
    for _ in range(16):
        result = result * result
    return np.asarray(result)


def logarithm(values: Array) -> Array:
    """Return log x for x > 0 to five digits, by arithmetic that every machine does alike."""
    mantissa, exponent = np.frexp(values)  # mantissa in [½, 1)
    ratio = (mantissa - 0.75) / (mantissa + 0.75)
    square = ratio * ratio
    series = 2 * ratio * (1 + square * (1 / 3 + square * (1 / 5 + square / 7)))
    return np.asarray(series + exponent * 0.6931471805599453 - 0.2876820724517809)


def draw_split(rng: Rng, rows: int, train: int) -> dict[str, Array]:
    """Return train_idx and test_idx, int32, sorted."""
    if train >= rows:
        raise BenchfwError(f"train must leave rows to test, got {train} of {rows}")
    order = rng.permutation(rows)
    return {
        "train_idx": np.sort(order[:train]).astype(np.int32),
        "test_idx": np.sort(order[train:]).astype(np.int32),
    }
