"""Curves of one metric in many trials, end to end, so that a few operations on arrays do for all of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.analysis.convergence import AXES, RESOLUTION, ROUNDING, Axis, Floats
from benchfw.records import OVERSPENT

Integers: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Stack:
    """Some curves: `points` has the rows of a Curve, CPU seconds NaN where they are unknown: (5, all points).

    Curve k has `counts[k]` of them, one at least. What is drawn needs no CPU seconds: (4, all points).
    """

    points: Floats
    counts: Integers

    @classmethod
    def of_blocks(cls, block: bytes, places: Sequence[tuple[int, int, int]]) -> Stack:
        """Return the curves in a block of memory; of each the byte where it starts, its rows and points."""
        offsets, rows, counts = np.array(places, dtype=np.int64).reshape(-1, 3).T
        numbers = np.frombuffer(block, np.float64)
        stack = cls(np.empty((5, int(np.sum(counts)))), counts)
        steps = np.repeat(counts, counts)
        at = np.repeat(offsets // 8 - stack.starts, counts) + np.arange(len(steps))
        for row in range(4):
            stack.points[row] = numbers[at + row * steps]
        known = np.repeat(rows, counts) > 4
        stack.points[4] = np.where(known, numbers[np.where(known, at + 4 * steps, 0)], np.nan)
        return stack

    @classmethod
    def join(cls, stacks: Sequence[Stack]) -> Stack:
        """Return all curves of several stacks, without their CPU seconds."""
        points = [np.zeros((4, 0)), *(each.points[:4] for each in stacks)]
        counts = [np.zeros(0, dtype=np.int64), *(each.counts for each in stacks)]
        return cls(np.concatenate(points, axis=1), np.concatenate(counts))

    @property
    def count(self) -> int:
        """Return the number of curves."""
        return len(self.counts)

    @cached_property
    def owners(self) -> Integers:
        """Return the number of the curve that each point belongs to."""
        return np.repeat(np.arange(self.count), self.counts)

    @cached_property
    def values(self) -> Floats:
        """Return the metric at all points, +inf in the place of NaN."""
        return np.where(np.isnan(self.points[3]), np.inf, self.points[3])

    def along(self, axis: Axis) -> Floats:
        """Return the positions of all points on an axis."""
        positions: Floats = self.points[AXES.index(axis)]
        return positions

    @property
    def starts(self) -> Integers:
        """Return where each curve starts."""
        return np.cumsum(self.counts) - self.counts

    @property
    def keys(self) -> NDArray[np.complex128]:
        """Return the curve and the iteration of each point, in order: complex numbers compare like pairs."""
        found: NDArray[np.complex128] = self.points[0] * 1j
        found.real = self.owners
        return found

    @property
    def firsts(self) -> Floats:
        """Return the first point of each curve: (5, curves)."""
        return self.points[:, self.starts]

    @property
    def lasts(self) -> Floats:
        """Return the last point of each curve: (5, curves)."""
        return self.points[:, self.starts + self.counts - 1]

    def within(self, seconds: Sequence[float | None], cost: Sequence[float | None]) -> Stack:
        """Return the looks within a budget each, as `curve_within` does; None stands for no limit."""
        kept = np.ones(self.points.shape[1], dtype=np.bool_)
        for row, most in ((1, seconds), (2, cost)):
            limits = np.repeat(np.array(most, dtype=np.float64), self.counts)  # None becomes NaN
            kept &= (self.points[row] <= (1 + OVERSPENT) * limits) | np.isnan(limits)
        if np.all(kept):
            return self
        kept[self.starts] = True
        return Stack(self.points[:, kept], np.add.reduceat(kept.astype(np.int64), self.starts))

    def floors(self, sizes: Floats | float = 0.0) -> Floats:
        """Return the value of each below which rounding decides, as `rounding_floor` does."""
        first = self.firsts[3]
        signed = np.logical_or.reduceat(self.points[3] < 0, self.starts)
        sizes = np.where(np.isfinite(sizes), np.abs(sizes), 0.0)
        return np.where(np.isfinite(first) & ~signed, ROUNDING * np.maximum(first, sizes), 0.0)


def first_hits(stacks: Sequence[Stack], targets: Sequence[float]) -> tuple[Booleans, Integers]:
    """Return whether several targets, one a stack, were met together, and the point of the first stack."""
    first = stacks[0]
    met = first.points[3] <= targets[0]
    for stack, target in zip(stacks[1:], targets[1:], strict=True):
        met &= np.isin(first.keys, stack.keys[stack.points[3] <= target])
    looks = np.append(np.flatnonzero(met), len(met))
    at = looks[np.searchsorted(looks, first.starts)]
    return at < first.starts + first.counts, at


@dataclass(frozen=True, eq=False)
class Places:
    """Where between two looks targets were met: after `share` of the way from the look before to this one.

    The share is an interpolation. `earliest` is the share of the first iteration after the look before.
    """

    before: Integers
    at: Integers
    share: Floats
    earliest: Floats

    def values(self, along: Floats) -> Floats:
        """Return the positions on an axis, from those of all points."""
        return self._between(along, self.share)

    def brackets(self, along: Floats) -> Floats:
        """Return between which two positions each lies for sure, if the metric only falls: (2, places).

        Of looks that leave out iterations a little more, so that nothing is claimed that they cannot tell.
        """
        found, last = self._between(along, self.earliest), along[self.at]
        # a call of greater effort may take less time
        found, last = np.where(last < found, last, found), np.where(last < found, found, last)
        seen = self.earliest == 1
        return np.array(
            [
                np.where(seen, along[self.at], found * (1 - RESOLUTION)),
                np.where(seen, along[self.at], last * (1 + RESOLUTION)),
            ]
        )

    def _between(self, along: Floats, share: Floats) -> Floats:
        return along[self.before] + share * (along[self.at] - along[self.before])


def place_arrivals(stacks: Sequence[Stack], targets: Sequence[float], at: Integers) -> Places:
    """Return where targets were met that were seen to be met at some points of the first stack.

    Errors fall by factors, so their logarithms are interpolated; those of a metric with a sign, the values.
    """
    first = stacks[0]
    keys = first.keys[at]
    at = np.searchsorted(first.keys, keys)
    begun = at > first.starts[keys.real.astype(np.int64)]
    before = at - begun
    steps = np.where(begun, first.points[0, at] - first.points[0, before], 1.0)
    shares = [_crossings(stack, target, keys) for stack, target in zip(stacks, targets, strict=True)]
    share = np.minimum(1.0, np.ceil(np.max(shares, axis=0) * steps - 1e-9) / steps)  # answers come whole
    return Places(before, at, np.where(begun, np.maximum(share, 1 / steps), 1.0), 1 / steps)


def _crossings(stack: Stack, target: float, keys: NDArray[np.complex128]) -> Floats:
    """Return after what share of the way to looks the curves were at their target; 0 if they were before."""
    at = np.searchsorted(stack.keys, keys)
    curves = keys.real.astype(np.int64)
    begun = at > stack.starts[curves]
    known = begun & (at < (stack.starts + stack.counts)[curves])
    before, after = stack.points[3, np.where(known, [at - 1, at], 0)]
    there = known & (before <= target)
    found = np.where(there, 0.0, 1.0)
    for each in np.flatnonzero(known & ~there & np.isfinite(before) & np.isfinite(after)):
        found[each] = _crossing(float(before[each]), float(after[each]), target)
    return found


def _crossing(before: float, after: float, target: float) -> float:
    if after > 0 and target > 0:
        return math.log(before / target) / math.log(before / after)
    return (before - target) / (before - after)
