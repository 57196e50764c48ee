"""Opens a file of a store or makes it, watches that it stays in place, puts SQLite's refusals into words."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from time import monotonic, sleep

from benchfw.errors import StoreError
from benchfw.store.schema import APPLICATION_ID, LAYOUT, SCHEMA_VERSION, TABLES

Identity = tuple[int, int] | None  # the inode of a file

UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
BUSY_SECONDS = 30.0  # seconds to wait for another process that writes

STEPS = 10_000  # of SQLite's machine between looks at whether it has done too much
FREE_STEPS = 1_000_000
READING_STEPS = 10  # for each byte of the store; a record has 25 bytes or more, and takes 20 steps

REFUSALS = (sqlite3.Error, UnicodeDecodeError)
"""What SQLite raises; of a damaged file even the message may not be text."""
DAMAGED = "it is damaged; `benchfw store check --copy NEW.sqlite` saves what can be read"
ADVICE = {
    sqlite3.SQLITE_FULL: "free some space; finished trials are kept, the same command continues from there",
    sqlite3.SQLITE_IOERR: "free some space or check the disk; finished trials are kept",
    sqlite3.SQLITE_BUSY: "another process is using it; wait for it, or use another --store",
    sqlite3.SQLITE_READONLY: "it cannot be written; use another --store",
    sqlite3.SQLITE_CORRUPT: DAMAGED,
    sqlite3.SQLITE_INTERRUPT: DAMAGED,  # by `bound_work`
    sqlite3.SQLITE_ERROR: DAMAGED,  # a statement that is right where the tables are as they were made
    sqlite3.SQLITE_NOTADB: f"if it ever was one, {DAMAGED}; else use another --store",
}


def explain_refusal(path: Path, fault: BaseException) -> StoreError:
    """Return what SQLite, or the system, refuses as an error of ours that says what to do."""
    in_the_way = next((folder for folder in path.parents if folder.is_file()), None)
    if in_the_way:
        return StoreError(
            f"no store can be at {path}: {in_the_way} is a file; move it or use another --store"
        )
    code = getattr(fault, "sqlite_errorcode", None)
    advice = ADVICE.get(code & 0xFF, "use another --store") if code is not None else DAMAGED
    if isinstance(fault, OSError):
        advice = "use another --store"
    return StoreError(f"{path} cannot be used as a store ({fault}); {advice}")


def connect(path: Path, *, create: bool, cut_short: bool = False) -> sqlite3.Connection:
    """Return an open store that is one; a new one is made in one transaction, however many do so at once.

    One that was cut short is opened only where that is asked for.
    """
    # absolute: SQLite gives names such as :memory: a meaning of its own
    base = sqlite3.connect(path.absolute(), timeout=BUSY_SECONDS, isolation_level=None)
    with contextlib.ExitStack() as refused:
        refused.callback(base.close)
        try:
            if cut_short:
                base.execute("PRAGMA writable_schema = ON")  # SQLite goes by the size of the file from now on
            if create:
                base.execute("BEGIN IMMEDIATE")
                if not base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                    make_tables(base)
                check_schema(base, path)
                base.execute("COMMIT")
                _execute_patiently(base, "PRAGMA journal_mode = WAL")
                base.execute("PRAGMA synchronous = FULL")  # a finished trial survives a power cut too
                base.execute("SELECT COUNT(*) FROM run").fetchone()  # from now on the journal is open too
            else:
                check_schema(base, path)
        except sqlite3.OperationalError as fault:
            # text that cannot be decoded is a fault without a code
            if create or getattr(fault, "sqlite_errorcode", 0) & 0xFF not in UNWRITABLE:
                raise
            base.close()
            base = sqlite3.connect(immutable_address(path), uri=True)
            refused.callback(base.close)
            check_schema(base, path)
        refused.pop_all()
    return base


def immutable_address(path: Path) -> str:
    """Return how SQLite opens a file where nothing can be written; StoreError if part of it is elsewhere.

    It then takes for granted that nobody else writes the file, and leaves out what is in a journal.
    """
    journal = path.with_name(f"{path.name}-wal")
    if journal.exists() and journal.stat().st_size:
        raise StoreError(
            f"{path} cannot be read where nothing can be written: some of it is still in "
            f"{journal.name}; copy both files to another folder and use that --store"
        )
    return f"{path.resolve().as_uri()}?immutable=1"


def attach_source(base: sqlite3.Connection, path: Path) -> None:
    """Attach a store as `source`, for reading, to one that was opened with `uri=True`."""
    try:
        base.execute("ATTACH ? AS source", (f"{path.resolve().as_uri()}?mode=ro",))
        base.execute("SELECT COUNT(*) FROM source.run").fetchone()  # the file is opened when it is read
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode & 0xFF not in UNWRITABLE:
            raise
        if "source" in [name for _, name, _ in base.execute("PRAGMA database_list")]:
            base.execute("DETACH source")
        base.execute("ATTACH ? AS source", (immutable_address(path),))


def make_tables(base: sqlite3.Connection) -> None:
    """Make an empty file a store."""
    base.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    base.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    for statement in LAYOUT.split(";"):
        base.execute(statement)


def check_schema(base: sqlite3.Connection, path: Path) -> None:
    """Raise unless this is a store that this benchfw reads."""
    if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is a database, but not a benchfw store; use another --store")
    version = int(base.execute("PRAGMA user_version").fetchone()[0])
    if version != SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema {version} and this benchfw reads schema {SCHEMA_VERSION}; "
            "use the benchfw that wrote it, or use another --store"
        )
    # a trigger, or a view in the place of a table, would make SQLite do work that benchfw never asked for
    if _find_tables(base) != _expected_tables():
        raise StoreError(
            f"{path}: its tables are not those of a store: another benchfw wrote it, or {DAMAGED}"
        )


def _find_tables(base: sqlite3.Connection) -> list[tuple[str, str, str, str | None]]:
    found = base.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name")
    return [row for row in found if row[2] in TABLES]


@functools.cache
def _expected_tables() -> list[tuple[str, str, str, str | None]]:
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as base:
        make_tables(base)
        return _find_tables(base)


@contextlib.contextmanager
def bound_work(
    base: sqlite3.Connection,
    path: Path,
    steps_per_byte: int = READING_STEPS,
    calls: Iterator[int] | None = None,
) -> Iterator[None]:
    """Let SQLite give up when it has done more than any sound store of that size needs.

    In a damaged or forged file one page may stand in many places, and be read in each of them. Work that is
    done in several parts shares one count of `calls`.
    """
    size = sum(each.stat().st_size for each in (path, path.with_name(f"{path.name}-wal")) if each.exists())
    calls, most = calls or count(), (FREE_STEPS + steps_per_byte * size) // STEPS
    base.set_progress_handler(lambda: next(calls) > most, STEPS)
    try:
        yield
    finally:
        base.set_progress_handler(None, 0)


def _execute_patiently(base: sqlite3.Connection, statement: str) -> None:
    """Execute what SQLite refuses at once, without waiting, while another process does the same."""
    ends = monotonic() + BUSY_SECONDS
    while True:
        try:
            base.execute(statement)
        except sqlite3.OperationalError:
            if monotonic() > ends:
                raise
            sleep(0.01)
        else:
            return


def check_place(path: Path, *, write: bool) -> None:
    """Raise StoreError where no store can be, or where it would be damaged."""
    if str(path) == ":memory:":
        raise StoreError(
            "a store in memory is lost with the process that made it; give --store a file, for example "
            "one in a temporary folder"
        )
    try:
        found = path.stat()
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path} is not a file, and cannot be used as a store; use another --store")
    if write and found.st_nlink > 1:
        raise StoreError(
            f"{path} has another name (a hard link), and SQLite damages a file that is used under two names; "
            "copy it to a file of its own, or use another --store"
        )


def real_path(path: Path) -> Path:
    """Return the one path of a file that links may give several names."""
    return Path(os.path.realpath(path))


class Place:
    """The file of a store that is open for writing, and its journal, known by their inodes.

    SQLite goes on writing into a file that has been deleted, and says nothing.
    """

    def __init__(self, path: Path) -> None:
        self._path = real_path(path)
        self._files = [str(self._path), f"{self._path}-wal"]
        self._known = [_identify(each) for each in self._files]

    def is_ours(self) -> bool:
        """Return whether both files are still those that were opened; the journal may be made later."""
        try:
            found = [_identify(each) for each in self._files]
        except OSError:  # a folder that may no longer be read says nothing about its files
            return True
        self._known = [old or new for old, new in zip(self._known, found, strict=True)]
        return found == self._known

    def rescue(self, base: sqlite3.Connection) -> Path | None:
        """Copy an open store to a new file, beside its old place if possible; return where, or None."""
        # what is in the journal would be applied to the file that has taken the place of ours
        if _identify(self._files[0]) != self._known[0]:
            with contextlib.suppress(sqlite3.Error):
                base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for folder in (self._path.parent, Path(tempfile.gettempdir())):
            with contextlib.suppress(OSError, sqlite3.Error), contextlib.ExitStack() as failed:
                folder.mkdir(parents=True, exist_ok=True)
                handle, name = tempfile.mkstemp(prefix=f"{self._path.name}.rescued-", dir=folder)
                failed.callback(os.unlink, name)
                os.close(handle)
                with contextlib.closing(sqlite3.connect(name)) as copy:
                    base.backup(copy)
                failed.pop_all()
                return Path(name)
        return None


def _identify(path: str) -> Identity:
    try:
        found = os.lstat(path)  # a Path would take longer than the answer
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino
