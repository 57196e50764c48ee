"""A test of a mean that may be looked at again and again: it ends when the answer is clear."""

from __future__ import annotations

import math
from collections.abc import Callable
from time import process_time
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.intervals import t_quantile

LEVEL = 1e-4
RESOLUTION = 0.005  # of the exact value: a bias of 1 % stands out from an interval of this half width
FIRST_LOOK = 256
BLOCK = 1024  # draws held at once
ROUNDING = 1e3  # units in the last place that sums may be off

Vector = NDArray[np.float64]


class MeanDifference(NamedTuple):
    """What was found after `draws`: `error` of the mean and the half widths that chance explains, (d + 1,).

    The last entry is along the exact value. `scale` is the length of the exact value.
    """

    draws: int
    error: Vector
    radius: Vector
    scale: float

    @property
    def biased(self) -> bool:
        """Whether some entry is further off than chance explains."""
        return not np.all(np.abs(self.error) <= self.radius)  # nan is off too

    @property
    def resolved(self) -> float:
        """The largest bias that could have been missed, as a share of the exact value's length."""
        return float(np.max(self.radius)) / self.scale

    @property
    def worst(self) -> tuple[float, float]:
        """The share by which the entry furthest outside its interval is off, and what chance explains."""
        index = int(np.argmax(np.abs(self.error) / self.radius))
        return float(self.error[index]) / self.scale, float(self.radius[index]) / self.scale


def mean_test(
    draw: Callable[[], Vector], exact: Vector, seconds: float, level: float = LEVEL, *, stop: bool = True
) -> MeanDifference:
    """Draw until the mean is seen to differ from `exact`, or the interval is narrow, or the time is out.

    Every entry, and the mean along `exact`, has a t-test after 256, 512, 1024, … draws. Look k = 0, 1, …
    spends level/((k+1)(k+2)), which adds up to `level` however many there are, and the entries share it.
    Without `stop` a difference ends nothing: it is to be measured. The time is the processor's, so that a
    busy machine resolves as much.
    """
    length = float(np.linalg.norm(exact))
    direction = exact / length if length > 0 else np.zeros_like(exact)
    target = np.append(exact, length)
    until = process_time() + seconds
    count, mean, squares = 0, np.zeros_like(target), np.zeros_like(target)
    rounding = 0.0
    for look in range(64):
        goal = FIRST_LOOK << look
        while count < goal and (count < FIRST_LOOK or process_time() < until):
            raw = [draw() for _ in range(min(BLOCK, goal - count))]
            rounding = ROUNDING * float(np.finfo(raw[0].dtype).eps)
            block = np.asarray(raw, dtype=np.float64).reshape(len(raw), -1)
            block = np.column_stack([block, block @ direction])
            count, mean, squares = _merged(count, mean, squares, block)
        share = level / ((look + 1) * (look + 2)) / len(target)
        error_of_mean = np.sqrt(squares / (count - 1) / count)
        scale = length or float(np.linalg.norm(error_of_mean)) * math.sqrt(count) or 1.0
        radius = t_quantile(1 - share, count - 1) * error_of_mean + rounding * scale
        verdict = MeanDifference(count, mean - target, radius, scale)
        if (stop and verdict.biased) or verdict.resolved <= RESOLUTION or process_time() >= until:
            return verdict
    raise AssertionError("unreachable: 2^64 draws take longer than any limit")


def _merged(count: int, mean: Vector, squares: Vector, block: Vector) -> tuple[int, Vector, Vector]:
    """Return count, mean and sum of squared deviations with a block of rows added. Chan et al. 1983."""
    more = len(block)
    block_mean = block.mean(axis=0)
    change = block_mean - mean
    total = count + more
    squares = squares + ((block - block_mean) ** 2).sum(axis=0) + change**2 * (count * more / total)
    return total, mean + change * (more / total), squares
