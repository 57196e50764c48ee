"""`benchfw store check` and `repair`: finds damage, and saves what is sound into a new file."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchfw.errors import StoreError
from benchfw.store.claims import living_runs
from benchfw.store.connection import REFUSALS, NewerSchema, connect, explained, upgrade
from benchfw.store.schema import COPY_RUN, COPY_TRIAL, INSERT_LINK, INSERT_RECORD
from benchfw.store.survey import Survey

PAGE = 4096
UNSURE_OF_SIZE = slice(92, 96)  # of the header: zeros here let SQLite go by the size of the file
ODD_TABLES = """
SELECT COUNT(*) FROM pattern.sqlite_master AS new
LEFT JOIN main.sqlite_master AS old ON old.name = new.name AND old.sql IS new.sql WHERE old.name IS NULL
"""


@dataclass(frozen=True)
class Findings:
    """What is sound in a store, how much is lost, and what is wrong."""

    runs: int
    trials: int
    records: int
    lost_runs: int
    lost_trials: int
    unsealed: int
    damage: tuple[str, ...]


def check(path: Path) -> Findings:
    """Look through a store; the file is left as it is."""
    return _look_through(path, None)


def repair(path: Path) -> tuple[Findings, Path | None]:
    """Put what is sound into a new file under the store's name; return the findings and where the old one is.

    A store without damage stays as it is, and the place is None.
    """
    if not path.name:
        raise StoreError(f"no store can be at '{path}'; give --store")
    going = living_runs(path)
    if going:
        raise StoreError(f"run {going[0]} is going on in {path}; repair it when that has ended")
    new = path.with_name(f"{path.name}-repaired")
    try:
        with contextlib.closing(connect(new, create=True)) as saved:
            saved.execute("BEGIN")
            findings = _look_through(path, saved)
            saved.execute("COMMIT")
        if not findings.damage:
            return findings, None
        aside = _set_aside(path)
        new.rename(path)
    except (*REFUSALS, OSError) as fault:
        raise explained(path, fault) from None
    finally:
        for each in _with_journals(new):
            with contextlib.suppress(OSError):  # a name that no file can have
                each.unlink(missing_ok=True)
    return findings, aside


def _look_through(path: Path, saved: sqlite3.Connection | None) -> Findings:
    """Survey a copy of the store: SQLite tidies up what it opens, and damage should stay as it is."""
    try:
        if not path.is_file():
            raise StoreError(f"no store at {path}; give --store")
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}-") as folder:
            for each in _with_journals(path)[:2]:
                if each.exists():
                    shutil.copyfile(each, Path(folder, each.name))
            pattern = Path(folder, "pattern")
            connect(pattern, create=True).close()
            base, fault = _opened(Path(folder, path.name), pattern)
            with contextlib.closing(base):
                found = _save(Survey(base, fault), saved)
    except (*REFUSALS, OSError) as refusal:
        raise explained(path, refusal) from None
    if fault is not None and not found.runs + found.trials:
        raise StoreError(f"{path}: nothing in it can be read as a store ({fault}); give another by --store")
    return found


def _opened(copy: Path, pattern: Path) -> tuple[sqlite3.Connection, Exception | None]:
    """Open a copy; where its first page is damaged, with that of a new store, and return the fault too.

    The first page says where the tables begin, which is the same in every store.
    """
    try:
        return _with_tables_of(pattern, copy), None
    except NewerSchema:
        raise
    except (*REFUSALS, StoreError) as fault:
        page = bytearray(pattern.read_bytes()[:PAGE])
        page[UNSURE_OF_SIZE] = b"\0\0\0\0"
        with copy.open("r+b") as file:
            file.write(page)
        return _with_tables_of(pattern, copy), fault


def _with_tables_of(pattern: Path, copy: Path) -> sqlite3.Connection:
    """Return an open store whose tables are those of the pattern."""
    base = sqlite3.connect(copy, isolation_level=None)
    with contextlib.ExitStack() as refused:
        refused.callback(base.close)
        base.execute("PRAGMA writable_schema = ON")  # else a file that was cut short is not opened at all
        upgrade(base, copy)
        base.execute("ATTACH ? AS pattern", (os.fsencode(pattern),))  # not every name is text
        if base.execute(ODD_TABLES).fetchone()[0]:
            raise StoreError("its tables are not those of a store")
        refused.pop_all()
    return base


def _save(survey: Survey, saved: sqlite3.Connection | None) -> Findings:
    """Count what is sound, and put it into a new store where there is one."""
    sound: set[int] = set()
    runs = records = unsealed = 0
    for number, row, measured in survey.trials():
        sound.add(number)
        records += len(measured)
        unsealed += row[0] is None
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
    return Findings(runs, len(sound), records, survey.lost_runs, survey.lost_trials, unsealed, damage)


def _with_journals(path: Path) -> list[Path]:
    return [path.with_name(f"{path.name}{ending}") for ending in ("", "-wal", "-shm")]


def _set_aside(path: Path) -> Path:
    """Rename a damaged store, with its journals, to a name that is free; return it."""
    number = 1
    while (aside := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    for old, new in zip(_with_journals(path), _with_journals(aside), strict=True):
        if old.exists():
            old.rename(new)
    return aside
