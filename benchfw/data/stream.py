"""Passes over a data set without loading it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from benchfw.data.catalog import find_dataset, parse_dataset_name
from benchfw.data.load import fetch_path, load, make
from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data.dataset import Arrays

Reader = Callable[[int], "np.ndarray[Any, Any]"]


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
    plain, params = parse_dataset_name(name, params)
    entry = find_dataset(plain)
    if entry is not None and entry.make is not None:
        stream = entry.stream
        pieces = iter([load(plain, **params)]) if stream is None else make(entry, stream, params)
        yield from _cut(pieces, size, arrays, start, stop)
        return
    yield from _read(plain, fetch_path(plain), size, arrays, start, stop)


def _read(
    name: str, path: Path, size: int, arrays: Sequence[str] | None, start: int, stop: int | None
) -> Iterator[Arrays]:
    import zipfile
    import zlib

    with contextlib.ExitStack() as stack:
        try:
            if path.is_dir():
                readers = {
                    each.stem: _mapped(each) for each in sorted(path.glob("*.npy")) if _wanted(each, arrays)
                }
            else:
                archive = stack.enter_context(zipfile.ZipFile(path))
                members = [Path(each) for each in archive.namelist() if _wanted(Path(each), arrays)]
                readers = {
                    each.stem: _unpacked(stack.enter_context(archive.open(str(each)))) for each in members
                }
        except (OSError, ValueError, zipfile.BadZipFile) as fault:
            raise DataError(
                f"data set '{name}' in {path} cannot be read ({fault}); replace the file"
            ) from None
        _check_names(name, arrays, list(readers))
        lengths = {rows for rows, _ in readers.values()}
        if len(lengths) != 1:
            raise DataError(
                f"the arrays of '{name}' have different numbers of rows; name those to read together"
            )
        total = lengths.pop()
        end = total if stop is None else min(stop, total)
        try:
            if 0 < start < end:
                for _, skip in readers.values():
                    skip(-start)
            for first in range(start, end, size):
                count = min(size, end - first)
                yield {key: reader(count) for key, (_, reader) in readers.items()}
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as fault:
            raise DataError(f"data set '{name}' in {path} is damaged ({fault}); replace the file") from None


def _wanted(path: Path, arrays: Sequence[str] | None) -> bool:
    return path.suffix == ".npy" and (arrays is None or path.stem in arrays)


def _check_names(name: str, arrays: Sequence[str] | None, found: Sequence[str]) -> None:
    for each in arrays or ():
        if each not in found:
            raise DataError(f"data set '{name}' has no array '{each}'")


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    from numpy.lib import format as npy

    version = npy.read_magic(file)
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    shape, fortran, dtype = read(file)
    if fortran or dtype.hasobject or not shape:
        raise ValueError("only arrays of rows, in C order and without objects, can be read in batches")
    return shape, dtype


def _mapped(path: Path) -> tuple[int, Reader]:
    """Return the number of rows, and what maps the next `count` of them; a negative count skips."""
    import math

    import numpy as np

    with path.open("rb") as file:
        shape, dtype = _header(file)
        begin = file.tell()
    width = dtype.itemsize * math.prod(shape[1:])
    position = 0

    def reader(count: int) -> np.ndarray[Any, Any]:
        nonlocal position
        first, position = position, position + abs(count)
        if count <= 0 or width == 0:
            return np.empty((max(count, 0), *shape[1:]), dtype)
        return np.memmap(path, dtype, "r", begin + first * width, (count, *shape[1:]))

    return shape[0], reader


def _unpacked(file: IO[bytes]) -> tuple[int, Reader]:
    """Return the number of rows, and what unpacks the next `count` of them; a negative count skips."""
    import math

    import numpy as np

    shape, dtype = _header(file)
    width = dtype.itemsize * math.prod(shape[1:])

    def reader(count: int) -> np.ndarray[Any, Any]:
        if count < 0:
            left = -count * width
            while left:
                read = len(file.read(min(left, 1 << 20)))
                if not read:
                    raise ValueError("it ends too early")
                left -= read
            return np.empty((0, *shape[1:]), dtype)
        return np.frombuffer(file.read(count * width), dtype).reshape(count, *shape[1:])

    return shape[0], reader


def _cut(
    pieces: Iterator[Arrays], size: int, arrays: Sequence[str] | None, start: int, stop: int | None
) -> Iterator[Arrays]:
    """Cut a stream of pieces of any length into batches of one size."""
    import numpy as np

    kept: Arrays = {}
    row = 0
    for piece in pieces:
        if arrays is not None:
            _check_names("this set", arrays, list(piece))
            piece = {key: piece[key] for key in arrays}
        count = len(next(iter(piece.values())))
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
