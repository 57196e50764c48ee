"""The bytecode that Python keeps beside a source file, and whether it is that of the file as it is now."""

from __future__ import annotations

import contextlib
import importlib.util
import os

HEADER = 16  # bytes: which Python, flags, seconds of the source, its size


def is_of_file(cached: str, path: str) -> bool:
    """Return whether Python takes bytecode for that of a file: it compares whole seconds and sizes."""
    with open(cached, "rb") as file:  # noqa: PTH123 - for every module
        header = file.read(HEADER)
    state = os.stat(path)  # noqa: PTH116 - as above
    numbers = (0, int(state.st_mtime), state.st_size)
    return header[4:] == b"".join((each & 0xFFFFFFFF).to_bytes(4, "little") for each in numbers)


def remove_if_older(path: str, edited: int) -> None:
    """Remove bytecode that Python takes for that of a file which was `edited` since, in nanoseconds.

    So it is after an edit in the second of the last import that leaves the size as it was.
    """
    with contextlib.suppress(OSError, NotImplementedError):  # none is kept, or not by us
        cached = importlib.util.cache_from_source(path)
        if os.stat(cached).st_mtime_ns < edited and is_of_file(cached, path):  # noqa: PTH116 - as above
            os.unlink(cached)  # noqa: PTH108
