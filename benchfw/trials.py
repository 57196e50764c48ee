"""The trials of a suite as a sequence that makes each when it is asked for: a run may have a million."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeAlias, overload

from benchfw.records import Cell, Trial, change

KeyMaker: TypeAlias = Callable[[int], str]
"""Gives the key of each repetition of a trial."""


class Trials(Sequence[Trial]):
    """Cells with all their repetitions, cell by cell; `firsts` are the first trial of each cell.

    Where the repetitions of a cell have settings of their own, `variants` is how many: a cell has as many
    firsts one after the other, and its repetitions take turns.
    """

    def __init__(
        self, firsts: Iterable[Trial], repetitions: int, keys: Sequence[KeyMaker] = (), variants: int = 1
    ) -> None:
        self.firsts = tuple(firsts)
        self.repetitions, self.variants = repetitions, variants
        self._keys = keys

    def __len__(self) -> int:
        return len(self.firsts) // self.variants * self.repetitions

    def first(self, position: int) -> int:
        """Return which of the firsts the trial at a position repeats."""
        cell, repetition = divmod(position, self.repetitions)
        return cell * self.variants + repetition % self.variants

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> Chosen: ...
    def __getitem__(self, index: int | slice) -> Trial | Chosen:
        if isinstance(index, slice):
            return Chosen(self, range(len(self))[index])
        position = range(len(self))[index]
        first, repetition = self.first(position), position % self.repetitions
        key = self._keys[first](repetition) if self._keys else ""
        return change(self.firsts[first], repetition=repetition, key=key)

    def key(self, position: int) -> str:
        """Return the key of the trial at a position."""
        return self._keys[self.first(position)](position % self.repetitions)

    @cached_property
    def _cells(self) -> dict[tuple[Cell, str, int], int]:
        return {_setting(first): place // self.variants for place, first in enumerate(self.firsts)}

    def position(self, trial: Trial) -> int:
        """Return where a trial stands, by its labels, its setting and its repetition."""
        return self._cells[_setting(trial)] * self.repetitions + trial.repetition

    def keyed(self, stamp: Callable[[Trial], tuple[Trial, KeyMaker]]) -> Trials:
        """Return the trials with their keys; `stamp` gives a first trial as it should be, and its keys."""
        stamped = [stamp(first) for first in self.firsts]
        firsts, keys = [first for first, _ in stamped], [keys for _, keys in stamped]
        return Trials(firsts, self.repetitions, keys, self.variants)


def _setting(trial: Trial) -> tuple[Cell, str, int]:
    """Return what tells the trials of one repetition apart: the settings of a tuning share a cell."""
    return trial.cell, trial.method.text, trial.tuning


class Chosen(Sequence[Trial]):
    """Some of the trials, by position, in any order."""

    def __init__(self, trials: Trials, positions: Sequence[int]) -> None:
        self._trials, self._positions = trials, positions

    def __len__(self) -> int:
        return len(self._positions)

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> Chosen: ...
    def __getitem__(self, index: int | slice) -> Trial | Chosen:
        if isinstance(index, slice):
            return Chosen(self._trials, self._positions[index])
        return self._trials[int(self._positions[index])]
