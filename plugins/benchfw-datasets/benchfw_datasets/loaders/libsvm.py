"""LIBSVM's text format, read in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import open_raw

if TYPE_CHECKING:
    import numpy as np

ROWS = 2000


def blocks(
    path: Path, features: int, dtype: Any, rows: int = ROWS
) -> Iterator[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Yield dense features (rows, features) and labels (rows,), block by block; indices count from 1."""
    lines: list[bytes] = []
    with open_raw(path) as file:
        for line in file:
            if line.strip():
                lines.append(line)
            if len(lines) == rows:
                yield _dense(lines, features, dtype)
                lines = []
    if lines:
        yield _dense(lines, features, dtype)


def _dense(
    lines: list[bytes], features: int, dtype: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    import numpy as np

    words = [line.split() for line in lines]
    labels = np.array([float(each[0]) for each in words])
    row = np.repeat(np.arange(len(words)), [len(each) - 1 for each in words])
    pairs = b" ".join(b" ".join(each[1:]) for each in words).replace(b":", b" ").split()
    numbers = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    column = numbers[:, 0].astype(np.int64) - 1
    if len(column) and not 0 <= column.min() <= column.max() < features:
        raise ValueError(f"an index outside 1 … {features}")
    dense = np.zeros((len(words), features), dtype=dtype)
    dense[row, column] = numbers[:, 1]
    return dense, labels
