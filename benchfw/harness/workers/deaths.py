"""What a worker process leaves when it ends: an exit code, what it wrote, and other processes."""

from __future__ import annotations

import os
import re
import signal
import tempfile
from pathlib import Path

from benchfw.harness.workers.supervisor import OUT_OF_MEMORY
from benchfw.sources import is_installed

LOG_BYTES = 1_000_000  # of trials that have ended, that a log may hold before it is emptied


class Log:
    """A file that a worker writes to and its parent reads; the two share one position in it."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - lives as long as the worker
        self._start = 0

    def fileno(self) -> int:
        """Return its file descriptor, the same in the worker if it is handed down."""
        return self._file.fileno()

    def begin(self) -> None:
        """Pass over what was written up to now; the worker is idle."""
        self._start = self._file.seek(0, os.SEEK_CUR)
        self.bound(LOG_BYTES)

    def bound(self, most: int) -> None:
        """Forget all of it if it is more than so many bytes."""
        if os.fstat(self.fileno()).st_size > most:
            os.ftruncate(self.fileno(), 0)
            self._start = self._file.seek(0)

    def read(self, most: int | None = None) -> bytes:
        """Return what was written since, at most so many bytes of its end."""
        end = os.fstat(self.fileno()).st_size
        start = self._start if most is None else max(self._start, end - most)
        return os.pread(self.fileno(), max(0, end - start), start)

    def read_lines(self) -> tuple[bytes, bytes]:
        """Return the whole lines that were written since, which are passed over, and the rest."""
        lines, newline, rest = self.read().rpartition(b"\n")
        self._start += len(lines) + len(newline)
        return lines, rest

    def close(self) -> None:
        self._file.close()


def describe_end(code: int) -> str:
    """Return 'ended with exit code 3' or 'was killed by SIGSEGV', from what Popen gives back."""
    if code == OUT_OF_MEMORY:
        return "ran out of memory"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", perhaps because the system ran out of memory" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"


def find_place(log: str) -> str:
    """Return ' in mine.py, line 3' from what Python's fault handler wrote, or nothing.

    That is the innermost line that is not in a library.
    """
    stack = re.search(r"Current thread .*\n((?:\s+File .*\n?)*)", log)
    frames = re.findall(r'File "([^"]+)", line (\d+)', stack[1]) if stack else []
    own = [(file, line) for file, line in frames if not file.startswith("<") and not is_installed(file)]
    for file, line in own or frames:
        return f" in {Path(file).name}, line {line}"
    return ""
