"""Tables with numbers to predict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from benchfw.data import open_member, open_raw

if TYPE_CHECKING:
    from benchfw.data import Arrays


def uci(files: Mapping[str, Path]) -> Arrays:
    """Return x, y and the packed test_mask of data.csv.gz (the target last) and test_mask.csv.gz."""
    import numpy as np

    with open_raw(files["data.csv.gz"]) as file:
        table = np.loadtxt(file, delimiter=",")
    with open_raw(files["test_mask.csv.gz"]) as file:
        mask = np.loadtxt(file, delimiter=",") != 0
    return {
        "x": table[:, :-1].astype(np.float32),
        "y": table[:, -1].astype(np.float32),
        "test_mask": np.packbits(mask, axis=0),
    }


def year_msd(files: Mapping[str, Path]) -> Arrays:
    """Return x (515345, 90) and the years y of YearPredictionMSD.txt."""
    import numpy as np

    (path,) = files.values()
    with open_member(path, "YearPredictionMSD.txt") as file:
        table = np.loadtxt(file, delimiter=",", dtype=np.float32)
    return {"x": np.ascontiguousarray(table[:, 1:]), "y": table[:, 0].astype(np.int16)}
