"""Passes over a data set without loading it."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Collection, Container, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from benchfw.data.catalog import find_dataset, parse_dataset_name
from benchfw.data.dataset import check_finite
from benchfw.data.load import LOADED, fetch_path, load, make
from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data.dataset import Arrays


def batches(
    name: str,
    size: int,
    arrays: Sequence[str] | None = None,
    *,
    start: int = 0,
    stop: int | None = None,
    **params: Any,
) -> Iterator[Arrays]:
    """Yield rows start … stop-1 of the named arrays, `size` at a time, in the order of the file.

    A set kept as .npy files yields memory maps of the rows alone, which are let go with the batch; one kept
    as .npz is unpacked as it is read; a synthetic stream is made as it is read. So a pass needs memory for a
    batch or two, whatever the size of the set. All arrays must have the same number of rows.
    """
    if size < 1 or start < 0:
        raise DataError(
            f"a batch has at least one row, and rows count from 0; got size {size}, start {start}"
        )
    sys.audit(LOADED, name)
    plain, params = parse_dataset_name(name, params)
    entry = find_dataset(plain)
    if entry is not None and entry.make is not None:
        stream = entry.stream
        pieces = iter([load(plain, **params)]) if stream is None else make(entry, stream, params)
        yield from _cut_pieces(plain, pieces, size, arrays, start, stop)
    else:
        yield from _read_file(plain, fetch_path(plain), size, arrays, start, stop)


def _read_file(
    name: str, path: Path, size: int, arrays: Sequence[str] | None, start: int, stop: int | None
) -> Iterator[Arrays]:
    import zipfile
    import zlib

    with contextlib.ExitStack() as stack:
        try:
            readers = _open_readers(path, arrays, stack)
        except (OSError, ValueError, zipfile.BadZipFile) as fault:
            raise DataError(
                f"data set '{name}' in {path} cannot be read ({fault}); replace the file"
            ) from None
        _check_names(name, arrays, readers)
        total = _count_rows(name, [reader.num_rows for reader in readers.values()])
        end = total if stop is None else min(stop, total)
        try:
            if 0 < start < end:
                for reader in readers.values():
                    reader.skip(start)
            for first in range(start, end, size):
                count = min(size, end - first)
                batch = {key: reader.read(count) for key, reader in readers.items()}
                check_finite(name, batch, path, first)
                yield batch
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as fault:
            raise DataError(f"data set '{name}' in {path} is damaged ({fault}); replace the file") from None


def _count_rows(name: str, lengths: Collection[int | None]) -> int:
    """Return the number of rows that all arrays have; a single number has none."""
    found = set(lengths)
    if len(found) > 1:
        raise DataError(f"the arrays of '{name}' have different numbers of rows; name those to read together")
    count = found.pop() if found else None
    if count is None:
        raise DataError(f"no array of rows of '{name}' is asked for; name one at least")
    return count


def _open_readers(
    path: Path, arrays: Sequence[str] | None, stack: contextlib.ExitStack
) -> dict[str, _MappedRows | _PackedRows]:
    import zipfile

    def is_wanted(member: Path) -> bool:
        return member.suffix == ".npy" and (arrays is None or member.stem in arrays)

    if path.is_dir():
        return {each.stem: _MappedRows(each) for each in sorted(path.glob("*.npy")) if is_wanted(each)}
    archive = stack.enter_context(zipfile.ZipFile(path))
    members = [each for each in archive.namelist() if is_wanted(Path(each))]
    return {Path(each).stem: _PackedRows(stack.enter_context(archive.open(each))) for each in members}


def _check_names(name: str, arrays: Sequence[str] | None, found: Container[str]) -> None:
    for each in arrays or ():
        if each not in found:
            raise DataError(f"data set '{name}' has no array '{each}'")


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if fortran or dtype.hasobject or not shape:
        raise ValueError("only arrays of rows, in C order and without objects, can be read in batches")
    return shape, dtype


class _MappedRows:
    """The rows of a .npy file, mapped a few at a time."""

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            (self.num_rows, *shape), self._dtype = _read_header(file)
            self._offset = file.tell()
        self._path, self._shape = path, tuple(shape)
        self._width = self._dtype.itemsize * math.prod(shape)

    def skip(self, count: int) -> None:
        self._offset += count * self._width

    def read(self, count: int) -> np.ndarray[Any, Any]:
        import numpy as np

        shape = (count, *self._shape)
        if self._width == 0:
            return np.empty(shape, self._dtype)
        rows = np.memmap(self._path, self._dtype, "r", self._offset, shape)
        self.skip(count)
        return rows


class _PackedRows:
    """The rows of a member of an .npz file, unpacked a few at a time."""

    def __init__(self, file: IO[bytes]) -> None:
        (self.num_rows, *shape), self._dtype = _read_header(file)
        self._file, self._shape = file, tuple(shape)
        self._width = self._dtype.itemsize * math.prod(shape)

    def skip(self, count: int) -> None:
        left = count * self._width
        while left:
            read = len(self._file.read(min(left, 1 << 20)))
            if not read:
                raise ValueError("it ends too early")
            left -= read

    def read(self, count: int) -> np.ndarray[Any, Any]:
        import numpy as np

        content = self._file.read(count * self._width)
        return np.frombuffer(content, self._dtype).reshape(count, *self._shape)


def _cut_pieces(
    name: str,
    pieces: Iterator[Arrays],
    size: int,
    arrays: Sequence[str] | None,
    start: int,
    stop: int | None,
) -> Iterator[Arrays]:
    """Cut a stream of pieces of any length into batches of one size."""
    import numpy as np

    kept: Arrays = {}
    row = 0
    for piece in pieces:
        if arrays is not None:
            _check_names(name, arrays, piece)
            piece = {key: piece[key] for key in arrays}
        check_finite(name, piece, first_row=row)
        count = _count_rows(name, [len(rows) if np.ndim(rows) else None for rows in piece.values()])
        low, high = max(start - row, 0), count if stop is None else max(min(stop - row, count), 0)
        row += count
        if low < high:
            piece = {key: rows[low:high] for key, rows in piece.items()}
            kept = {key: np.concatenate([kept[key], rows]) for key, rows in piece.items()} if kept else piece
        while kept and len(next(iter(kept.values()))) >= size:
            yield {key: rows[:size] for key, rows in kept.items()}
            kept = {key: rows[size:] for key, rows in kept.items()}
        if stop is not None and row >= stop:
            break
    if kept and len(next(iter(kept.values()))):
        yield kept
