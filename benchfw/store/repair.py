"""`benchfw store check` and `repair`: finds damage, and saves what is sound into a new file."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchfw.errors import StoreError
from benchfw.records import LONGEST_NAME, shorten
from benchfw.store.connection import (
    REFUSALS,
    OtherSchema,
    bound_work,
    check_place,
    check_schema,
    check_tables,
    connect,
    explain_refusal,
    real_path,
)
from benchfw.store.reservations import running_runs
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

PAGE = 4096
JOURNAL_HEADER = 32  # bytes, with numbers that are drawn anew each time
MOST_COPIES = 20  # of a store in use, until one is whole
UNSURE_OF_SIZE = slice(92, 96)  # of the header: zeros here let SQLite go by the size of the file
SURVEY_STEPS = 100  # of SQLite's machine for each byte: everything is read several times
FAULTS = (sqlite3.Error, Damaged, *GARBLED)
SOME_LINK: Row = (0, 0, 0, "", "", 0)  # for reading a trial by itself

# from the table, from its index, from the links: one that is damaged leaves the others
TRIAL_NUMBERS = (
    "SELECT id FROM trial NOT INDEXED ORDER BY id",
    "SELECT id FROM trial INDEXED BY trial_key ORDER BY key",
    "SELECT trial FROM link ORDER BY run",
)
RUN_NUMBERS = ("SELECT id FROM run ORDER BY id", "SELECT run FROM link ORDER BY run")


@dataclass(frozen=True)
class Findings:
    """What is sound in a store, how much is lost, and what is wrong."""

    runs: int
    trials: int
    records: int
    lost_runs: int
    lost_trials: int
    damage: tuple[str, ...]


def check(path: Path) -> Findings:
    """Look through a store; the file is left as it is."""
    with _explained(path), _workplace(path) as folder:
        return _look_through(path, folder, None)


def repair(path: Path) -> tuple[Findings, Path | None]:
    """Put what is sound into a new file under the store's name; return the findings and where the old one is.

    A store without damage stays as it is, and the place is None.
    """
    with _explained(path), _workplace(path) as folder:
        file = real_path(path)
        _refuse_running(path)
        before = _state(file)
        new = folder / "new"
        with contextlib.closing(connect(new, create=True)) as saved:
            saved.execute("BEGIN")
            findings = _look_through(path, folder, saved)
            saved.execute("COMMIT")
        _refuse_running(path)
        if not findings.damage:
            return findings, None
        if _state(file) != before:
            raise StoreError(
                f"{path} was written while it was being repaired; nothing was changed, repair it again"
            )
        aside = _set_aside(file)
        new.rename(file)
    return findings, aside


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Name the store in what SQLite or the system refuses."""
    try:
        yield
    except (*REFUSALS, OSError) as fault:
        raise explain_refusal(path, fault) from None


@contextlib.contextmanager
def _workplace(path: Path) -> Iterator[Path]:
    """Yield a folder for nobody else beside a store, or elsewhere where its folder cannot be written."""
    check_place(path, write=False)
    if not path.is_file():
        raise StoreError(f"no store at {path}; give --store")
    file = real_path(path)
    beside = file.parent if os.access(file.parent, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=beside, prefix=f"{file.name}-") as folder:
        yield Path(folder)


def _refuse_running(path: Path) -> None:
    going = running_runs(real_path(path))
    if going:
        raise StoreError(f"run {going[0]} is going on in {path}; repair it when that has ended")


def _state(file: Path) -> list[tuple[int, int, int] | None]:
    """Return what changes with every write to a store or its journal."""
    found = [each.stat() if each.exists() else None for each in _with_journals(file)[:2]]
    return [each and (each.st_ino, each.st_size, each.st_mtime_ns) for each in found]


def _look_through(path: Path, folder: Path, saved: sqlite3.Connection | None) -> Findings:
    """Survey a copy of the store: SQLite tidies up what it opens, and damage should stay as it is."""
    _copy(path, folder / "copy")
    pattern = folder / "pattern"
    connect(pattern, create=True).close()
    base, fault = _open_copy(folder / "copy", pattern)
    with contextlib.closing(base), bound_work(base, folder / "copy", SURVEY_STEPS):
        found = _save(Survey(base, fault), saved)
    if fault is not None and not found.runs + found.trials:
        raise StoreError(f"{path}: nothing in it can be read as a store ({fault}); use another --store")
    return found


def _copy(path: Path, copy: Path) -> None:
    """Copy a store and its journal, also while a run writes to them.

    The two fit together unless SQLite began the journal anew meanwhile: until then it only grows, and holds
    all that moves from it into the store.
    """
    file, journal = _with_journals(real_path(path))[:2]
    for _ in range(MOST_COPIES):
        before = _start_of(journal)
        for old, new in zip((file, journal), _with_journals(copy)[:2], strict=True):
            new.unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(old, new)
        if _start_of(journal) == before:
            return
    raise StoreError(
        f"{path} is written faster than it can be read; look at it when no run is going on in it"
    )


def _start_of(journal: Path) -> tuple[int, bytes] | None:
    """Return what changes whenever a journal is begun anew."""
    try:
        with journal.open("rb") as file:
            return os.fstat(file.fileno()).st_ino, file.read(JOURNAL_HEADER)
    except FileNotFoundError:
        return None


def _open_copy(copy: Path, pattern: Path) -> tuple[sqlite3.Connection, Exception | None]:
    """Open a copy; where its first page is damaged, with that of a new store, and return the fault too.

    The first page says where the tables begin, which is the same in every store.
    """
    try:
        base = _with_right_tables(copy)
    except OtherSchema:
        raise
    except (*REFUSALS, StoreError) as fault:
        page = bytearray(pattern.read_bytes()[:PAGE])
        page[UNSURE_OF_SIZE] = b"\0\0\0\0"
        with copy.open("r+b") as file:
            file.write(page)
        return _with_right_tables(copy), fault
    try:
        check_schema(base, copy)
    except StoreError:  # numbers that anybody can write; the tables are right
        return base, StoreError("its application_id or user_version is not that of a store")
    return base, None


def _with_right_tables(copy: Path) -> sqlite3.Connection:
    """Return an open store whose tables are as they should be."""
    base = sqlite3.connect(copy, isolation_level=None)
    with contextlib.ExitStack() as refused:
        refused.callback(base.close)
        base.execute("PRAGMA writable_schema = ON")  # else a file that was cut short is not opened at all
        try:
            check_tables(base, Path("it"))
        except StoreError:
            check_schema(base, copy)
            raise
        refused.pop_all()
    return base


def _save(survey: Survey, saved: sqlite3.Connection | None) -> Findings:
    """Count what is sound, and put it into a new store where there is one."""
    sound: set[int] = set()
    runs = records = 0
    for number, row, measured in survey.trials():
        sound.add(number)
        records += len(measured)
        if saved is not None:
            saved.execute(COPY_TRIAL, (number, *row))
            saved.executemany(INSERT_RECORD, ((number, index, *each) for index, each in enumerate(measured)))
    for row in survey.runs():
        runs += 1
        links = list(survey.links(row[1], sound))
        if saved is not None:
            saved.execute(COPY_RUN, row)
            saved.executemany(INSERT_LINK, links)
    damage = tuple(dict.fromkeys(survey.damage))
    return Findings(runs, len(sound), records, survey.lost_runs, survey.lost_trials, damage)


def _with_journals(path: Path) -> list[Path]:
    return [path.with_name(f"{path.name}{ending}") for ending in ("", "-wal", "-shm")]


def _set_aside(path: Path) -> Path:
    """Rename a damaged store, with its journals, to a name that is free; return it."""
    number = 1
    while os.path.lexists(aside := path.with_name(f"{path.name}.damaged-{number}")):
        number += 1
    for old, new in zip(_with_journals(path), _with_journals(aside), strict=True):
        if old.exists():
            old.rename(new)
    return aside


class Survey:
    """Reads a store that may be damaged; `damage` and the numbers of what is lost grow on the way.

    With a `fault` in its first page the places of the tables are a guess; checksums tell what is sound.
    """

    def __init__(self, base: sqlite3.Connection, fault: Exception | None = None) -> None:
        self._base = base
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
            except FAULTS as fault:
                self.lost_trials += 1
                self.damage.append(f"trial {number}: {shorten(str(fault), LONGEST_NAME)}")
            else:
                yield number, row, records

    def runs(self) -> Iterator[Row]:
        """Yield digest with RUN_COLUMNS of every sound run."""
        for number in self._numbers(RUN_NUMBERS):
            try:
                row = self._row(SELECT_RUN, number)
                run_of(Path(), row[0], row[1:], {}, {}, going=False)
            except FAULTS as fault:
                self.lost_runs += 1
                self.damage.append(f"run {number}: {shorten(str(fault), LONGEST_NAME)}")
            else:
                yield row

    def links(self, run: int, trials: Container[int]) -> Iterator[Row]:
        """Yield LINK_COLUMNS with digest of a run's sound links to these trials."""
        found = {row[2]: row for row in self._both_ways(SELECT_LINKS, run)}
        for digest, *link in found.values():
            try:
                check_digest(f"position {link[1]} of run {run}", digest, digest_of(tuple(link)))
            except Damaged as fault:
                self.damage.append(str(fault))
            else:
                if link[2] in trials:
                    yield (*link, digest)

    def _row(self, statement: str, number: int) -> Row:
        row: Row | None = self._base.execute(statement, (number,)).fetchone()
        if row is None:
            raise Damaged("its row is missing")
        return row

    def _numbers(self, statements: tuple[str, ...]) -> list[int]:
        found = {row[0] for statement in statements for row in self._both_ways(statement)}
        return sorted(number for number in found if isinstance(number, int) and number > 0)

    def _both_ways(self, statement: str, *values: Any) -> Iterator[Row]:
        """Yield rows from the start up to the first damaged page, then from the end back to the last one."""
        for order in ("", " DESC"):
            try:
                yield from self._base.execute(statement + order, values)
            except REFUSALS as fault:
                self.damage.append(str(fault))
            else:
                return
