"""One run as one file, for another machine: a zip archive with a store of that run alone.

Only that store is read again; what lies beside it is for people. Data sets and the code of plugins are not
in it, only their names, versions and hashes: nothing of a bundle is ever executed. Files outside of Python's
path that a trial read, or that its parameters name, are there by their names alone.
"""

from __future__ import annotations

import contextlib
import errno
import json
import lzma
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PureWindowsPath
from typing import Any

from benchfw.errors import StoreError
from benchfw.provenance import Environment, Run
from benchfw.records import Result
from benchfw.store.checks import load_json
from benchfw.store.connection import DAMAGED, attach_source
from benchfw.store.rows import GARBLED, check_digest, digest_of, digest_of_trial
from benchfw.store.schema import (
    EXTRACT_RUN,
    PLACE_COLUMNS,
    SEAL_RUN,
    SEAL_TRIAL,
    SELECT_RUN,
    SELECT_TRIAL,
    SELECT_TRIAL_RECORDS,
)
from benchfw.store.store import Store
from benchfw.store.xz import TooLarge, pack, unpack

STORE, PACKED = "run.sqlite", "run.sqlite.xz"  # on a disk, in the archive
MOST_BYTES = 2 * 10**9  # of the store inside
MOST_RATIO = 100  # of its bytes to those in the archive: stores shrink to a fifth or a fifteenth
SMALL_BYTES = 10**7  # that may have any ratio
NO_DATE = (1980, 1, 1, 0, 0, 0)  # the first that a zip archive knows: the same run gives the same file
README = """\
Run {id} of the benchfw suite {suite}, started {started}.

run.sqlite.xz     its trials and records: unpacked by xz, a store for every verb by --store
suite.toml        the suite
environment.json  machine, versions, hashes, and what was asked for beyond the suite

Not in here: data sets and the code of plugins, only their names, versions and hashes.

To run it again elsewhere, and to compare:
  benchfw run --from-bundle FILE [--plugin PLUGIN.py, for each plugin that is not installed]
  benchfw compare FILE last
To look at it:
  benchfw report FILE
"""


def write_bundle(store: Path, run: Run, path: Path) -> None:
    """Pack a run of a store into an archive."""
    environment = _portable(run.environment)
    texts = {
        "README.txt": README.format(id=run.id, suite=run.suite, started=run.started),
        "suite.toml": run.text,
        "environment.json": json.dumps(environment.to_json(), indent=1) + "\n",
    }
    unfinished = path.with_name(f"{path.name}.new")
    try:
        with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
            inside = Path(folder) / STORE
            _copy(store, run.id, environment, inside)
            unfinished.unlink(missing_ok=True)
            stack.callback(unfinished.unlink, missing_ok=True)
            with zipfile.ZipFile(unfinished, "x") as archive:  # never through a link that lies in wait
                for name, text in texts.items():
                    archive.writestr(_entry(name), text)
                with (
                    inside.open("rb") as source,
                    archive.open(_entry(PACKED, zipfile.ZIP_STORED), "w", force_zip64=True) as target,
                ):
                    pack(source, target)
            with zipfile.ZipFile(unfinished) as archive:
                most = _find_most_bytes(archive.getinfo(PACKED).file_size)
            if inside.stat().st_size > most:
                raise StoreError(f"run {run.id} does not fit into a bundle: {_describe_limit(most)}")
            unfinished.replace(path)
    except (OSError, sqlite3.Error) as fault:
        raise StoreError(f"the bundle {path} cannot be written ({fault}); give another file") from None
    except GARBLED as fault:
        raise StoreError(f"{store} has a row that is not benchfw's ({fault}); {DAMAGED}") from None


def is_bundle(path: Path) -> bool:
    """Return whether a file is an archive with a store in it; what else it holds is not looked at."""
    try:
        with zipfile.ZipFile(path) as archive:
            return PACKED in archive.namelist()
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):  # a damaged one raises all of them
        return False


def read_bundle(path: Path) -> tuple[Run, Sequence[Result]]:
    """Return the run in a bundle, whose `store` is the bundle, and its results."""
    with tempfile.TemporaryDirectory() as folder, _reading(path, Path(folder)) as (store, run):
        results = store.results(run.id)
    return replace(run, store=path), results


@contextlib.contextmanager
def open_bundle(path: Path) -> Iterator[Store]:
    """Open the store of a bundle, as a copy in a folder for the time being, after a look for damage."""
    with tempfile.TemporaryDirectory() as folder:
        with _reading(path, Path(folder)) as (store, run):
            for _ in store.stream(run.id):
                pass
        with Store(Path(folder) / STORE) as store:
            yield store


@contextlib.contextmanager
def _reading(path: Path, folder: Path) -> Iterator[tuple[Store, Run]]:
    """Unpack a bundle into a folder and open its store; what goes wrong is a StoreError about the bundle."""
    inside = folder / STORE
    try:
        _unpack(path, inside)
        with Store(inside) as store:
            (run,) = store.runs()
            yield store, run
    except OSError as fault:
        full = fault.errno in {errno.ENOSPC, errno.EDQUOT}
        advice = f"free some space in {folder.parent} or set TMPDIR" if full else "give another file"
        raise StoreError(f"the bundle {path} cannot be read ({fault.strerror or fault}); {advice}") from None
    except _DAMAGES as fault:
        raise StoreError(
            f"{path} is not a bundle that `benchfw export --bundle` wrote, or it is damaged "
            f"({str(fault).replace(str(inside), STORE)}); export it again"
        ) from None


_DAMAGES = (
    StoreError, zipfile.BadZipFile, lzma.LZMAError, EOFError, RuntimeError,  # the archive; the store in it
    LookupError, ValueError, TypeError, AttributeError,  # what stands in the store's cells
)  # fmt: skip


def _unpack(path: Path, target: Path) -> None:
    """Write the store of an archive, and nothing else of it, to a place of ours."""
    with zipfile.ZipFile(path) as archive:
        entry = archive.getinfo(PACKED)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise zipfile.BadZipFile(f"{PACKED} in it is packed in another way")
        # what an entry says of itself may be anything
        most = _find_most_bytes(min(entry.file_size, path.stat().st_size))
        with archive.open(entry) as source, target.open("xb") as file:
            try:
                unpack(source, file, most)
            except TooLarge:
                raise zipfile.BadZipFile(f"{PACKED} in it is too large: {_describe_limit(most)}") from None


def _find_most_bytes(packed: int) -> int:
    """Return how many bytes a store may have that is packed into so many."""
    return min(MOST_BYTES, max(SMALL_BYTES, int(MOST_RATIO * packed)))


def _describe_limit(most: int) -> str:
    if most == MOST_BYTES:
        return f"a bundle holds at most {MOST_BYTES / 1e9:g} GB"
    return f"it becomes more than {most:,} bytes when it is unpacked"


def _entry(name: str, packing: int = zipfile.ZIP_DEFLATED) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, NO_DATE)
    entry.compress_type = packing
    return entry


def _portable(environment: Environment) -> Environment:
    """Return the environment without the folders of this machine: plugin files by their names."""
    return replace(environment, plugins=tuple(Path(each).name for each in environment.plugins))


def _drop_folders(base: sqlite3.Connection) -> None:
    """Leave files their names alone, in parameters and in what trials read, 'file /home/me/table.csv'."""
    for (number,) in base.execute("SELECT id FROM trial").fetchall():
        digest, *row = base.execute(SELECT_TRIAL, (number,)).fetchone()
        changed = [*row]
        for column in PLACE_COLUMNS:
            table = load_json(row[column])
            if (portable := _without_folders(table)) != table:
                changed[column] = json.dumps(portable, separators=(",", ":"))
        if changed != row:
            records = base.execute(SELECT_TRIAL_RECORDS, (number,)).fetchall()
            check_digest(f"trial {number}", digest, digest_of_trial(tuple(row), records))
            base.execute(SEAL_TRIAL, (*changed, digest_of_trial(tuple(changed), records), number))


def _without_folders(value: Any) -> Any:
    if isinstance(value, dict):
        parts = [(*key.partition(" "), inner) for key, inner in value.items()]
        return {
            f"{kind}{space}{_without_folders(what)}": _without_folders(inner)
            for kind, space, what, inner in parts
        }
    if isinstance(value, list):
        return [_without_folders(inner) for inner in value]
    place = PureWindowsPath(value if isinstance(value, str) else "")  # it knows both separators
    return f"…/{place.name}" if place.root else value


def _copy(store: Path, run: int, environment: Environment, target: Path) -> None:
    """Make a store of one run of another, as one file."""
    Store(target, create=True).close()
    with contextlib.closing(sqlite3.connect(target.as_uri(), uri=True, isolation_level=None)) as base:
        base.execute("PRAGMA secure_delete = ON")  # else what is changed below stays in the file, unseen
        attach_source(base, store)
        base.execute("BEGIN")
        for statement in EXTRACT_RUN.split(";"):
            base.execute(statement, {"run": run})
        _drop_folders(base)
        base.execute("UPDATE run SET environment = ?", (json.dumps(environment.to_json()),))
        _, *row = base.execute(SELECT_RUN, (run,)).fetchone()
        base.execute(SEAL_RUN, (digest_of(tuple(row)), run))
        base.execute("COMMIT")
        base.execute("DETACH source")
        base.execute("PRAGMA journal_mode = DELETE")
