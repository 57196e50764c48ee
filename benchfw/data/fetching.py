"""Brings a data set into the cache: from its official address, or from a file got by hand."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchfw.data import folders
from benchfw.data.access import absence, check_parameters, find, imported
from benchfw.data.download import Progress, Unreachable, download, refuse_insecure
from benchfw.data.entry import Dataset
from benchfw.data.known import dataset, known, spelled_out
from benchfw.data.placing import NotWritten, locked, place
from benchfw.errors import DataError

OFFLINE_VARIABLE = "BENCHFW_OFFLINE"
"""Set to anything, it forbids downloads."""


def fetch(name: str, *, progress: Progress | None = None, again: bool = False) -> Path:
    """Return where a data set is, downloaded, checked and parsed first if it is not here.

    `again` downloads even what is here. Processes that fetch one set at once make one download.
    """
    return fetch_entry(dataset(name), progress, again=again)


def fetch_entry(entry: Dataset, progress: Progress | None = None, *, again: bool = False) -> Path:
    """Return where a data set is, fetched if it is not here."""
    if entry.make is not None:
        raise DataError(f"data set '{entry.name}' is made on demand; there is nothing to fetch")
    path = folders.locate(entry.name)
    if path is not None and not again:
        return path
    if not entry.fetchable:
        raise DataError(absence(entry))
    if os.environ.get(OFFLINE_VARIABLE):
        raise DataError(absence(entry, f"{OFFLINE_VARIABLE} forbids downloads"))
    for file in entry.files:
        refuse_insecure(file.url or "")
    with locked(entry.name):
        path = folders.locate(entry.name)  # another process may have been faster
        if path is not None and not again:
            return path
        raw = folders.cache() / "raw" / entry.name
        if again:
            shutil.rmtree(raw, ignore_errors=True)
        return _fetch(entry, raw, progress)


def _fetch(entry: Dataset, raw: Path, progress: Progress | None) -> Path:
    try:
        files = {each.name: download(each, raw, progress) for each in entry.files}
    except Unreachable as fault:
        raise DataError(absence(entry, str(fault))) from None
    checked = "sha256 of the download" if all(each.sha256 for each in entry.files) else ""
    try:
        return place(entry, _parse(entry, files), _facts(files, entry.addresses), checked)
    except NotWritten:
        raise  # the download is good, and may have taken hours
    except DataError:
        shutil.rmtree(raw, ignore_errors=True)  # what was refused must not be taken for good the next time
        raise


def ensure(name: str, progress: Progress | None = None) -> None:
    """Make sure that `load(name)` will find its data: fetch what is not here; DataError if that cannot be."""
    plain, params = spelled_out(name)
    entry = known(plain)
    if entry is None:
        find(plain)
    elif entry.make is None:
        fetch_entry(entry, progress)
    else:
        function = imported(plain, entry.make) if isinstance(entry.make, str) else entry.make
        check_parameters(entry, function, params)
        source = {**entry.defaults, **params}.get("source")
        if isinstance(source, str):
            ensure(source, progress)


def import_files(name: str, paths: Sequence[Path]) -> Path:
    """Put files got by hand, NAME.npz or the raw files, into the cache, verified as a download is."""
    entry = dataset(name)
    if entry.make is not None:
        raise DataError(f"data set '{entry.name}' is made on demand; there is nothing to import")
    for path in paths:
        if not path.is_file():
            raise DataError(f"there is no file {path}")
    origin = ", ".join(str(path) for path in paths)
    if len(paths) == 1 and paths[0].suffix == ".npz":
        with locked(entry.name):
            arrays = folders.read(entry.name, paths[0])
            return place(entry, arrays, _facts({paths[0].name: paths[0]}, origin))
    if entry.loader is None:
        raise DataError(f"data set '{entry.name}' has no raw format; give {entry.name}.npz")
    files = _matched(entry, paths)
    known = {each.name: each.sha256 for each in entry.files}
    for each, path in files.items():
        if known[each] and _sha256(path) != known[each]:
            raise DataError(f"{path} is not the file that the catalog knows: its sha256 is not {known[each]}")
    checked = "sha256 of the file" if all(known.values()) else ""
    with locked(entry.name):
        return place(entry, _parse(entry, files), _facts(files, origin), checked)


def _matched(entry: Dataset, paths: Sequence[Path]) -> dict[str, Path]:
    wanted = [each.name for each in entry.files]
    if len(wanted) == len(paths) == 1:
        return {wanted[0]: paths[0]}
    given = {path.name: path for path in paths}
    missing = [each for each in wanted if each not in given]
    if missing or len(given) != len(wanted):
        raise DataError(
            f"data set '{entry.name}' is made of {', '.join(wanted)}; give all of them by these names"
        )
    return {each: given[each] for each in wanted}


def _parse(entry: Dataset, files: Mapping[str, Path]) -> Any:
    if entry.loader is None:
        raise DataError(f"data set '{entry.name}' has no loader for its raw files")
    loader = imported(entry.name, entry.loader) if isinstance(entry.loader, str) else entry.loader
    try:
        found = loader(files)
    except DataError:
        raise
    except Exception as fault:  # a damaged file may make a parser raise anything
        raise DataError(_unreadable(entry, fault)) from fault
    return _guarded(entry, found) if entry.streamed else found


def _guarded(entry: Dataset, pieces: Any) -> Any:
    try:
        yield from pieces
    except DataError:
        raise
    except Exception as fault:
        raise DataError(_unreadable(entry, fault)) from fault


def _unreadable(entry: Dataset, fault: Exception) -> str:
    what = " ".join(str(fault).split()) or type(fault).__name__
    return f"the file for '{entry.name}' cannot be read as {', '.join(f.name for f in entry.files)} ({what})"


def _facts(files: Mapping[str, Path], origin: str) -> dict[str, Any]:
    return {
        "from": origin,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": {
            name: {"sha256": _sha256(path), "bytes": path.stat().st_size} for name, path in files.items()
        },
    }


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
