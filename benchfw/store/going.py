"""Whether a run is still going: its process holds the lock of an empty file beside the store.

The system lets go of the lock however the process ends: a killed run is told from one that goes on.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def going(store: Path, run: int) -> Iterator[None]:
    """Let everybody know that a run is going, for as long as the context lasts."""
    mark = _mark(store, run)
    with contextlib.ExitStack() as stack:
        # without locks in this file system, or without room for the file, a run still goes on
        with contextlib.suppress(OSError):
            file = stack.enter_context(mark.open("w", encoding="ascii"))
            stack.callback(mark.unlink, missing_ok=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def is_going(store: Path, run: int) -> bool:
    """Return whether a process, here or on another machine that shares the folder, is at work on a run."""
    try:
        with _mark(store, run).open(encoding="ascii") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:  # held; or nobody can tell, and the file is there
        return True
    return False  # left behind by a process that was killed


def _mark(store: Path, run: int) -> Path:
    return store.with_name(f"{store.name}-run-{run}")
