"""The cache: arrays enter it whole or not at all, each set with a note of what was checked."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from benchfw.data.dataset import Dataset, check_arrays, check_finite
from benchfw.data.files import CACHE_VARIABLE, cache_folder, content_hash, file_name, file_state
from benchfw.errors import DataError
from benchfw.system import open_lock, wait_for_lock

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data.dataset import Arrays


class NotWritten(DataError):
    """Arrays that are right but did not fit on the disk: what was downloaded for them is kept."""


@contextlib.contextmanager
def lock_dataset(name: str) -> Iterator[None]:
    """Hold the lock of one name in the cache; another process that wants it waits."""
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # the file stays, so that all lock the same one
        lock = open_lock(folder / f".{file_name(name)}.lock", os.O_RDWR | os.O_CREAT)
    except OSError as fault:
        raise DataError(
            f"the cache {folder} cannot be written ({fault}); set {CACHE_VARIABLE} to a writable folder"
        ) from None
    try:
        wait_for_lock(lock)
        _sweep(folder, name)
        yield
    finally:
        os.close(lock)


def _sweep(folder: Path, name: str) -> None:
    """Remove what a process that was killed left; the lock is ours, so nobody is writing it."""
    for left in folder.glob(f".{file_name(name)}.tmp-*"):
        remove_folder(left)
    for left in (folder / "raw" / file_name(name)).glob("tmp*"):
        left.unlink(missing_ok=True)


def remove_folder(folder: Path) -> None:
    """Remove a folder and all in it; what cannot be removed stays."""
    import shutil  # late: plugins that only name a data set import this file

    shutil.rmtree(folder, ignore_errors=True)


def place(entry: Dataset, found: Any, facts: Mapping[str, Any], checked: str = "") -> Path:
    """Check arrays (or a stream of pieces of them), write them into the cache, and return where they are.

    `checked` says what was checked before; the content is compared with the catalog's here.
    """
    import json
    import tempfile  # late: plugins that only name a data set import this file

    folder, stem = cache_folder(), file_name(entry.name)
    work = Path(tempfile.mkdtemp(prefix=f".{stem}.tmp-", dir=folder))
    try:
        if isinstance(found, Mapping):
            arrays: Arrays = dict(found)
            written = work / f"{stem}.npz"
        else:
            written = work / stem
            arrays = write_pieces(written, found)
        origin = str(facts.get("from", entry.name))
        check_arrays(entry, arrays, origin)
        check_finite(entry.name, arrays, origin)
        content = content_hash(arrays)
        verdict = _compare_content(entry, content, checked)
        if written.suffix == ".npz":
            _write_npz(written, arrays)
        note = {
            "name": entry.name,
            "content": content,
            "checked": verdict,
            "state": file_state(written),
            **facts,
        }
        (work / "note.json").write_text(json.dumps(note, indent=2), encoding="utf-8")
        target = folder / written.name
        older = work / "older"
        if target.is_dir():  # moved aside, not removed: a reader sees the old or the new, never half of one
            target.replace(older)
        written.replace(target)
        (work / "note.json").replace(folder / f"{stem}.json")
        other = folder / (stem if target.suffix == ".npz" else f"{stem}.npz")
        remove_folder(other) if other.is_dir() else other.unlink(missing_ok=True)
    except OSError as fault:
        raise NotWritten(
            f"data set '{entry.name}' cannot be written to {folder} ({fault}); free some space"
        ) from None
    finally:
        remove_folder(work)
    return target


def read_note(path: Path) -> dict[str, Any]:
    """Return what was written beside a file of the cache when it was placed; empty for other files."""
    beside = path.with_name(f"{path.stem if path.suffix == '.npz' else path.name}.json")
    if path.parent != cache_folder() or not beside.is_file():
        return {}
    import json

    try:
        note = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return note if isinstance(note, dict) else {}


def _compare_content(entry: Dataset, content: str, checked: str) -> str:
    if content in entry.contents:
        own = f"content hash: {entry.contents[content]}"
        return f"{checked}; {own}" if checked else own
    if entry.sealed:
        wanted = ", ".join(each[:12] for each in entry.contents)
        raise DataError(
            f"the file for '{entry.name}' does not match the catalog: "
            f"its content hash is {content[:12]}…, not {wanted}…; nothing was kept"
        )
    return checked or "shapes and types only: no checksum of this copy is known"


def _write_npz(path: Path, arrays: Arrays) -> None:
    import zipfile

    import numpy as np
    from numpy.lib import format as npy

    # not savez: before NumPy 2.1 it took allow_pickle for the name of one more array
    with path.open("wb") as file:
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, array in arrays.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                    npy.write_array(member, np.asanyarray(array), allow_pickle=False)
        file.flush()
        os.fsync(file.fileno())


def write_pieces(folder: Path, pieces: Iterable[Mapping[str, np.ndarray[Any, Any]]]) -> Arrays:
    """Append pieces of arrays to one .npy file an array; return the arrays, memory-mapped."""
    from numpy import load

    folder.mkdir(parents=True)
    with contextlib.ExitStack() as stack:
        files: dict[str, NpyWriter] = {}
        for piece in pieces:
            for name, rows in piece.items():
                if name not in files:
                    files[name] = stack.enter_context(NpyWriter(folder / f"{name}.npy"))
                files[name].append(rows)
    return {path.stem: load(path, "r", allow_pickle=False) for path in sorted(folder.glob("*.npy"))}


class NpyWriter:
    """A .npy file that grows by rows; its header is written last, when their number is known."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._rows = 0
        self._like: np.ndarray[Any, Any] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            if self._like is not None:
                self._file.seek(0)
                self._header(self._like)

    def append(self, rows: np.ndarray[Any, Any]) -> None:
        """Add rows; all pieces have the same type and row shape."""
        import numpy as np

        if self._like is None:
            self._like = np.ascontiguousarray(rows[:0])
            self._header(self._like)
        if rows.dtype != self._like.dtype or rows.shape[1:] != self._like.shape[1:]:
            raise DataError(
                f"pieces of one array differ: {rows.dtype} {rows.shape[1:]} after {self._like.dtype}"
            )
        self._file.write(np.ascontiguousarray(rows).data)
        self._rows += len(rows)

    def _header(self, like: np.ndarray[Any, Any]) -> None:
        # NumPy pads headers so that the first length may grow without moving what follows
        from numpy.lib import format as npy

        shape = (self._rows, *like.shape[1:])
        described = {"descr": npy.dtype_to_descr(like.dtype), "fortran_order": False, "shape": shape}
        npy.write_array_header_1_0(self._file, described)
