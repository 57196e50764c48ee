"""What each repetition of a method gave, kept as numbers: an object each would take ten times the memory."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from operator import itemgetter
from typing import TypeVar

import numpy as np

from benchfw.analysis.convergence import Floats
from benchfw.analysis.stacks import Integers

T = TypeVar("T")


class Columns(Mapping[int, T]):
    """A mapping from repetitions, in order, to what is made of the numbers of each when it is asked for."""

    __slots__ = ("_make", "_numbers", "_repetitions", "_width")

    def __init__(self, make: Callable[[Sequence[float]], T], width: int) -> None:
        self._make, self._width = make, width
        self._repetitions, self._numbers = array("q"), array("d")

    def add(self, repetition: int, *numbers: float) -> None:
        """Keep the numbers of a repetition."""
        if not self._repetitions or repetition > self._repetitions[-1]:
            self._repetitions.append(repetition)
            self._numbers.extend(numbers)
            return
        place = bisect_left(self._repetitions, repetition)
        known = self._repetitions[place] == repetition
        if not known:
            self._repetitions.insert(place, repetition)
        start = place * self._width
        self._numbers[start : start + self._width * known] = array("d", numbers)

    def extend(self, repetitions: Integers, numbers: Floats) -> None:
        """Keep the numbers of several repetitions: (repetitions, width)."""
        last = self._repetitions[-1:] or [-1]
        if np.all(np.diff(repetitions, prepend=last) > 0):
            self._repetitions.frombytes(repetitions.astype(np.int64).tobytes())
            self._numbers.frombytes(numbers.astype(np.float64).tobytes())
            return
        for repetition, row in zip(repetitions.tolist(), numbers.reshape(-1, self._width), strict=True):
            self.add(repetition, *row)

    @property
    def table(self) -> Floats:
        """Return the numbers of all repetitions: (repetitions, width)."""
        return np.array(self._numbers).reshape(-1, self._width)

    def __getitem__(self, repetition: int) -> T:
        place = bisect_left(self._repetitions, repetition)
        if place == len(self._repetitions) or self._repetitions[place] != repetition:
            raise KeyError(repetition)
        return self._at(place)

    def __iter__(self) -> Iterator[int]:
        return iter(self._repetitions)

    def __len__(self) -> int:
        return len(self._repetitions)

    def values(self) -> ValuesView[T]:
        """Return what all repetitions gave, in order."""
        return _Values(self)

    def items(self) -> ItemsView[int, T]:
        """Return the repetitions with what they gave, in order."""
        return _Items(self)

    def _at(self, place: int) -> T:
        return self._make(self._numbers[place * self._width : (place + 1) * self._width])

    def _all(self) -> Iterator[T]:
        return map(self._make, zip(*[iter(self._numbers)] * self._width, strict=True))


class _Values(ValuesView[T]):
    _mapping: Columns[T]

    def __iter__(self) -> Iterator[T]:
        return self._mapping._all()  # noqa: SLF001 - the mixin would search for every key


class _Items(ItemsView[int, T]):
    _mapping: Columns[T]

    def __iter__(self) -> Iterator[tuple[int, T]]:
        return zip(self._mapping, self._mapping._all(), strict=True)  # noqa: SLF001 - as above


def pair_values(mine: Mapping[int, T], theirs: Mapping[int, T]) -> tuple[list[int], list[T], list[T]]:
    """Return the repetitions that both have, and what each of the two gave in them."""
    first, second = dict(mine.items()), dict(theirs.items())  # columns would search for every key
    shared = [each for each in first if each in second]
    return shared, [first[each] for each in shared], [second[each] for each in shared]


def numbers() -> Columns[float]:
    """Return columns of one number a repetition."""
    return Columns(itemgetter(0), 1)


def pairs() -> Columns[tuple[float, float]]:
    """Return columns of two numbers a repetition."""
    return Columns(_pair, 2)


def _pair(found: Sequence[float]) -> tuple[float, float]:
    return found[0], found[1]
