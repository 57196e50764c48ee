"""Opens a store's file, makes or upgrades it, and puts what SQLite refuses into words."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from time import monotonic, sleep

from benchfw.errors import StoreError
from benchfw.records import SCHEMA_VERSION
from benchfw.store.schema import APPLICATION_ID, LAYOUTS

PATIENCE = 30.0  # seconds to wait for another process that writes

REFUSALS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; of a damaged file even the message may be no text."""
DAMAGED = "it is damaged; `benchfw store repair` keeps what can be read"
ADVICE = {
    sqlite3.SQLITE_FULL: "make room; what was finished is kept and the same command goes on from there",
    sqlite3.SQLITE_IOERR: "make room or look after the disk; what was finished is kept",
    sqlite3.SQLITE_BUSY: "another process has held it for long; wait for it or give another by --store",
    sqlite3.SQLITE_READONLY: "it cannot be written; give another by --store",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_ERROR: DAMAGED,  # a statement that is right where the tables are as they were made
    sqlite3.SQLITE_NOTADB: f"if it ever was one, {DAMAGED}; else give another by --store",
}


class NewerSchema(StoreError):
    """A store of a later benchfw."""


def explained(path: Path, fault: BaseException) -> StoreError:
    """Return what SQLite, or the system, refuses as an error of ours that says what to do."""
    in_the_way = next((folder for folder in path.parents if folder.is_file()), None)
    if in_the_way:
        return StoreError(
            f"no store can be at {path}: {in_the_way} is a file; move it or give another by --store"
        )
    code = getattr(fault, "sqlite_errorcode", None)
    # a text that is none is a fault without a code
    advice = ADVICE.get(code & 0xFF, "give another by --store") if code is not None else DAMAGED
    if isinstance(fault, OSError):
        advice = "give another by --store"
    return StoreError(f"{path} cannot be used as a store ({fault}); {advice}")


def connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Return an open store that is one; a new one is made in one transaction, however many do so at once."""
    base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    with contextlib.ExitStack() as refused:
        refused.callback(base.close)
        try:
            if create:
                base.execute("BEGIN IMMEDIATE")
                if not base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                    base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                upgrade(base, path)
                base.execute("COMMIT")
                _patiently(base, "PRAGMA journal_mode = WAL")
                base.execute("PRAGMA synchronous = FULL")  # a finished trial survives a power cut too
            else:
                base = _readable(base, path)
        except sqlite3.OperationalError:
            if create:
                raise
            # on a medium that cannot be written SQLite reads a file only if told that nobody else writes it
            base = sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
            refused.callback(base.close)
            base = _readable(base, path)
        refused.pop_all()
    return base


def upgrade(base: sqlite3.Connection, path: Path) -> None:
    """Bring a store, or an empty file, to the schema of today."""
    for number, layout in enumerate(LAYOUTS[version_of(base, path) :], version_of(base, path) + 1):
        for statement in layout.split(";"):
            base.execute(statement)
        base.execute(f"PRAGMA user_version = {number}")


def version_of(base: sqlite3.Connection, path: Path) -> int:
    """Return the schema version of a store; what is no store of ours is an error."""
    if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is a database, but no benchfw store; give another file by --store")
    version = int(base.execute("PRAGMA user_version").fetchone()[0])
    if version > SCHEMA_VERSION:
        raise NewerSchema(
            f"{path} has schema {version} and this benchfw reads up to {SCHEMA_VERSION}; "
            "upgrade benchfw or give another file by --store"
        )
    return version


def _readable(base: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """Return the store, or a copy in memory with the schema of today: reading never changes a file."""
    if version_of(base, path) == SCHEMA_VERSION:
        return base
    copy = sqlite3.connect(":memory:", isolation_level=None)
    base.backup(copy)
    base.close()
    upgrade(copy, path)
    return copy


def _patiently(base: sqlite3.Connection, statement: str) -> None:
    """Execute what SQLite refuses at once, without waiting, while another process does the same."""
    ends = monotonic() + PATIENCE
    while True:
        try:
            base.execute(statement)
        except sqlite3.OperationalError:
            if monotonic() > ends:
                raise
            sleep(0.01)
        else:
            return
