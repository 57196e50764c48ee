"""The length of a covariance by the median trick."""

from __future__ import annotations

import numpy as np

from benchfw import BenchfwError
from benchfw.backends import Rng
from benchfw_kernelmachines.oracles import Array, Distance


def median_distance(rows: Array, rng: Rng, sample: int = 2000, distance: Distance = "euclidean") -> float:
    """Return the median distance of two rows, over all pairs among `sample` random ones of rows (n, d)."""
    from scipy.spatial.distance import pdist

    if rows.shape[0] > sample:
        rows = rows[rng.choice(rows.shape[0], sample, replace=False)]
    host = rng.backend.to_numpy(rows).astype(np.float64)
    if host.shape[0] < 2 or not np.isfinite(host).all():
        raise BenchfwError(
            "the median distance needs two rows or more, all of them numbers; clean the data or give a length"
        )
    median = float(np.median(pdist(host, distance)))
    if median == 0:
        raise BenchfwError(
            "the median distance between rows is 0: most rows are equal, as with constant features; "
            "scale the data or give a length"
        )
    return median
