"""Degrees from uniform numbers: n = max {j : P(n >= j) >= U}.

Degrees say how many products to make, so they are numbers of the host on every backend.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw import Rng
from benchfw_spectral.functions.function import Vector

RESOLUTION = 2.0**-53  # of a uniform number: a tail below it is never drawn


def uniforms(rng: Rng, size: Any) -> Any:
    """Return uniforms in (0, 1], on the host: a float where `size` is None."""
    return 1 - (rng.random() if size is None else rng.backend.to_numpy(rng.random(size)))


def degrees(found: Any) -> Any:
    """Return whole numbers as int64, or a single one as an int."""
    return int(found) if np.ndim(found) == 0 else found.astype(np.int64)


class Table(NamedTuple):
    """The tails of a law, and where to start among them."""

    tails: Vector  # t_0 = 1 >= t_1 >= …, the last below the resolution
    guide: NDArray[np.int64]  # at i: max {j : t_j >= (i+1)/len(guide)}


def draw(law: Any, rng: Rng, size: Any) -> Any:
    """Return degrees of a law that knows its tails without a decay, O(1) expected time each.

    Indexed search: a draw starts at its guide and takes one step on average. Chen & Asau 1974.
    """
    tails, guide = _table(law)
    wanted = np.atleast_1d(uniforms(rng, size))
    found = guide[np.ceil(wanted * len(guide)).astype(np.int64) - 1]
    moving = np.arange(found.size)
    flat, level = found.reshape(-1), wanted.reshape(-1)
    while moving.size:
        moving = moving[tails[flat[moving] + 1] >= level[moving]]
        flat[moving] += 1
    return degrees(found if size is not None else found[0])


@lru_cache(maxsize=256)
def _table(law: Any) -> Table:
    """Return the table of a law, as long as its tails can be drawn."""
    count = 64
    while (tails := law.survival(np.arange(count)))[-1] >= RESOLUTION:
        count *= 2
    tails = tails[: np.searchsorted(-tails, -RESOLUTION, side="right") + 1]
    count = 1 << len(tails).bit_length()  # a power of two, so that no product with it is rounded
    levels = np.arange(1, count + 1) / count
    return Table(tails, np.searchsorted(-tails, -levels, side="right") - 1)
