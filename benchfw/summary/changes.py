"""What a comparison of two runs found: a row a quantity, and what could not be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchfw.analysis.compare import Difference
from benchfw.analysis.judgement import Change
from benchfw.provenance import Run
from benchfw.records import Cell, Result
from benchfw.search import ONE_SETTING
from benchfw.summary.model import CPU_TIMES
from benchfw.summary.quantities import BUSY
from benchfw.summary.shares import Share
from benchfw.sweep import leaves


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
class Resetting:
    """The parameters in which a method differs between two runs, and what it was tuned with in each.

    `values` has all that the runs of the verdict have, by path, in A and in B; `tuned` is '16 trials', and
    empty where the method was not tuned.
    """

    cell: Cell
    values: Mapping[str, tuple[tuple[Any, ...], tuple[Any, ...]]]
    tuned: tuple[str, str]


def find_resettings(
    before: tuple[Run, Iterable[Result]], after: tuple[Run, Iterable[Result]]
) -> Iterator[Resetting]:
    """Yield the methods of both runs whose parameters are not the same."""
    old, new = (_values_by_cell(results) for _, results in (before, after))
    for cell in old:
        if cell not in new:
            continue
        sides = {
            path: tuple(tuple(each[cell].get(path, {}).values()) for each in (old, new))
            for path in (*old[cell], *new[cell])
        }
        apart = {
            path: (mine, theirs)
            for path, (mine, theirs) in sides.items()
            if {*map(repr, mine)} != {*map(repr, theirs)}
        }
        if apart:
            yield Resetting(cell, apart, (_tuned_with(before[0], cell), _tuned_with(after[0], cell)))


def _values_by_cell(results: Iterable[Result]) -> dict[Cell, dict[str, dict[str, Any]]]:
    """Return the values of each parameter of each method, every one once; without trials that tuned."""
    found: dict[Cell, dict[str, dict[str, Any]]] = {}
    for trial in (each.trial for each in results if not each.trial.tuning):
        known = found.setdefault(trial.cell, {})
        for path, value in leaves(trial.method.table):
            known.setdefault(path, {})[repr(value)] = value
    return found


def _tuned_with(run: Run, cell: Cell) -> str:
    noted = run.environment.tuning
    if cell.method.removesuffix(f" ({ONE_SETTING})") not in noted.get("spaces", {}):
        return ""
    return f"{noted['trials']} trial{'' if noted['trials'] == 1 else 's'}"


@dataclass(frozen=True)
class RunComparison:
    """All rows that two runs share, why others are not there, how many trials are the same in both.

    `busy` has a sentence on each run that began on a machine with other work to do, `resettings` the methods
    that have other parameters in one run than in the other.
    """

    rows: tuple[RunRow, ...]
    refused: tuple[str, ...]
    in_both: int
    busy: tuple[str, ...] = ()
    resettings: tuple[Resetting, ...] = ()

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
