"""Refuses data that hold NaN or infinity: an average, a scaling or a comparison would hide them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

CHUNK_BYTES = 1 << 24  # a memory-mapped array is read piece by piece


def check_finite(
    name: str,
    arrays: Mapping[str, np.ndarray[Any, Any]],
    where: str | Path = "",
    first_row: int = 0,
) -> None:
    """Raise DataError, with the array, row and column, if a floating-point array has NaN or infinity.

    `first_row` is the number of the arrays' first row, where they are a piece of a larger set.
    """
    for key, array in arrays.items():
        kind = getattr(getattr(array, "dtype", None), "kind", "")
        place = _find_not_finite(array) if kind in {"f", "c"} and array.size else None
        if place is not None:
            source = f" in {where}" if where else ""
            raise DataError(
                f"data set '{name}'{source}: array '{key}' has {array[place]} in "
                f"{_describe_place(place, first_row)}; fill in or leave out such rows"
            )


def _find_not_finite(array: np.ndarray[Any, Any]) -> tuple[int, ...] | None:
    """Return the place of the first element that is not finite, or None."""
    import numpy as np

    if array.ndim == 0:
        return None if np.isfinite(array) else ()
    rows = max(1, CHUNK_BYTES // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        piece = array[start : start + rows]
        with np.errstate(all="ignore"):
            total = complex(piece.sum())  # one pass without a mask: NaN and infinity survive any sum
        if math.isfinite(total.real) and math.isfinite(total.imag):
            continue
        wrong = np.argwhere(~np.isfinite(piece))
        if len(wrong):  # a sum of large numbers may overflow too
            row, *rest = (int(each) for each in wrong[0])
            return (start + row, *rest)
    return None


def _describe_place(place: tuple[int, ...], first_row: int) -> str:
    if not place:
        return "its only element"
    row, *rest = place
    names = ["column"] if len(rest) == 1 else [f"index {number}" for number in range(1, len(rest) + 1)]
    parts = [
        f"row {row + first_row:,}",
        *(f"{each} {index:,}" for each, index in zip(names, rest, strict=True)),
    ]
    return f"{', '.join(parts)} (counted from 0)"
