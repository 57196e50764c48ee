"""Opens files inside archives and behind compression, without unpacking anything to the disk."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from benchfw.errors import DataError

OPENERS = {".gz": "gzip", ".bz2": "bz2", ".xz": "lzma"}


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
