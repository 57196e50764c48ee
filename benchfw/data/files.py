"""The files of data sets: where they lie, how they are opened and read, the hash of what they hold.

A data set is `NAME.npz`, or a folder `NAME/` with one .npy file an array, which is memory-mapped. It is
looked for in the folders of BENCHFW_DATA, then in the cache. Downloads are opened where they lie: archives
and compressed files are not unpacked to the disk.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any

from benchfw.errors import DataError

if TYPE_CHECKING:
    import numpy as np

    from benchfw.data.dataset import Arrays

FOLDERS_VARIABLE = "BENCHFW_DATA"
"""The environment variable that lists the folders of data sets, separated as in PATH."""
CACHE_VARIABLE = "BENCHFW_CACHE"
HASHED_BYTES = 1 << 24
"""How much of an array is read at a time."""
OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


def data_folders() -> list[Path]:
    """Return the folders that BENCHFW_DATA lists, in order."""
    return [Path(each) for each in os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if each]


def cache_folder() -> Path:
    """Return the folder of what was fetched or imported: BENCHFW_CACHE, or the platform's own."""
    given = os.environ.get(CACHE_VARIABLE)
    if given:
        return Path(given)
    import platformdirs

    return Path(platformdirs.user_cache_dir("benchfw"))


def describe_search() -> str:
    """Return the places where data sets are looked for, for a message."""
    where = ", ".join(map(str, data_folders())) or f"{FOLDERS_VARIABLE} (not set)"
    return f"{where} and the cache {cache_folder()}"


def file_name(name: str) -> str:
    """Return what the files of a data set are called: of one from a source, such as openml:iris, escaped."""
    return name.replace(":", "%3A").replace("/", "%2F")


def _dataset_name(path: Path) -> str:
    stem = path.stem if path.suffix == ".npz" else path.name
    return stem.replace("%3A", ":").replace("%2F", "/")


def local_datasets() -> dict[str, Path]:
    """Return the data sets that are here by name; the first folder with a name wins, the cache comes last."""
    found: dict[str, Path] = {}
    for folder in (*data_folders(), cache_folder()):
        for path in _datasets_in(folder):
            found.setdefault(_dataset_name(path), path)
    return dict(sorted(found.items()))


def _datasets_in(folder: Path) -> Iterator[Path]:
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
    stems = dict.fromkeys(each for each in (name, file_name(name)) if Path(each).name == each)
    places = [folder / stem for folder in (*data_folders(), cache_folder()) for stem in stems]
    for parts in places:
        archive = parts.with_name(f"{parts.name}.npz")
        try:
            if archive.is_file():
                return archive
            if parts.is_dir() and any(parts.glob("*.npy")):
                return parts
        except OSError:
            continue  # not ours to read, or a name that no file can have
    return None


def read_arrays(name: str, path: Path) -> Arrays:
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


def content_hash(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Return the content hash of arrays, which depends neither on the file format nor on its compression.

    It is the sha256 over the arrays in alphabetical order, for each one the UTF-8 text `name NUL dtype NUL
    shape NUL` (dtype as in NumPy's `.str`, little-endian; shape as `[2, 3]`) and then its elements as
    little-endian bytes in C order. An array that is memory-mapped is read piece by piece.
    """
    import hashlib  # late: plugins that only name a data set import this file

    digest = hashlib.sha256()
    for name in sorted(arrays):
        array = arrays[name]
        dtype = array.dtype.newbyteorder("<")
        digest.update(f"{name}\0{dtype.str}\0{list(array.shape)}\0".encode())
        if array.ndim == 0:
            digest.update(array.astype(dtype).tobytes())
            continue
        rows = _rows_at_a_time(array)
        for start in range(0, len(array), rows):
            digest.update(array[start : start + rows].astype(dtype, copy=False).tobytes())
    return digest.hexdigest()


def _rows_at_a_time(array: np.ndarray[Any, Any]) -> int:
    return max(1, HASHED_BYTES // max(1, array[:1].nbytes))


def file_state(path: Path) -> list[list[Any]]:
    """Return name, size and time of change of a set's files: while these stay, so does the content."""
    files = sorted(path.glob("*.npy")) if path.is_dir() else [path]
    return [[each.name, each.stat().st_size, each.stat().st_mtime_ns] for each in files]


def summarize_array(array: np.ndarray[Any, Any]) -> dict[str, Any]:
    """Return an array's shape and type, and of numbers the least, the mean and the largest."""
    import numpy as np

    facts: dict[str, Any] = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.dtype.kind in "iufb" and array.size:
        piece = array[: _rows_at_a_time(array)] if array.ndim else array
        facts |= {
            "min": float(piece.min()),
            "mean": float(piece.mean(dtype=np.float64)),
            "max": float(piece.max()),
        }
        if piece.shape != array.shape:
            facts["of"] = f"the first {len(piece):,} rows"
    return facts


@contextlib.contextmanager
def open_member(path: Path, *endings: str) -> Iterator[IO[bytes]]:
    """Open the file in a zip or tar archive whose path ends with the first of `endings` that is there.

    A file that is not an archive is opened itself. An archive with a member that would leave its folder, or
    that is a link, is refused as a whole: nobody honest packs one.
    """
    import tarfile
    import zipfile

    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            _refuse_outsiders(path, names)
            with archive.open(_choose(path, names, endings)) as file:
                yield file
    elif tarfile.is_tarfile(path):
        with tarfile.open(path) as bundle:
            entries = bundle.getmembers()
            _refuse_outsiders(path, [each.name for each in entries])
            odd = next((each.name for each in entries if not (each.isfile() or each.isdir())), None)
            if odd is not None:
                raise DataError(f"{path.name} holds '{odd}', a link or device, and is refused")
            opened = bundle.extractfile(_choose(path, [each.name for each in entries], endings))
            if opened is None:
                raise DataError(f"{path.name} holds a folder where a file should be")
            with opened:
                yield opened
    else:
        with open_raw(path) as file:
            yield file


def open_raw(path: Path) -> IO[bytes]:
    """Open a file, through its compression if its name ends in .gz, .bz2 or .xz."""
    import importlib

    if path.suffix in OPENERS:
        opened: IO[bytes] = importlib.import_module(OPENERS[path.suffix]).open(path, "rb")
        return opened
    return path.open("rb")


@contextlib.contextmanager
def open_text(path: Path, *endings: str) -> Iterator[io.TextIOWrapper]:
    """Open a member, or the file itself, as UTF-8 text; bytes that are not become question marks."""
    with open_member(path, *endings) as file:
        yield io.TextIOWrapper(file, encoding="utf-8", errors="replace")


def _choose(path: Path, names: list[str], endings: tuple[str, ...]) -> str:
    for ending in endings:
        for name in names:
            if name == ending or name.endswith(f"/{ending}"):
                return name
    raise DataError(f"{path.name} does not hold {' or '.join(endings)}, only {', '.join(names[:5])}")


def _refuse_outsiders(path: Path, names: list[str]) -> None:
    for name in names:
        plain = PurePosixPath(name.replace("\\", "/"))
        if plain.is_absolute() or ".." in plain.parts or name[1:2] == ":":
            raise DataError(f"{path.name} holds '{name}', which would leave its folder, and is refused")
