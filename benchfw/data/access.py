"""Data sets by name: find, load, check, identify."""

from __future__ import annotations

import functools
import hashlib
import importlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchfw.data import folders
from benchfw.data.content import check, content_hash, state_of
from benchfw.data.entry import Dataset
from benchfw.data.known import catalog, known, spelled_out
from benchfw.errors import DataError, PluginError, nearest

if TYPE_CHECKING:
    from benchfw.data.entry import Arrays


def names() -> dict[str, str]:
    """Return every name that can be loaded or fetched, with where it is in a phrase."""
    found = {name: entry.origin for name, entry in catalog().items()}
    found |= {name: str(path) for name, path in folders.here().items()}
    return dict(sorted(found.items()))


def find(name: str) -> Path:
    """Return the file (or the folder of .npy files) of a data set that is here."""
    plain, _ = spelled_out(name)
    path = folders.locate(plain)
    if path is not None:
        return path
    entry = known(plain)
    if entry is None:
        hint = nearest(plain, names(), f"; put {plain}.npz into a folder of {folders.VARIABLE}")
        raise DataError(f"no data set '{plain}' in {folders.searched()}, nor in the catalog{hint}")
    if entry.make is not None:
        raise DataError(f"data set '{plain}' is made on demand and has no file")
    raise DataError(absence(entry))


def absence(entry: Dataset, reason: str = "") -> str:
    """Return one sentence: what was tried, the address, where to put the file, the synthetic stand-in."""
    tried = f"data set '{entry.name}' is not in {folders.searched()}"
    if entry.fetchable:
        how = f"{reason or 'it was not fetched'}: {entry.addresses}; "
        how += f"try `benchfw data fetch {entry.name}`"
        how += f", or by hand ({entry.by_hand})" if entry.by_hand else ""
    else:
        how = f"it has no address to fetch from; {entry.by_hand or 'get it from its authors'}"
    how += f", put {entry.name}.npz into a folder of {folders.VARIABLE}"
    if entry.loader:
        how += f", or give the file to `benchfw data import {entry.name} FILE`"
    return f"{tried}; {how}" + (f'; synthetic stand-in: dataset = "{entry.twin}"' if entry.twin else "")


def load(name: str, **params: Any) -> Arrays:
    """Return the arrays of a data set by name, fetched first if it is not here.

    The arrays of a set larger than memory are memory-mapped. Parameters are those of a synthetic set and
    may be part of the name: "movielens-like(users=200)".
    """
    plain, params = spelled_out(name, params)
    entry = known(plain)
    if entry is not None:
        return load_entry(entry, params)
    if params:
        raise DataError(f"data set '{plain}' takes no parameters, got {', '.join(params)}")
    return folders.read(plain, find(plain))


def load_entry(entry: Dataset, params: Mapping[str, Any]) -> Arrays:
    """Return the arrays of an entry."""
    if entry.make is not None:
        made: Arrays = make(entry, entry.make, params)
        return made
    if params:
        raise DataError(f"data set '{entry.name}' takes no parameters, got {', '.join(params)}")
    path = folders.locate(entry.name)
    if path is None:
        from benchfw.data.fetching import fetch_entry

        path = fetch_entry(entry)
    arrays = folders.read(entry.name, path)
    check(entry, arrays, path)
    return arrays


def make(entry: Dataset, source: str | Callable[..., Any], params: Mapping[str, Any]) -> Any:
    """Call what makes a synthetic set; whatever goes wrong in it is a DataError."""
    function = imported(entry.name, source) if isinstance(source, str) else source
    check_parameters(entry, function, params)
    try:
        return function(**{**entry.defaults, **params})
    except DataError:
        raise
    except Exception as fault:
        raise DataError(f"data set '{entry.name}' cannot be made: {fault or type(fault).__name__}") from fault


def check_parameters(entry: Dataset, function: Callable[..., Any], params: Mapping[str, Any]) -> None:
    """Raise DataError for a parameter that a synthetic set does not take."""
    from benchfw.parameters import accepts_any_keyword, parameters_of

    legal = parameters_of(function)
    for key in params:
        if key not in legal and not accepts_any_keyword(function):
            raise DataError(f"data set '{entry.name}' has no parameter '{key}'{nearest(key, legal)}")


def imported(name: str, address: str) -> Callable[..., Any]:
    """Return what "module:function" names."""
    module, _, attribute = address.partition(":")
    try:
        function: Callable[..., Any] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as fault:
        raise PluginError(f"data set '{name}': '{address}' cannot be imported ({fault})") from fault
    return function


def fingerprint(name: str) -> str:
    """Return the identity of a data set's content, which is part of a trial's key.

    Of what is here, its content hash; of what can be fetched and can have one content only, that hash; of
    a synthetic set, a hash of its parameters and of the source that makes it.
    """
    plain, params = spelled_out(name)
    entry = known(plain)
    if entry is not None and entry.make is not None:
        return _recipe(entry, params)
    path = folders.locate(plain)
    if path is None and entry is not None and entry.sealed and entry.fetchable:
        return next(iter(entry.contents))
    path = path or find(plain)
    return _as_placed(path) or content_of(plain, path)


def _as_placed(path: Path) -> str:
    """Return the content hash that was written when a file of the cache was placed, if it is untouched."""
    kept = record(path)
    return str(kept.get("content", "")) if kept.get("state") == state_of(path) else ""


def _recipe(entry: Dataset, params: Mapping[str, Any]) -> str:
    import inspect

    function = imported(entry.name, entry.make) if isinstance(entry.make, str) else entry.make
    try:
        source = Path(inspect.getsourcefile(function) or "") if callable(function) else Path()
    except TypeError:  # a partial or a builtin has no file of its own
        source = Path()
    # the makers of a package share helpers, so that all files of their folder count
    packaged = (source.parent / "__init__.py").is_file()
    files = sorted(source.parent.glob("*.py")) if packaged else [source]
    code = b"".join(each.read_bytes() for each in files if each.is_file())
    given = {**entry.defaults, **params}
    needs = [fingerprint(given["source"])] if "source" in given else []
    text = json.dumps([entry.name, given, needs], sort_keys=True, default=str)
    return hashlib.sha256(text.encode() + code).hexdigest()


def content_of(name: str, path: Path) -> str:
    """Return the content hash of a file or folder, computed once for each state of it."""
    return _content_of(name, path, tuple(map(tuple, state_of(path))))


@functools.cache
def _content_of(name: str, path: Path, _state: tuple[tuple[Any, ...], ...]) -> str:
    return content_hash(folders.read(name, path))


@dataclass(frozen=True)
class Verdict:
    """What `verify` found: `checked` says against what, `fault` is empty when all is well."""

    name: str
    path: Path
    content: str
    checked: str
    fault: str = ""


def verify(name: str) -> Verdict:
    """Check a data set that is here: shapes, types, its file's checksum, its content."""
    path = find(name)
    entry = known(name)
    arrays = folders.read(name, path)
    content = content_of(name, path)
    if entry is None:
        return Verdict(name, path, content, "readable; it is in no catalog")
    try:
        check(entry, arrays, path)
    except DataError as fault:
        return Verdict(name, path, content, "shapes and types", str(fault))
    if content in entry.contents:
        return Verdict(name, path, content, f"content hash: {entry.contents[content]}")
    kept = record(path)
    if kept.get("content") == content:
        return Verdict(name, path, content, str(kept.get("checked", "content hash, as fetched")))
    if kept or entry.sealed:
        wanted = kept.get("content") or next(iter(entry.contents))
        wrong = f"its content hash is {content[:12]}…, not {str(wanted)[:12]}…; remove it and fetch it again"
        return Verdict(name, path, content, "content hash", wrong)
    return Verdict(name, path, content, "shapes and types; the content is none that the catalog knows")


def record(path: Path) -> dict[str, Any]:
    """Return what was written beside a file of the cache when it was placed; empty for other files."""
    beside = path.with_name(f"{path.stem if path.suffix == '.npz' else path.name}.json")
    if path.parent != folders.cache() or not beside.is_file():
        return {}
    try:
        kept = json.loads(beside.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) else {}
