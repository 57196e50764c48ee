"""How near a computation comes to what the machine can do, and from what size on another machine is faster.

The roofline of Williams, Waterman & Patterson 2009: no computation takes less than its operations at the
highest rate of operations, nor than its bytes at the highest rate of bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from benchfw.analysis.intervals import Interval

Limit = Literal["memory", "arithmetic"]


class Floor(NamedTuple):
    """The seconds that a call takes at least, and what they are needed for."""

    seconds: float
    limit: Limit


@dataclass(frozen=True)
class Ceilings:
    """The highest rates a machine was seen to reach: operations a second in one type, and bytes a second.

    `bandwidths` belong to working sets of so many bytes, `footprints`: caches serve the smaller ones faster.
    """

    flop_rate: float
    footprints: tuple[int, ...]
    bandwidths: tuple[float, ...]

    def bandwidth(self, footprint: float) -> float:
        """Return the highest rate seen for working sets of this size or larger, else that of the largest.

        Larger ones count too: the cost of a call hides how fast the memory under a small one is.
        """
        pairs = sorted(zip(self.footprints, self.bandwidths, strict=True))
        return max((rate for size, rate in pairs if size >= footprint), default=pairs[-1][1])


def floor_seconds(flops: float, moved: float, flop_rate: float, bandwidth: float) -> Floor:
    """Return the seconds that so many operations and bytes take at least, and which of them says so."""
    arithmetic, memory = flops / flop_rate, moved / bandwidth
    return Floor(memory, "memory") if memory >= arithmetic else Floor(arithmetic, "arithmetic")


def fraction_of_limit(seconds: Interval, floor: float) -> Interval:
    """Return floor / seconds: 1 is as fast as the machine can be."""
    return seconds.inverted().scaled(floor)


def break_even(sizes: Sequence[float], seconds: Sequence[float], other: Sequence[float]) -> float:
    """Return the size from which on `other` takes less time than `seconds`; sizes ascend.

    Between two sizes the logarithm of the ratio is taken as linear in that of the size, which is exact for
    powers of the size. 0: less at every size measured; infinity: not at the largest; NaN: no size at all.
    """
    gains = [math.log(mine / theirs) for mine, theirs in zip(seconds, other, strict=True)]
    if not gains:
        return math.nan
    losing = [number for number, gain in enumerate(gains) if gain <= 0]
    if not losing:
        return 0.0
    last = losing[-1]
    if last == len(gains) - 1:
        return math.inf
    share = gains[last] / (gains[last] - gains[last + 1])
    return float(sizes[last] * (sizes[last + 1] / sizes[last]) ** share)
