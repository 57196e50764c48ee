"""Data sets by name: find, load, make, verify, identify."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchfw.data.cache import read_note
from benchfw.data.catalog import (
    check_parameters,
    describe_absence,
    describe_unknown,
    find_dataset,
    is_synthetic,
    parse_dataset_name,
)
from benchfw.data.dataset import Arrays, Dataset, check_arrays, check_finite, resolve_function
from benchfw.data.download import Progress
from benchfw.data.fetch import fetch_entry
from benchfw.data.files import content_hash, file_state, locate, read_arrays
from benchfw.errors import DataError
from benchfw.parameters import parameters_of
from benchfw.registry import active_registry

LOADED = "benchfw.data.load"
"""The audit event of a data set that is loaded or looked for, with its name."""


def find_path(name: str) -> Path:
    """Return the file (or the folder of .npy files) of a data set that is here."""
    sys.audit(LOADED, name)
    plain, _ = parse_dataset_name(name)
    path = locate(plain)
    if path is not None:
        return path
    entry = find_dataset(plain)
    if entry is None:
        raise DataError(describe_unknown(plain))
    if entry.make is not None:
        raise DataError(f"data set '{plain}' is made on demand and has no file")
    raise DataError(describe_absence(entry))


def fetch_path(name: str, progress: Progress | None = None) -> Path:
    """Return where a data set is, fetched first if it is not here."""
    entry = find_dataset(name)
    return find_path(name) if entry is None else fetch_entry(entry, progress)


def load(name: str, **params: Any) -> Arrays:
    """Return the arrays of a data set by name, fetched first if it is not here.

    The arrays of a set larger than memory are memory-mapped. Parameters are those of a synthetic set and
    may be part of the name: "movielens-like(users=200)".
    """
    sys.audit(LOADED, name)
    plain, params = parse_dataset_name(name, params)
    entry = find_dataset(plain)
    if entry is not None and entry.make is not None:
        made = make(entry, entry.make, params)
        _check_made(plain, made)
        check_finite(plain, made)
        arrays: Arrays = made
        return arrays
    _refuse_parameters(plain, params)
    path = fetch_path(plain)
    arrays = read_arrays(plain, path)
    if entry is not None:
        check_arrays(entry, arrays, path)
    if _untouched_note(path) is None:  # checked when it was placed
        check_finite(plain, arrays, path)
    return arrays


def make(entry: Dataset, source: str | Callable[..., Any], params: Mapping[str, Any]) -> Any:
    """Call what makes a synthetic set; anything that goes wrong in it is a DataError."""
    check_parameters(entry, source, params)
    try:
        return resolve_function(entry.name, source)(**{**entry.defaults, **params})
    except DataError:
        raise
    except Exception as fault:
        raise DataError(f"data set '{entry.name}' cannot be made: {fault or type(fault).__name__}") from fault


def _check_made(name: str, made: Any) -> None:
    """Raise DataError unless a function has returned arrays by name."""
    if not isinstance(made, Mapping):
        raise DataError(
            f"data set '{name}': its function must return arrays by name, as in {{'x': x, 'y': y}}, and "
            f"returned {type(made).__name__}"
        )
    for key, each in made.items():
        if not hasattr(each, "dtype") and not isinstance(each, int | float):
            raise DataError(
                f"data set '{name}': '{key}' must be an array, not {type(each).__name__}; give np.asarray(…)"
            )


def _refuse_parameters(name: str, params: Mapping[str, Any]) -> None:
    if params:
        raise DataError(f"data set '{name}' takes no parameters, got {', '.join(params)}")


def check_name(name: str) -> None:
    """Raise DataError unless a set of this name is in a folder or registered, and takes its parameters.

    Nothing is fetched: a registered set need not be here.
    """
    plain, params = parse_dataset_name(name)
    entry = find_dataset(plain)
    if entry is not None and entry.make is not None:
        check_parameters(entry, entry.make, params)
        for source in _sources(entry, resolve_function(plain, entry.make), params):
            check_name(source)
        return
    if entry is None and locate(plain) is None:
        raise DataError(describe_unknown(plain))
    _refuse_parameters(plain, params)


def ensure_available(name: str, progress: Progress | None = None) -> None:
    """Make sure that `load(name)` will find its data: fetch what is not here; DataError if that cannot be."""
    check_name(name)
    for source in sources_of(name):
        if not is_synthetic(source):
            fetch_path(source, progress)


def sources_of(name: str) -> list[str]:
    """Return the data sets that a set is made from, in turn; itself alone for one that is not made."""
    plain, params = parse_dataset_name(name)
    entry = find_dataset(plain)
    if entry is None or entry.make is None:
        return [name]
    sources = _sources(entry, resolve_function(plain, entry.make), params)
    return [name, *(each for source in sources for each in sources_of(source))]


def _sources(entry: Dataset, function: Callable[..., Any], params: Mapping[str, Any]) -> list[str]:
    """Return the data sets that a synthetic set is made from: its parameters of the type DatasetName."""
    given = {**entry.defaults, **params}
    taken = parameters_of(function).values()
    return [given.get(each.name, each.default) for each in taken if each.names_dataset]


def fingerprint(name: str) -> str:
    """Return the identity of a data set's content, which is part of a trial's key.

    Of what is here, its content hash; of what can be fetched and can have one content only, that hash; of
    a synthetic set, a hash of its parameters and of the source that makes it.
    """
    plain, params = parse_dataset_name(name)
    entry = find_dataset(plain)
    if entry is not None and entry.make is not None:
        return _hash_recipe(entry, resolve_function(plain, entry.make), params)
    path = locate(plain)
    if path is None and entry is not None and entry.sealed and entry.fetchable:
        return next(iter(entry.contents))
    path = path or find_path(plain)
    note = _untouched_note(path)
    return hash_file(plain, path) if note is None else str(note["content"])


def _untouched_note(path: Path) -> Mapping[str, Any] | None:
    """Return what was noted when a file was placed in the cache, or None if it has changed since."""
    note = read_note(path)
    return note if note.get("state") == file_state(path) and "content" in note else None


def _hash_recipe(entry: Dataset, function: Callable[..., Any], params: Mapping[str, Any]) -> str:
    import hashlib
    import json  # late: plugins that only name a data set import this file

    roots = recipe_roots(entry.name)
    code = active_registry().modules().closure(roots, leave_out=lambda name: name.startswith("benchfw."))
    given = {**entry.defaults, **params}
    needs = [fingerprint(source) for source in _sources(entry, function, params)]
    registered = active_registry().entries("dataset").get(entry.name)
    own = registered.given.digest if registered is not None and registered.given is not None else ""
    text = json.dumps([entry.name, given, needs, code.digest, own], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def recipe_roots(name: str) -> list[str | Path]:
    """Return the modules that decide how a synthetic set is made, by name or by file; none for any other."""
    plain, _ = parse_dataset_name(name)
    entry = find_dataset(plain)
    if entry is None or entry.make is None:
        return []
    from benchfw.sources import file_of

    registered = active_registry().entries("dataset").get(plain)
    makers = [resolve_function(plain, each) for each in (entry.make, entry.stream) if each is not None]
    # a function is all in its own module; anything else may have been put together where it is registered
    whole = all(map(inspect.isfunction, makers)) and isinstance(getattr(registered, "source", ""), str)
    files = [each for each in map(file_of, makers) if each is not None]
    return [*files] if registered is None or whole else [*files, *registered.roots]


def hash_file(name: str, path: Path) -> str:
    """Return the content hash of a file or folder, computed once for each state of it."""
    return _hash_file(name, path, tuple(map(tuple, file_state(path))))


@functools.cache
def _hash_file(name: str, path: Path, _state: tuple[tuple[Any, ...], ...]) -> str:
    return content_hash(read_arrays(name, path))


@dataclass(frozen=True)
class Verification:
    """What `verify` found: `checked` says against what, `fault` is empty when all is well."""

    name: str
    path: Path
    content: str
    checked: str
    fault: str = ""


def verify(name: str) -> Verification:
    """Check a data set that is here: shapes, types, finite values, its file's checksum, its content."""
    path = find_path(name)
    entry = find_dataset(name)
    arrays = read_arrays(name, path)
    content = hash_file(name, path)
    try:
        if entry is not None:
            check_arrays(entry, arrays, path)
        check_finite(name, arrays, path)
    except DataError as fault:
        return Verification(name, path, content, "shapes, types and values", str(fault))
    if entry is None:
        return Verification(name, path, content, "readable and finite; not in any catalog")
    if content in entry.contents:
        return Verification(name, path, content, f"content hash: {entry.contents[content]}")
    note = read_note(path)
    if note.get("content") == content:
        return Verification(name, path, content, str(note.get("checked", "content hash, as fetched")))
    if note or entry.sealed:
        wanted = note.get("content") or next(iter(entry.contents))
        wrong = f"its content hash is {content[:12]}…, not {str(wanted)[:12]}…; remove it and fetch it again"
        return Verification(name, path, content, "content hash", wrong)
    return Verification(name, path, content, "shapes and types; the content is not in the catalog")
