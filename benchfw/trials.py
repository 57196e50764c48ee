"""The trials of a suite as a sequence that makes each when it is asked for: a run may have a million."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import TypeAlias, overload

from benchfw.records import Cell, Trial, change

KeyMaker: TypeAlias = Callable[[int], str]
"""Gives the key of each repetition of a trial."""


class Trials(Sequence[Trial]):
    """Cells with all their repetitions, cell by cell; `firsts` are the first trial of each cell."""

    def __init__(self, firsts: Iterable[Trial], repetitions: int, keys: Sequence[KeyMaker] = ()) -> None:
        self.firsts = tuple(firsts)
        self.repetitions = repetitions
        self._keys = keys

    def __len__(self) -> int:
        return len(self.firsts) * self.repetitions

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> Chosen: ...
    def __getitem__(self, index: int | slice) -> Trial | Chosen:
        if isinstance(index, slice):
            return Chosen(self, range(len(self))[index])
        first, repetition = divmod(range(len(self))[index], self.repetitions)
        key = self._keys[first](repetition) if self._keys else ""
        return change(self.firsts[first], repetition=repetition, key=key)

    def key(self, position: int) -> str:
        """Return the key of the trial at a position."""
        first, repetition = divmod(position, self.repetitions)
        return self._keys[first](repetition)

    @cached_property
    def _cells(self) -> dict[tuple[Cell, str, int], int]:
        return {_setting(first): place for place, first in enumerate(self.firsts)}

    def position(self, trial: Trial) -> int:
        """Return where a trial stands, by its labels, its setting and its repetition."""
        return self._cells[_setting(trial)] * self.repetitions + trial.repetition

    def keyed(self, stamp: Callable[[Trial], tuple[Trial, KeyMaker]]) -> Trials:
        """Return the trials with their keys; `stamp` gives a first trial as it should be, and its keys."""
        stamped = [stamp(first) for first in self.firsts]
        firsts, keys = [first for first, _ in stamped], [keys for _, keys in stamped]
        return Trials(firsts, self.repetitions, keys)


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
