"""Functions of all pairs of rows and something else, a few rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchfw.kernels import namespace


def by_rows(function: Callable[[Any], Any], rows: Any, width: int, at_once: int = 1 << 20) -> Any:
    """Return function(rows), for a function of each row by itself that sets `width` numbers a row aside.

    It is called with so many rows that these are about `at_once` numbers.
    """
    size = max(1, at_once // max(width, 1))
    if rows.shape[0] <= size:
        return function(rows)
    starts = range(0, rows.shape[0], size)
    return namespace(rows).concat([function(rows[start : start + size]) for start in starts])
