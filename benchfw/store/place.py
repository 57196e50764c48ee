"""The file of an open store: where it lies, and what to do when it is taken away under a run."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
import tempfile
from pathlib import Path

from benchfw.errors import StoreError

Identity = tuple[int, int] | None


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
