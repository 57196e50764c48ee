"""Data sets by name, as standardized features and targets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw import BenchfwError

Array = NDArray[np.float64]


def regression_table(name: str) -> tuple[Array, Array]:
    """Return the training rows of a data set: features (n, d) and targets (n,), of mean 0 and variance 1."""
    features, targets = _training_rows(name)
    values = targets.astype(np.float64)
    return _standardized(features), (values - values.mean()) / (values.std() or 1.0)


def classification_table(name: str) -> tuple[Array, Array]:
    """Return the training rows of a data set of two classes: standardized features (n, d), labels ±1 (n,)."""
    features, targets = _training_rows(name)
    classes = np.unique(targets)
    if len(classes) != 2:
        raise BenchfwError(f"data set '{name}' has {len(classes)} classes; logistic regression needs two")
    return _standardized(features), np.where(targets == classes[1], 1.0, -1.0)


def _training_rows(name: str) -> tuple[Array, NDArray[Any]]:
    from benchfw.data import load

    arrays: Mapping[str, NDArray[Any]] = load(name)
    features = next((arrays[key] for key in ("X", "x", "x_train") if key in arrays), None)
    targets = next((arrays[key] for key in ("y", "y_train") if key in arrays), None)
    if features is None and "x_train_bits" in arrays:
        features = np.unpackbits(arrays["x_train_bits"], axis=1)[:, : int(arrays["n_features"])]
    if features is None or targets is None:
        raise BenchfwError(
            f"data set '{name}' is not a table: it needs X (or x, x_train) and y (or y_train), "
            f"and has {', '.join(sorted(arrays))}"
        )
    if "train_idx" in arrays:
        features, targets = features[arrays["train_idx"]], targets[arrays["train_idx"]]
    return features.reshape(len(features), -1).astype(np.float64), targets


def _standardized(features: Array) -> Array:
    spread = features.std(axis=0)
    varying = spread > 0  # a constant column has no scale, and its parameter would never move
    columns = features[:, varying]
    return np.asarray((columns - columns.mean(axis=0)) / spread[varying])
