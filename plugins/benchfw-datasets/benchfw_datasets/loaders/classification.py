"""UCI tables, LIBSVM text, USPS digits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import open_member, open_raw
from benchfw_datasets.loaders.libsvm import blocks

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data import Arrays

ADULT_FEATURES = 123
EPSILON_FEATURES = 2000


def _two_classes(files: Mapping[str, Path], signs: Mapping[str, int], ending: str) -> Arrays:
    """Return X and y of comma-separated lines whose last word is the class."""
    import numpy as np

    (path,) = files.values()
    with open_member(path, ending) as file:
        lines = [line.split(",") for line in file.read().decode("ascii").split()]
    labels = np.array([signs[line[-1]] for line in lines], dtype=np.int8)
    features = np.array([[float(word) for word in line[:-1]] for line in lines], dtype=np.float64)
    return {"X": features, "y": labels}


def sonar(files: Mapping[str, Path]) -> Arrays:
    """Return X (208, 60) and y, +1 for a mine."""
    return _two_classes(files, {"M": 1, "R": -1}, "sonar.all-data")


def ionosphere(files: Mapping[str, Path]) -> Arrays:
    """Return X (351, 34) and y, +1 for a bad return."""
    return _two_classes(files, {"b": 1, "g": -1}, "ionosphere.data")


def covtype(files: Mapping[str, Path]) -> Arrays:
    """Return x (581012, 54) and y in 1 … 7."""
    import numpy as np

    (path,) = files.values()
    with open_raw(path) as file:
        table = np.loadtxt(file, dtype=np.int16, delimiter=",")
    return {"x": np.ascontiguousarray(table[:, :-1]), "y": table[:, -1].astype(np.uint8)}


def adult(files: Mapping[str, Path]) -> Arrays:
    """Return the bit-packed features and the labels ±1 of a9a and a9a.t."""
    import numpy as np

    arrays: Arrays = {}
    for part, name in (("train", "a9a"), ("test", "a9a.t")):
        pieces = list(blocks(files[name], ADULT_FEATURES, np.uint8))
        arrays[f"x_{part}_bits"] = np.packbits(np.concatenate([x for x, _ in pieces]), axis=1)
        arrays[f"y_{part}"] = np.concatenate([y for _, y in pieces]).astype(np.int8)
    arrays["n_features"] = np.array(ADULT_FEATURES, dtype=np.int64)
    return arrays


def epsilon(files: Mapping[str, Path]) -> Iterator[Arrays]:
    """Yield pieces of x_train, y_train, x_test, y_test."""
    import numpy as np

    for part, path in zip(("train", "test"), files.values(), strict=True):
        for features, labels in blocks(path, EPSILON_FEATURES, np.float32):
            yield {f"x_{part}": features, f"y_{part}": labels.astype(np.int8)}


def _usps(first: int, second: int, files: Mapping[str, Path]) -> Arrays:
    """Return two digits of usps_resampled.mat: training rows then test rows, `first` (+1) before `second`."""
    import numpy as np
    from scipy.io import loadmat

    (path,) = files.values()
    found: dict[str, Any] = loadmat(path)
    parts: list[np.ndarray[Any, Any]] = []
    labels: list[np.ndarray[Any, Any]] = []
    counts = []
    for part in ("train", "test"):
        digit = np.argmax(found[f"{part}_labels"], axis=0)
        chosen = [np.flatnonzero(digit == each) for each in (first, second)]
        parts += [found[f"{part}_patterns"].T[rows] for rows in chosen]
        labels += [np.full(len(rows), sign, np.int8) for rows, sign in zip(chosen, (1, -1), strict=True)]
        counts.append(sum(map(len, chosen)))
    rows = np.arange(sum(counts), dtype=np.int32)
    return {
        "X": np.concatenate(parts).astype(np.float32),
        "y": np.concatenate(labels),
        "train_idx": rows[: counts[0]],
        "test_idx": rows[counts[0] :],
        "digits": np.array([first, second], dtype=np.int8),
    }


usps_2vs4 = partial(_usps, 2, 4)
usps_3vs5 = partial(_usps, 3, 5)
