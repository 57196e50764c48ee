"""Every data set that has a name: those that plugins register."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Any

from benchfw.data import folders
from benchfw.data.entry import Dataset
from benchfw.errors import DataError, PluginError, nearest
from benchfw.registry import Entry, active_registry


def _entry_of(entry: Entry) -> Dataset:
    found: Any = entry.factory
    if isinstance(found, Dataset):
        return found
    if not callable(found):
        raise PluginError(
            f"data set '{entry.name}' of {entry.plugin} is {type(found).__name__}; "
            "register a Dataset, or a function that returns the arrays"
        )
    return Dataset(entry.name, entry.summary, make=found, licence=f"see {entry.plugin}")


def catalog() -> dict[str, Dataset]:
    """Return all entries by name; one that its plugin cannot give is left out."""
    found: dict[str, Dataset] = {}
    for name, entry in active_registry().entries("dataset").items():
        try:
            found[name] = _entry_of(entry)
        except PluginError:
            continue  # `dataset(name)` tells
    return dict(sorted(found.items()))


def known(name: str) -> Dataset | None:
    """Return the entry of a name without parameters, or None."""
    registered = active_registry().entries("dataset")
    return _entry_of(registered[name]) if name in registered else None


def dataset(name: str) -> Dataset:
    """Return the entry of a data set; an unknown name is explained with the nearest one."""
    plain, _ = spelled_out(name)
    entry = known(plain)
    if entry is None:
        raise DataError(f"the catalog has no data set '{plain}'{nearest(plain, catalog())}")
    return entry


def spelled_out(text: str, params: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a spelling such as "movielens-like(users=200, items=100)"."""
    found = re.fullmatch(r"\s*([^()]*[^()\s])\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if folders.locate(text) is not None:  # a file of the user's own, whatever its name
        return text, dict(params or {})
    if found is None:
        raise DataError(f"'{text}' names no data set; write NAME or NAME(parameter=value, …)")
    if not found[2]:
        return found[1], dict(params or {})
    try:
        call = ast.parse(f"_({found[2]})", mode="eval").body
        keywords = call.keywords if isinstance(call, ast.Call) and not call.args else []
        given = {str(each.arg): ast.literal_eval(each.value) for each in keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        given = {}
    if not given:
        raise DataError(
            f"the parameters of '{text}' cannot be read; write NAME(parameter=value, …)"
        ) from None
    return found[1], {**given, **(params or {})}
