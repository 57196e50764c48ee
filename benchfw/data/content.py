"""What arrays are: their content hash, and whether they fit an entry.

The content hash is the sha256 over the arrays in alphabetical order, for each one the UTF-8 text
`name NUL dtype NUL shape NUL` (dtype as in NumPy's `.str`, little-endian; shape as `[2, 3]`) and then its
elements as little-endian bytes in C order. It does not depend on the file format or its compression.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data.entry import ArraySpec, Dataset
from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

PIECE = 1 << 24


def content_hash(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Return the content hash of arrays; one that is memory-mapped is read piece by piece."""
    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        dtype = array.dtype.newbyteorder("<")
        digest.update(f"{name}\0{dtype.str}\0{list(array.shape)}\0".encode())
        if array.ndim == 0:
            digest.update(array.astype(dtype).tobytes())
            continue
        rows = max(1, PIECE // max(1, array[:1].nbytes))
        for start in range(0, len(array), rows):
            digest.update(array[start : start + rows].astype(dtype, copy=False).tobytes())
    return digest.hexdigest()


def check(entry: Dataset, arrays: Mapping[str, np.ndarray[Any, Any]], where: str | Path) -> None:
    """Raise DataError unless the arrays have the names, shapes and types that the entry promises."""
    place = f"data set '{entry.name}' in {where}"
    lengths: dict[str, int] = {}
    for name, spec in entry.arrays.items():
        if name not in arrays:
            if spec.optional:
                continue
            raise DataError(
                f"{place} has no array '{name}', only {', '.join(sorted(arrays))}; replace the file"
            )
        if not _fits(arrays[name], spec, lengths):
            found = f"{arrays[name].shape} {arrays[name].dtype}"
            raise DataError(f"{place}: array '{name}' is {found}, not {spec}; replace the file")
        if arrays[name].size == 0:
            raise DataError(f"{place}: array '{name}' is empty; replace the file")
    for word, length in lengths.items():
        if length not in entry.lengths.get(word, (length,)):
            wanted = " or ".join(f"{each:,}" for each in entry.lengths[word])
            raise DataError(f"{place} has {length:,} {word}, not {wanted}; replace the file")


def _fits(array: np.ndarray[Any, Any], spec: ArraySpec, lengths: dict[str, int]) -> bool:
    dtype = "text" if array.dtype.kind == "U" else array.dtype.name
    if dtype != spec.dtype or array.ndim != len(spec.shape):
        return False
    return all(
        length == (wanted if isinstance(wanted, int) else lengths.setdefault(wanted, length))
        for length, wanted in zip(array.shape, spec.shape, strict=True)
    )


def state_of(path: Path) -> list[list[Any]]:
    """Return name, size and time of change of a set's files: while these stay, so does the content."""
    files = sorted(path.glob("*.npy")) if path.is_dir() else [path]
    return [[each.name, each.stat().st_size, each.stat().st_mtime_ns] for each in files]


def statistics(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return an array's shape and type, and of numbers the least, the mean and the largest."""
    import numpy as np

    facts: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.dtype.kind in "iufb" and array.size:
        piece = array[: max(1, PIECE // max(1, array[:1].nbytes))] if array.ndim else array
        facts |= {
            "min": float(piece.min()),
            "mean": float(piece.mean(dtype=np.float64)),
            "max": float(piece.max()),
        }
        if piece.shape != array.shape:
            facts["of"] = f"the first {len(piece):,} rows"
    return facts
