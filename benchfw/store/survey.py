"""Reads a store that may be damaged: the rows that are as they were written, and what is wrong elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

from benchfw.store.connection import REFUSALS
from benchfw.store.rows import GARBLED, Damaged, Row, checked, result_of, run_of
from benchfw.store.schema import SELECT_LINKS, SELECT_RUN, SELECT_TRIAL, SELECT_TRIAL_RECORDS

FAULTS = (sqlite3.Error, Damaged, *GARBLED)
SOME_LINK: Row = (0, 0, 0, "", "", 0)  # for reading a trial by itself

# from the table, from its index, from the links: one that is damaged leaves the others
TRIAL_NUMBERS = (
    "SELECT id FROM trial NOT INDEXED ORDER BY id",
    "SELECT id FROM trial INDEXED BY trial_key ORDER BY key",
    "SELECT trial FROM link ORDER BY run",
)
RUN_NUMBERS = ("SELECT id FROM run ORDER BY id", "SELECT run FROM link ORDER BY run")


class Survey:
    """One look through a store; `damage` and the numbers of what is lost grow while it goes on.

    With a `fault` in its first page the places of the tables are a guess: only rows with a checksum count.
    """

    def __init__(self, base: sqlite3.Connection, fault: Exception | None = None) -> None:
        self._base = base
        self._guessed = fault is not None
        self.damage = [f"its first page: {fault}"] if fault is not None else []
        self.lost_trials = 0
        self.lost_runs = 0
        try:
            for (line,) in base.execute("PRAGMA integrity_check(3)"):
                if line != "ok":
                    self.damage.append(" ".join(line.split()))
        except REFUSALS as refusal:
            self.damage.append(str(refusal))

    def trials(self) -> Iterator[tuple[int, Row, list[Row]]]:
        """Yield number, digest with TRIAL_COLUMNS, and records of every sound trial."""
        for number in self._numbers(TRIAL_NUMBERS):
            try:
                row = self._row(SELECT_TRIAL, number)
                records = self._base.execute(SELECT_TRIAL_RECORDS, (number,)).fetchall()
                result_of(number, row[0], row[1:], records, SOME_LINK)
                if self.damage and row[0] is None and not records:
                    raise Damaged("its records are missing, as far as can be told without a checksum")
            except FAULTS as fault:
                self.lost_trials += 1
                self.damage.append(f"trial {number}: {fault}")
            else:
                yield number, row, records

    def runs(self) -> Iterator[Row]:
        """Yield digest with RUN_COLUMNS of every sound run."""
        for number in self._numbers(RUN_NUMBERS):
            try:
                row = self._row(SELECT_RUN, number)
                run_of(Path(), row[0], row[1:], {}, going=False)
            except FAULTS as fault:
                self.lost_runs += 1
                self.damage.append(f"run {number}: {fault}")
            else:
                yield row

    def links(self, run: int, trials: Container[int]) -> Iterator[Row]:
        """Yield LINK_COLUMNS with digest of a run's sound links to these trials."""
        found = {row[2]: row for row in self._both_ways(SELECT_LINKS, run)}
        for digest, *link in found.values():
            try:
                checked(f"position {link[1]} of run {run}", digest, tuple(link))
            except Damaged as fault:
                self.damage.append(str(fault))
            else:
                if link[2] in trials:
                    yield (*link, digest)

    def _row(self, statement: str, number: int) -> Row:
        row: Row | None = self._base.execute(statement, (number,)).fetchone()
        if row is None:
            raise Damaged("its row is missing")
        if self._guessed and row[0] is None:
            raise Damaged("it has no checksum to know it by")
        return row

    def _numbers(self, statements: tuple[str, ...]) -> list[int]:
        found = {row[0] for statement in statements for row in self._both_ways(statement)}
        return sorted(number for number in found if isinstance(number, int))

    def _both_ways(self, statement: str, *values: Any) -> Iterator[Row]:
        """Yield rows from the start up to the first damaged page, then from the end back to the last one."""
        for order in ("", " DESC"):
            try:
                yield from self._base.execute(statement + order, values)
            except REFUSALS as fault:
                self.damage.append(str(fault))
            else:
                return
