"""What a comparison of two runs found: a row a quantity, and what could not be compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchfw.analysis.compare import Difference
from benchfw.analysis.judgement import Change
from benchfw.records import Cell
from benchfw.summary.model import CPU_TIMES
from benchfw.summary.noise import BUSY
from benchfw.summary.shares import Share


@dataclass(frozen=True)
class Pair:
    """What two runs say about one quantity of one method: the two medians, and by what they differ.

    `ended` is how many runs ended well in each; of a share of runs, `before` and `after` are those that did
    not, and `sentence` says so. The difference of a `gain` is that of negated values.
    """

    cell: Cell
    quantity: str
    before: float
    after: float
    difference: Difference
    ended: tuple[Share, Share]
    sentence: str = ""
    gain: bool = False


@dataclass(frozen=True, kw_only=True)
class RunRow(Pair):
    """The same, and what became of it, judged together with all others."""

    change: Change


@dataclass(frozen=True)
class RunComparison:
    """All rows that two runs share, why others are not there, how many trials are the same in both.

    `busy` has a sentence on each run that began on a machine with other work to do.
    """

    rows: tuple[RunRow, ...]
    refused: tuple[str, ...]
    in_both: int
    busy: tuple[str, ...] = ()

    def count(self, word: str) -> int:
        """Return the number of rows with a word."""
        return sum(row.change.word == word for row in self.rows)

    def times_apart(self) -> Iterator[tuple[RunRow, RunRow]]:
        """Yield the rows of a time and of its CPU seconds that did not change alike, beyond their noise."""
        rows = {(row.cell, row.quantity): row for row in self.rows}
        for (cell, quantity), time in rows.items():
            used = rows.get((cell, CPU_TIMES.get(quantity, "")))
            if used is None:
                continue
            mine, other = time.change.ratio, used.change.ratio
            if (
                mine.bounded
                and other.bounded
                and (mine.low > BUSY * other.high or BUSY * mine.high < other.low)
            ):
                yield time, used
