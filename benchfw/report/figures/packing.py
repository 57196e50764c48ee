"""Figures as data of a page: JSON with all numbers, or with places in a compressed block of them."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import Floats
from benchfw.report.figures.plot import Figure, rounded
from benchfw.report.text import script_json

MOST_NUMBERS = 100_000
"""In the arrays of a page's figures; with more of them its figures are compressed."""

_LEVEL = 6  # of compression; the highest takes twice as long for 1 %
_WORD = 4  # bytes of a number


def pack_figures(figures: Sequence[Figure]) -> tuple[str, str]:
    """Return the data of figures and their media type: JSON, or a compressed block where they are large.

    The block is base64 of gzip: the length of the JSON in four bytes, the JSON, padded with spaces to a
    multiple of four, and all numbers; an array in the JSON is {"at": its place, "count": its length}. Of a
    number, a double, there is the upper half: six figures, and all exponents.
    """
    data = [each.as_data() for each in figures]
    arrays: list[Floats] = []
    places = [0]

    def place(array: Any) -> dict[str, int]:
        arrays.append(check_array(array))
        places.append(places[-1] + len(array))
        return {"at": places[-2], "count": len(array)}

    text = script_json(data, place).encode()
    if places[-1] <= MOST_NUMBERS:
        return write_figures(data), "application/json"
    text += b" " * (-len(text) % _WORD)
    numbers = upper_halves(np.concatenate(arrays)).tobytes()
    block = gzip.compress(len(text).to_bytes(_WORD, "little") + text + numbers, _LEVEL, mtime=0)
    return base64.b64encode(block).decode(), "application/gzip"


def write_figures(data: Any) -> str:
    """Return what `Figure.as_data` gives, or a list of it, as JSON with numbers of six figures."""
    return script_json(data, lambda array: rounded(check_array(array).tolist()))


def check_array(value: Any) -> Floats:
    """Return an array; anything else has no form in JSON."""
    if not isinstance(value, np.ndarray):
        raise TypeError(f"{type(value).__name__} is not JSON serializable")
    return value


def upper_halves(numbers: Floats) -> NDArray[np.uint32]:
    """Return the upper halves of doubles, rounded to them."""
    bits = np.ascontiguousarray(numbers, np.float64).view(np.uint64)
    return ((bits + np.uint64(1 << 31)) >> np.uint64(32)).astype("<u4")
