"""`benchfw store check`: finds damage in a store, and copies what is sound into a new one."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchfw.errors import StoreError
from benchfw.records import LONGEST_NAME, shorten
from benchfw.store.connection import REFUSALS, bound_work, check_place, connect, explain_refusal, real_path
from benchfw.store.rows import GARBLED, Damaged, Row, check_digest, digest_of, result_of, run_of
from benchfw.store.schema import (
    COPY_RUN,
    COPY_TRIAL,
    INSERT_LINK,
    INSERT_RECORD,
    SELECT_LINKS,
    SELECT_RUN,
    SELECT_TRIAL,
    SELECT_TRIAL_RECORDS,
)

SURVEY_STEPS = 100  # of SQLite's machine for each byte: everything is read several times
FAULTS = (sqlite3.Error, Damaged, *GARBLED)
SOME_LINK: Row = (0, 0, 0, "", "", 0)  # for reading a trial by itself

# from the table and from the links: where one is damaged the other may still be read
TRIAL_NUMBERS = ("SELECT id FROM trial NOT INDEXED ORDER BY id", "SELECT trial FROM link ORDER BY run")
RUN_NUMBERS = ("SELECT id FROM run ORDER BY id", "SELECT run FROM link ORDER BY run")


@dataclass
class Findings:
    """What is sound in a store, how much is lost, and what is wrong."""

    runs: int = 0
    trials: int = 0
    records: int = 0
    lost_runs: int = 0
    lost_trials: int = 0
    damage: list[str] = field(default_factory=list)


def check(path: Path, copy: Path | None = None) -> Findings:
    """Compare everything in a store with its checksums; a `copy` is a new store with all that is sound."""
    try:
        check_place(path, write=False)
        if not path.is_file():
            raise StoreError(f"no store at {path}; give --store")
        base = connect(path, create=False, cut_short=True)
    except (*REFUSALS, OSError) as fault:
        raise explain_refusal(path, fault) from None
    with (
        contextlib.closing(base),
        _new_store(copy) as target,
        bound_work(base, real_path(path), SURVEY_STEPS),
    ):
        base.execute("BEGIN")  # a run may go on: what it adds from now on is not seen
        findings = _Survey(base).save(target)
        if target is not None and findings.damage and not findings.runs + findings.trials:
            raise StoreError(f"{path}: nothing in it can be read ({findings.damage[0]})")
        return findings


@contextlib.contextmanager
def _new_store(path: Path | None) -> Iterator[sqlite3.Connection | None]:
    """Open a store for a copy, in one transaction; nothing is left of one that was not finished."""
    if path is None:
        yield None
        return
    if os.path.lexists(path):
        raise StoreError(f"{path} is there already; give --copy a new file")
    try:
        check_place(path, write=True)
        with contextlib.ExitStack() as unfinished:
            unfinished.callback(path.unlink, missing_ok=True)
            with contextlib.closing(connect(path, create=True)) as target:
                target.execute("BEGIN")
                yield target
                target.execute("COMMIT")
            unfinished.pop_all()
    except (sqlite3.Error, OSError) as fault:
        raise StoreError(f"the copy {path} cannot be written ({fault}); give --copy another file") from None


class _Survey:
    """Reads a store that may be damaged, as far as that goes."""

    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._findings = Findings()

    def save(self, target: sqlite3.Connection | None) -> Findings:
        """Count what is sound, and put it into a new store where there is one."""
        findings = self._findings
        try:
            for (line,) in self._base.execute("PRAGMA integrity_check(3)"):
                if line != "ok":
                    self._note(" ".join(line.split()))
        except REFUSALS as refusal:
            self._note(refusal)
        sound: set[int] = set()
        for number, row, records in self._trials():
            sound.add(number)
            findings.records += len(records)
            if target is not None:
                target.execute(COPY_TRIAL, (number, *row))
                target.executemany(INSERT_RECORD, ((number, k, *values) for k, values in enumerate(records)))
        findings.trials = len(sound)
        for row in self._runs():
            findings.runs += 1
            links = [link for link in self._links(row[1]) if link[2] in sound]
            if target is not None:
                target.execute(COPY_RUN, row)
                target.executemany(INSERT_LINK, links)
        findings.damage = list(dict.fromkeys(findings.damage))  # a page that is read twice is named once
        return findings

    def _note(self, fault: object) -> None:
        self._findings.damage.append(shorten(str(fault), LONGEST_NAME))

    def _trials(self) -> Iterator[tuple[int, Row, list[Row]]]:
        """Yield number, digest with TRIAL_COLUMNS, and records of every sound trial."""
        for number in self._numbers(TRIAL_NUMBERS):
            try:
                row = self._row(SELECT_TRIAL, number)
                records = self._base.execute(SELECT_TRIAL_RECORDS, (number,)).fetchall()
                result_of(number, row[0], row[1:], records, SOME_LINK)
            except FAULTS as fault:
                self._findings.lost_trials += 1
                self._note(f"trial {number}: {fault}")
            else:
                yield number, row, records

    def _runs(self) -> Iterator[Row]:
        """Yield digest with RUN_COLUMNS of every sound run."""
        for number in self._numbers(RUN_NUMBERS):
            try:
                row = self._row(SELECT_RUN, number)
                run_of(Path(), row[0], row[1:], {}, {}, going=False)
            except FAULTS as fault:
                self._findings.lost_runs += 1
                self._note(f"run {number}: {fault}")
            else:
                yield row

    def _links(self, run: int) -> Iterator[Row]:
        """Yield LINK_COLUMNS with digest of a run's sound links."""
        by_position = {row[2]: row for row in self._both_ways(SELECT_LINKS, run)}
        for digest, *link in by_position.values():
            try:
                check_digest(f"position {link[1]} of run {run}", digest, digest_of(tuple(link)))
            except Damaged as fault:
                self._note(fault)
            else:
                yield (*link, digest)

    def _row(self, statement: str, number: int) -> Row:
        row: Row | None = self._base.execute(statement, (number,)).fetchone()
        if row is None:
            raise Damaged("its row is missing")
        return row

    def _numbers(self, statements: tuple[str, ...]) -> list[int]:
        numbers = {row[0] for statement in statements for row in self._both_ways(statement)}
        return sorted(number for number in numbers if isinstance(number, int) and number > 0)

    def _both_ways(self, statement: str, *values: Any) -> Iterator[Row]:
        """Yield rows from the start up to the first damaged page, then from the end back to the last one."""
        for order in ("", " DESC"):
            try:
                yield from self._base.execute(statement + order, values)
            except REFUSALS as fault:
                self._note(fault)
            else:
                return
