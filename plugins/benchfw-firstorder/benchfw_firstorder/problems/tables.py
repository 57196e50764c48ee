"""Data sets by name, as standardized features and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError

Array = NDArray[np.float64]


def regression_table(name: str) -> tuple[Array, Array]:
    """Return the training rows of a data set: features (n, d) and targets (n,), of mean 0 and variance 1."""
    features, targets = _training_rows(name)
    values = targets.astype(np.float64)
    return _standardized(name, features), (values - values.mean()) / (values.std() or 1.0)


def classification_table(name: str) -> tuple[Array, Array]:
    """Return the training rows of a data set of two classes: standardized features (n, d), labels ±1 (n,)."""
    features, targets = _training_rows(name)
    classes = np.unique(targets)
    if len(classes) != 2:
        raise BenchfwError(f"data set '{name}' has {len(classes)} classes; logistic regression needs two")
    return _standardized(name, features), np.where(targets == classes[1], 1.0, -1.0)


def _training_rows(name: str) -> tuple[Array, NDArray[Any]]:
    """Return the rows that the data or its papers give to training; all, where they say nothing of it."""
    from benchfw.data import has_split, load, load_table

    arrays = load(name)
    features, targets = load_table(name, "train" if has_split(name, arrays) else "all", arrays=arrays)
    return features.reshape(len(features), -1).astype(np.float64), targets


def _standardized(name: str, features: Array) -> Array:
    with np.errstate(over="ignore"):
        spread = features.std(axis=0)
    if not np.isfinite(spread).all():  # dividing by it would turn the column into zeros
        column = int(np.argmin(np.isfinite(spread)))
        raise BenchfwError(
            f"data set '{name}' has numbers too large to standardize in column {column} (counted from 0)"
        )
    varying = spread > 0  # a constant column has no scale, and its parameter would never move
    columns = features[:, varying]
    return np.asarray((columns - columns.mean(axis=0)) / spread[varying])
