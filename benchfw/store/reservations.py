"""Who runs which trial: runs on one store share the work, and none waits for a run that has died.

A run holds the lock of a file of its own beside the store for as long as it lives; its reservations are rows
that name it. The system releases the lock when the process ends, however it ends: they are void from then on.
Only a run removes lock files: its own, and, when it begins, those of the dead. A look leaves them alone.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic, sleep

from benchfw.errors import StoreError
from benchfw.system import open_lock, try_lock

PATIENCE_SECONDS = 5.0  # others hold the lock only to look at it, which takes no time


class RunLock:
    """The lock of one run, held from the start."""

    def __init__(self, store: Path, run: int) -> None:
        self._file = _lock_file(store, run)
        self._handle = -1
        remove_dead_locks(store)
        self.hold()

    def hold(self) -> None:
        """Take the lock, again where somebody has removed its file in the meantime."""
        while not _is_at(self._file, self._handle):
            self._close()
            self._handle = _open(self._file, os.O_RDWR | os.O_CREAT)
            ends = monotonic() + PATIENCE_SECONDS
            while not try_lock(self._handle):
                if monotonic() > ends:
                    raise StoreError(
                        f"{self._file} is locked by another run; wait for its end, or use another --store"
                    )
                sleep(0.01)

    def release(self) -> None:
        """Remove the file and let go of the lock."""
        if _is_at(self._file, self._handle):
            _remove_and_close(self._file, self._handle)
            self._handle = -1
        self._close()

    def _close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
        self._handle = -1


def reserve(base: sqlite3.Connection, store: Path, run: int, keys: Iterable[str]) -> dict[str, int]:
    """Reserve keys for a run, inside a transaction; return those that other runs hold, with the run."""
    others = [other for (other,) in base.execute("SELECT DISTINCT run FROM reservation")]
    held: dict[str, int] = {}
    for other in others:
        if other != run and is_running(store, other):
            held.update(base.execute("SELECT key, run FROM reservation WHERE run = ?", (other,)))
    theirs: dict[str, int] = {}

    def choose_free() -> Iterator[tuple[str, int]]:
        for key in keys:
            if key in held:
                theirs[key] = held[key]
            else:
                yield key, run

    base.executemany("INSERT OR REPLACE INTO reservation (key, run) VALUES (?, ?)", choose_free())
    return theirs


def is_running(store: Path, run: int) -> bool:
    """Return whether the process of a run still lives."""
    with _opened(_lock_file(store, run)) as handle:
        return handle is not None and not try_lock(handle, shared=True)  # looks do not disturb each other


def remove_dead_locks(store: Path) -> None:
    """Remove the lock files of runs that have died.

    A run that has made its file but not locked it yet finds that out, and makes it again.
    """
    for run in _locked_runs(store):
        file = _lock_file(store, run)
        with contextlib.suppress(OSError, StoreError):
            handle = _open(file, os.O_RDONLY)
            if try_lock(handle) and _is_at(file, handle):
                _remove_and_close(file, handle)
            else:
                os.close(handle)


def _locked_runs(store: Path) -> list[int]:
    start = f"{store.name}-run-"
    names = [each.name.removeprefix(start) for each in store.parent.glob("*-run-*")]
    return sorted(int(each) for each in names if each.isdecimal())


def _lock_file(store: Path, run: int) -> Path:
    return store.with_name(f"{store.name}-run-{run}")


@contextlib.contextmanager
def _opened(file: Path) -> Iterator[int | None]:
    """Yield the handle of a lock file, None where there is none."""
    try:
        handle = _open(file, os.O_RDONLY)
    except FileNotFoundError:
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


def _open(file: Path, flags: int) -> int:
    """Open a lock file, but nothing that a link in its place leads to, and without waiting for anything."""
    try:
        handle = open_lock(file, flags)
        if stat.S_ISREG(os.fstat(handle).st_mode):
            return handle
        os.close(handle)
    except FileNotFoundError:
        raise
    except OSError as fault:
        raise StoreError(
            f"{file}, the lock of a run, cannot be opened ({fault.strerror}); remove it if no run is going on"
        ) from None
    raise StoreError(f"{file} should be the lock of a run, and is not a file; remove it")


def _remove_and_close(file: Path, handle: int) -> None:
    """Remove a lock file, while its lock is held if the system can; Windows removes no open file."""
    removed = _remove(file)
    os.close(handle)
    if not removed:
        _remove(file)


def _remove(file: Path) -> bool:
    try:
        file.unlink()
    except OSError:  # it is open, or the folder has become read-only
        return False
    return True


def _is_at(file: Path, handle: int) -> bool:
    """Return whether an open file is the one of this name."""
    try:
        return handle >= 0 and os.path.samestat(file.lstat(), os.fstat(handle))
    except OSError:
        return False
