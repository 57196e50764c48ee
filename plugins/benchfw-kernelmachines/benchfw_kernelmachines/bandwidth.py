"""The length of a covariance by the median trick."""

from __future__ import annotations

import numpy as np

from benchfw import BenchfwError
from benchfw_kernelmachines.oracles import Distance


def median_distance(rows: np.ndarray, distance: Distance = "euclidean") -> float:
    """Return the median distance of two rows, over all pairs of rows (n, d): n²/2 of them."""
    from scipy.spatial.distance import pdist

    if len(rows) < 2 or not np.isfinite(rows).all():
        raise BenchfwError(
            "the median distance needs two rows or more, all of them numbers; clean the data or give a length"
        )
    median = float(np.median(pdist(rows, distance)))
    if median == 0:
        raise BenchfwError(
            "the median distance between rows is 0: most rows are equal, as with constant features; "
            "scale the data or give a length"
        )
    return median
