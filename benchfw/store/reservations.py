"""Who runs which trial: runs on one store share the work, and none waits for a run that has died.

A run holds the lock of a file of its own beside the store for as long as it lives; its reservations are rows
that name it. The system releases the lock when the process ends, however it ends: they are void from then on.
"""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path


@contextlib.contextmanager
def hold_run_lock(base: sqlite3.Connection, store: Path, run: int) -> Iterator[None]:
    """Hold the run's lock; give up its reservations in the end."""
    file = _lock_file(store, run)
    with file.open("w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):  # on a full disk: void all the same
                base.execute("DELETE FROM reservation WHERE run = ?", (run,))
            file.unlink(missing_ok=True)


def reserve(base: sqlite3.Connection, store: Path, run: int, keys: Iterable[str]) -> dict[str, int]:
    """Reserve keys for a run, inside a transaction; return those that other runs hold, with the run."""
    held: dict[str, int] = dict(base.execute("SELECT key, run FROM reservation WHERE run != ?", (run,)))
    running = {other for other in set(held.values()) if is_running(store, other)}
    wanted = list(keys)
    theirs = {key: held[key] for key in wanted if held.get(key) in running}
    mine = [(key, run) for key in wanted if key not in theirs]
    base.executemany("INSERT OR REPLACE INTO reservation (key, run) VALUES (?, ?)", mine)
    return theirs


def is_running(store: Path, run: int) -> bool:
    """Return whether the process of a run still lives; what is left of a dead one is removed."""
    file = _lock_file(store, run)
    try:
        with file.open("r", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who ask do not disturb each other
            with contextlib.suppress(OSError):  # in a folder that cannot be written
                file.unlink()
    except BlockingIOError:
        return True
    except FileNotFoundError:
        pass
    return False


def running_runs(store: Path) -> list[int]:
    """Return the runs that are going on in a store."""
    start = f"{store.name}-run-"
    found = [each.name.removeprefix(start) for each in store.parent.glob("*-run-*")]
    return [int(each) for each in found if each.isdecimal() and is_running(store, int(each))]


def _lock_file(store: Path, run: int) -> Path:
    return store.with_name(f"{store.name}-run-{run}")
