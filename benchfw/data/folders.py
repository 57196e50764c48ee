"""Where data sets lie: the folders of BENCHFW_DATA, then the cache.

A data set is `NAME.npz`, or a folder `NAME/` with one .npy file an array, which is memory-mapped.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.errors import DataError

if TYPE_CHECKING:
    from benchfw.data.entry import Arrays

VARIABLE = "BENCHFW_DATA"
"""The environment variable that lists the folders of data sets, separated as in PATH."""

CACHE_VARIABLE = "BENCHFW_CACHE"


def folders() -> list[Path]:
    """Return the folders that BENCHFW_DATA lists, in order."""
    return [Path(each) for each in os.environ.get(VARIABLE, "").split(os.pathsep) if each]


def cache() -> Path:
    """Return the folder of what was fetched or imported: BENCHFW_CACHE, or the platform's own."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("benchfw"))


def here() -> dict[str, Path]:
    """Return what is here, by name; the first folder that has a name wins, the cache comes last."""
    found: dict[str, Path] = {}
    for folder in (*folders(), cache()):
        for path in _sets_in(folder):
            found.setdefault(path.stem if path.suffix == ".npz" else path.name, path)
    return dict(sorted(found.items()))


def _sets_in(folder: Path) -> Iterator[Path]:
    try:
        paths = sorted(folder.iterdir())
    except OSError:
        return  # a folder that is not there, or not ours to read, has nothing for us
    for path in paths:
        if path.name.startswith("."):
            continue
        try:
            if path.is_file() if path.suffix == ".npz" else path.is_dir() and any(path.glob("*.npy")):
                yield path
        except OSError:
            continue  # a folder that may be listed but not entered


def locate(name: str) -> Path | None:
    """Return the file or folder of a data set, or None."""
    if Path(name).name != name:
        return None
    for folder in (*folders(), cache()):
        archive, parts = folder / f"{name}.npz", folder / name
        try:
            if archive.is_file():
                return archive
            if parts.is_dir() and any(parts.glob("*.npy")):
                return parts
        except OSError:
            continue  # not ours to read, or no name that a file can have
    return None


def read(name: str, path: Path) -> Arrays:
    """Return the arrays in a file or folder; pickled objects are never read."""
    import numpy as np

    try:
        if path.is_dir():
            return {each.stem: np.load(each, "r", allow_pickle=False) for each in sorted(path.glob("*.npy"))}
        loaded: Any = np.load(path, allow_pickle=False)
        with loaded as archive:
            return {key: archive[key] for key in archive.files}
    except Exception as fault:  # a damaged archive may make NumPy raise anything, also MemoryError
        what = str(fault).partition(". ")[0] or type(fault).__name__
        raise DataError(f"data set '{name}' in {path} cannot be read ({what}); replace the file") from fault


def searched() -> str:
    """Return the places that are searched, for a message."""
    where = ", ".join(map(str, folders())) or f"{VARIABLE} (not set)"
    return f"{where} and the cache {cache()}"
