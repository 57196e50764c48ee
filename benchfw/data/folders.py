"""Finds `NAME.npz` in the folders that BENCHFW_DATA lists."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.errors import DataError, nearest

if TYPE_CHECKING:
    import numpy as np

VARIABLE = "BENCHFW_DATA"


def folders() -> list[Path]:
    """Return the folders to search, in order."""
    return [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def names() -> dict[str, Path]:
    """Return the data sets that are here, by name; the first folder that has a name wins."""
    found: dict[str, Path] = {}
    for folder in folders():
        for path in sorted(folder.glob("*.npz")):
            found.setdefault(path.stem, path)
    return dict(sorted(found.items()))


def find(name: str) -> Path:
    """Return the file of a data set."""
    here = names()
    if name not in here:
        where = ", ".join(map(str, folders()))
        hint = nearest(name, here) if here else f"; put {name}.npz into a folder and name it in {VARIABLE}"
        raise DataError(f"no data set '{name}' in {where or f'{VARIABLE}, which is not set'}{hint}")
    return here[name]


def load(name: str) -> dict[str, np.ndarray[Any, Any]]:
    """Return the arrays of a data set by name."""
    import zipfile
    import zlib

    import numpy as np

    path = find(name)
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {key: archive[key] for key in archive.files}
    except (OSError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as fault:
        raise DataError(f"data set '{name}' in {path} cannot be read ({fault}); replace the file") from None


def fingerprint(name: str) -> str:
    """Return the sha256 of a data set's file, which is part of a trial's identity."""
    path = find(name)
    status = path.stat()
    return _digest(path, (status.st_mtime_ns, status.st_size))


@functools.cache
def _digest(path: Path, _state: tuple[int, int]) -> str:
    import hashlib

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
