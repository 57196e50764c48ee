"""MovieLens archives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchfw.data import open_member

if TYPE_CHECKING:
    from benchfw.data import Arrays

LARGE = 1 << 15


def movielens(files: Mapping[str, Path]) -> Arrays:
    """Return user, item, rating, timestamp, sorted by (user, item), from u.data or ratings.dat in a zip."""
    import numpy as np

    (path,) = files.values()
    with open_member(path, "u.data", "ratings.dat") as file:
        text = file.read().replace(b"::", b"\t")
    table = np.array(text.split(), dtype=np.float64).reshape(-1, 4)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    # the 10M set has ids beyond int16 and half stars; the smaller sets have neither
    wide = table[:, :2].max() >= LARGE
    whole = not wide and bool((table[:, 2] == np.rint(table[:, 2])).all())
    return {
        "user": table[:, 0].astype(np.int32 if wide else np.int16),
        "item": table[:, 1].astype(np.int32 if wide else np.int16),
        "rating": table[:, 2].astype(np.int8 if whole else np.float32),
        "timestamp": table[:, 3].astype(np.int32),
    }
