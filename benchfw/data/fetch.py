"""Brings a data set into the cache: from its official address, or from a file got by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchfw.data.cache import NotWritten, lock_dataset, place, remove_folder
from benchfw.data.catalog import describe_absence, get_dataset
from benchfw.data.dataset import Dataset, RawFile, resolve_function
from benchfw.data.download import Progress, Unreachable, ask, download, refuse_insecure
from benchfw.data.files import cache_folder, file_name, locate, read_arrays
from benchfw.errors import BenchfwError, DataError

OFFLINE_VARIABLE = "BENCHFW_OFFLINE"
"""Set to anything, it forbids downloads."""


def fetch(name: str, *, progress: Progress | None = None, again: bool = False) -> Path:
    """Return where a data set is, downloaded, checked and parsed first if it is not here.

    `again` downloads even what is here. Processes that fetch one set at once make one download.
    """
    return fetch_entry(get_dataset(name), progress, again=again)


def fetch_entry(entry: Dataset, progress: Progress | None = None, *, again: bool = False) -> Path:
    """Return where a data set is, fetched if it is not here."""
    if entry.make is not None:
        raise DataError(f"data set '{entry.name}' is made on demand; there is nothing to fetch")
    path = locate(entry.name)
    if path is not None and not again:
        return path
    if not entry.fetchable:
        raise DataError(describe_absence(entry))
    if os.environ.get(OFFLINE_VARIABLE):
        raise DataError(describe_absence(entry, f"{OFFLINE_VARIABLE} forbids downloads"))
    for file in entry.files:
        refuse_insecure(file.url or "")
    with lock_dataset(entry.name):
        path = locate(entry.name)  # another process may have been faster
        if path is not None and not again:
            return path
        raw = cache_folder() / "raw" / file_name(entry.name)
        if again:
            remove_folder(raw)
        return _fetch(entry, raw, progress)


def _fetch(entry: Dataset, raw: Path, progress: Progress | None) -> Path:
    try:
        wanted = _find_files(entry)
        files = {each.name: download(each, raw, progress, entry.size) for each in wanted}
    except Unreachable as fault:
        raise DataError(describe_absence(entry, str(fault))) from None
    checked = "sha256 of the download" if all(each.sha256 for each in wanted) else ""
    try:
        return place(entry, _parse(entry, files), _facts(files, entry.addresses), checked)
    except NotWritten:
        raise  # the download is good, and may have taken hours
    except DataError:
        remove_folder(raw)  # what was refused must not be taken for good the next time
        raise


def _find_files(entry: Dataset) -> Sequence[RawFile]:
    if entry.find_files is None:
        return entry.files
    found: Sequence[RawFile] = resolve_function(entry.name, entry.find_files)(ask)
    for each in found:
        refuse_insecure(each.url or "")
    return found


def import_files(name: str, paths: Sequence[Path]) -> Path:
    """Put files got by hand, NAME.npz or the raw files, into the cache, verified as a download is."""
    entry = get_dataset(name)
    if entry.make is not None:
        raise DataError(f"data set '{entry.name}' is made on demand; there is nothing to import")
    for path in paths:
        if not path.is_file():
            raise DataError(f"there is no file {path}")
    origin = ", ".join(str(path) for path in paths)
    if len(paths) == 1 and paths[0].suffix == ".npz":
        with lock_dataset(entry.name):
            arrays = read_arrays(entry.name, paths[0])
            return place(entry, arrays, _facts({paths[0].name: paths[0]}, origin))
    if entry.loader is None:
        raise DataError(f"data set '{entry.name}' has no raw format; give {entry.name}.npz")
    files = _match_names(entry, paths)
    digests = {each.name: each.sha256 for each in entry.files}
    for each, path in files.items():
        if digests[each] and _sha256(path) != digests[each]:
            raise DataError(f"{path} is not the file in the catalog: its sha256 is not {digests[each]}")
    checked = "sha256 of the file" if all(digests.values()) else ""
    with lock_dataset(entry.name):
        return place(entry, _parse(entry, files), _facts(files, origin), checked)


def _match_names(entry: Dataset, paths: Sequence[Path]) -> dict[str, Path]:
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
    try:
        found = resolve_function(entry.name, entry.loader)(files)
    except BenchfwError:
        raise
    except Exception as fault:  # a damaged file may make a parser raise anything
        raise DataError(_describe_unreadable(entry, fault)) from fault
    return _guard_pieces(entry, found) if entry.streamed else found


def _guard_pieces(entry: Dataset, pieces: Any) -> Any:
    try:
        yield from pieces
    except DataError:
        raise
    except Exception as fault:
        raise DataError(_describe_unreadable(entry, fault)) from fault


def _describe_unreadable(entry: Dataset, fault: Exception) -> str:
    what = " ".join(str(fault).split()) or type(fault).__name__
    names = f" as {', '.join(f.name for f in entry.files)}" if entry.files else ""
    return f"the file for '{entry.name}' cannot be read{names} ({what})"


def _facts(files: Mapping[str, Path], origin: str) -> dict[str, Any]:
    return {
        "from": origin,
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "files": {
            name: {"sha256": _sha256(path), "bytes": path.stat().st_size} for name, path in files.items()
        },
    }


def _sha256(path: Path) -> str:
    import hashlib  # late: plugins that only name a data set import this file

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
