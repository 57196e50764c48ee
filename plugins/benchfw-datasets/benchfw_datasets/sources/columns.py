"""Columns of a table as arrays: numbers as they are, words as indicators, classes as labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data import Arrays

MOST_WORDS = 100  # different ones in a column: with more of them it is text
MOST_BYTES = 8 * 10**9


def assemble(name: str, columns: Mapping[str, np.ndarray[Any, Any]], target: str) -> Arrays:
    """Return X (n, d) float64 and y (n,) of a table by columns.

    A column of words becomes one of 0 and 1 for each word, in alphabetical order, or a single one if there
    are two.
    """
    import numpy as np

    if target not in columns:
        raise DataError(
            f"data set '{name}' has no column '{target}' to predict, only {', '.join([*columns][:20])}"
        )
    parts = [_numbers(name, key, values) for key, values in columns.items() if key != target]
    if not parts:
        raise DataError(f"data set '{name}' has no column besides '{target}'")
    return {"X": np.concatenate(parts, axis=1), "y": encode_labels(columns[target])}


def encode_labels(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return targets: two classes as -1 and 1, words of more as 0, 1, 2, …, in sorted order.

    Floats, and whole numbers of more than two, are left as they are: they may be something to regress on.
    """
    import numpy as np

    if values.dtype.kind == "f":
        return values.astype(np.float64)
    classes, codes = np.unique(values, return_inverse=True)
    if len(classes) == 2:
        return (2 * codes - 1).astype(np.int8)
    return codes.astype(np.int32) if values.dtype.kind not in "iu" else values.astype(np.int64)


def check_size(name: str, rows: int, features: int) -> None:
    """Raise DataError where a dense table would be too large."""
    if rows * features * 8 > MOST_BYTES:
        raise DataError(
            f"data set '{name}' has {rows:,} rows of {features:,} features, more than "
            f"{MOST_BYTES / 1e9:g} GB as a dense table; choose a smaller one"
        )


def _numbers(name: str, key: str, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return one column as floats, (n, 1), or as indicators of its words, (n, words)."""
    import numpy as np

    if values.dtype.kind in "biuf":
        return values.astype(np.float64)[:, None]
    words: Sequence[Any] = np.unique(values).tolist()
    if len(words) > MOST_WORDS:
        raise DataError(
            f"column '{key}' of data set '{name}' is text, with {len(words):,} different values; "
            "benchfw takes columns of numbers and of few words"
        )
    kept = words[1:] if len(words) == 2 else words
    return np.stack([(values == word).astype(np.float64) for word in kept], axis=1)
