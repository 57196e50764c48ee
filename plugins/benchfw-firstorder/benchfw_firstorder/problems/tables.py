"""Data sets by name, as standardized features and targets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError

Array = NDArray[np.float64]


Rows = tuple[Array, Array]


def regression_table(name: str) -> Rows:
    """Return the training rows of a data set: features (n, d) and targets (n,), of mean 0 and variance 1."""
    features, targets = _training_rows(name)
    return _standardized(name, features)[0], _scaled(targets)[0]


def classification_table(name: str) -> Rows:
    """Return the training rows of a data set of two classes: standardized features (n, d), labels ±1 (n,)."""
    features, targets = _training_rows(name)
    return _standardized(name, features)[0], _labels(name, targets)[0]


def held_out_values(name: str) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a data set, all scaled by the training rows."""
    (features, targets), (others, unseen) = _both_parts(name)
    seen, new = _standardized(name, features, others)
    known, unknown = _scaled(targets, unseen)
    return (seen, known), (new, unknown)


def held_out_classes(name: str) -> tuple[Rows, Rows]:
    """Return the training and the test rows of a data set of two classes: standardized, labels ±1."""
    (features, targets), (others, unseen) = _both_parts(name)
    seen, new = _standardized(name, features, others)
    known, unknown = _labels(name, targets, unseen)
    return (seen, known), (new, unknown)


def _training_rows(name: str) -> tuple[Array, NDArray[Any]]:
    """Return the rows that the data or its papers give to training; all, where they say nothing of it."""
    from benchfw.data import has_split, load, load_table

    arrays = load(name)
    return _flat(load_table(name, "train" if has_split(name, arrays) else "all", arrays=arrays))


def _both_parts(name: str) -> tuple[tuple[Array, NDArray[Any]], tuple[Array, NDArray[Any]]]:
    from benchfw.data import load, load_table

    arrays = load(name)
    return _flat(load_table(name, "train", arrays=arrays)), _flat(load_table(name, "test", arrays=arrays))


def _flat(table: Any) -> tuple[Array, NDArray[Any]]:
    features, targets = table
    return features.reshape(len(features), -1).astype(np.float64), targets


def _scaled(targets: NDArray[Any], *others: NDArray[Any]) -> list[Array]:
    """Return targets, and others, minus the mean of the first, over their standard deviation."""
    from benchfw.data import deviations

    values = targets.astype(np.float64)
    mean, spread = values.mean(), float(deviations(values)) or 1.0
    return [(each.astype(np.float64) - mean) / spread for each in (targets, *others)]


def _labels(name: str, targets: NDArray[Any], *others: NDArray[Any]) -> list[Array]:
    classes = np.unique(targets)
    if len(classes) != 2:
        raise BenchfwError(f"data set '{name}' has {len(classes)} classes; logistic regression needs two")
    return [np.where(each == classes[1], 1.0, -1.0) for each in (targets, *others)]


def _standardized(name: str, features: Array, *others: Array) -> list[Array]:
    """Return features, and others, with the columns of the first at mean 0 and variance 1."""
    from benchfw.data import deviations

    with np.errstate(over="ignore"):
        spread = deviations(features)
    if not np.isfinite(spread).all():  # dividing by it would turn the column into zeros
        column = int(np.argmin(np.isfinite(spread)))
        raise BenchfwError(
            f"data set '{name}' has numbers too large to standardize in column {column} (counted from 0)"
        )
    varying = spread > 0  # a constant column has no scale, and its parameter would never move
    mean = features[:, varying].mean(axis=0)
    return [np.asarray((each[:, varying] - mean) / spread[varying]) for each in (features, *others)]
