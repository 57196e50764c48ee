"""The data sets that have a name: those that plugins register, and those that lie in a folder."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

from benchfw.data.dataset import Dataset, resolve_function
from benchfw.data.files import FOLDERS_VARIABLE, describe_search, file_name, local_datasets, locate
from benchfw.errors import DataError, PluginError, nearest
from benchfw.packages import advise_install
from benchfw.parameters import accepts_any_keyword, fits, misfit, parameters_of
from benchfw.registry import Entry, active_registry

SOURCE = ":"
"""Ends the name of a source, as in "openml:"; what follows it in a data set's name is for the source."""


def _registered() -> Mapping[str, Entry]:
    return active_registry().entries("dataset")


def source_names() -> list[str]:
    """Return the sources, each a prefix of the names of its data sets."""
    return sorted(name for name in _registered() if name.endswith(SOURCE))


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


def registered_datasets() -> dict[str, Dataset]:
    """Return the entries of all plugins by name; one that its plugin cannot give is left out."""
    found: dict[str, Dataset] = {}
    for name, entry in _registered().items():
        if name.endswith(SOURCE):
            continue
        try:
            found[name] = _entry_of(entry)
        except PluginError:
            continue  # `get_dataset(name)` says why
    return found


def dataset_names() -> list[str]:
    """Return every name that can be loaded or fetched; no entry is imported for it."""
    return sorted({*_registered(), *local_datasets()} - {*source_names()})


def find_dataset(name: str) -> Dataset | None:
    """Return the entry of a data set, or None where no plugin registers it."""
    registered = _registered()
    plain, _ = parse_dataset_name(name)
    if plain in registered and not plain.endswith(SOURCE):
        return _entry_of(registered[plain])
    prefix, _, rest = plain.partition(SOURCE)
    source = registered.get(f"{prefix}{SOURCE}")
    return _find_at(source, plain, rest) if source is not None else None


def _find_at(source: Entry, name: str, rest: str) -> Dataset:
    """Return what a source says about one of its data sets; it asks nobody yet."""
    if not rest:
        raise DataError(f"'{name}' names a source, not a data set; write {name}NAME")
    found = source.factory(rest)
    if not isinstance(found, Dataset) or found.name != name:
        raise PluginError(f"the source '{source.name}' of {source.plugin} must return the Dataset '{name}'")
    return found


def get_dataset(name: str) -> Dataset:
    """Return the entry of a data set; an unknown name is explained with the nearest one."""
    entry = find_dataset(name)
    if entry is None:
        plain, names = parse_dataset_name(name)[0], list(_registered())
        otherwise = "" if names else "; no plugin that is installed registers any"
        raise DataError(f"the catalog has no data set '{plain}'{_advise(plain, names, otherwise)}")
    return entry


def is_synthetic(name: str) -> bool:
    """Return whether a data set is made on demand."""
    entry = find_dataset(name)
    return entry is not None and entry.make is not None


def find_synthetic(names: Iterable[str]) -> list[str]:
    """Return those of some data sets, without their parameters, that plugins make on demand.

    Names may come from another machine: nothing is looked for that they name.
    """
    known = registered_datasets()
    plain = dict.fromkeys(name.partition("(")[0].strip() for name in names)
    return [name for name in plain if name in known and (known[name].make or known[name].stream)]


def stream_parameters(name: str) -> dict[str, Any] | None:
    """Return all parameters of a synthetic stream, as given or by default; None for any other data set."""
    entry = find_dataset(name)
    if entry is None or entry.stream is None:
        return None
    legal = parameters_of(resolve_function(entry.name, entry.stream))
    defaults = {each.name: each.default for each in legal.values()}
    return {**defaults, **entry.defaults, **parse_dataset_name(name)[1]}


def parse_dataset_name(text: str, params: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """Return name and parameters of a spelling such as "movielens-like(users=200, items=100)"."""
    found = re.fullmatch(r"\s*([^()]*[^()\s])\s*(?:\((.*)\))?\s*", text, re.DOTALL)
    if locate(text) is not None:  # a file of the user's own, whatever its name
        return text, dict(params or {})
    if found is None:
        raise DataError(f"'{text}' does not name a data set; write NAME or NAME(parameter=value, …)")
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


def check_parameters(entry: Dataset, source: Any, params: Mapping[str, Any]) -> None:
    """Raise DataError for a parameter that a synthetic set does not take, or a value outside of its range."""
    function = resolve_function(entry.name, source)
    legal = parameters_of(function)
    for key, value in params.items():
        if key not in legal and not accepts_any_keyword(function):
            raise DataError(f"data set '{entry.name}' has no parameter '{key}'{nearest(key, legal)}")
        if key in legal and not fits(value, legal[key].hint):
            raise DataError(f"{misfit(key, value, legal[key].hint)}, in data set '{entry.name}'")


def describe_unknown(name: str) -> str:
    """Return one sentence about a name that is neither registered nor in a folder."""
    advice = _advise(name, dataset_names(), f"; put {name}.npz into a folder of {FOLDERS_VARIABLE}")
    return f"no data set '{name}' in {describe_search()}, and no plugin registers it{advice}"


def _advise(name: str, names: list[str], otherwise: str) -> str:
    prefix, colon, _ = name.partition(SOURCE)
    command = advise_install("dataset", f"{prefix}{colon}" if colon else name)
    if command:
        return f"; {command}"
    source = nearest(f"{prefix}{colon}", source_names(), "") if colon else ""
    return source or nearest(name, names, otherwise)


def describe_absence(entry: Dataset, reason: str = "") -> str:
    """Return one sentence: what was tried, the address, where to put the file, the synthetic stand-in."""
    tried = f"data set '{entry.name}' is not in {describe_search()}"
    if entry.fetchable:
        how = f"{reason or 'it was not fetched'}: {entry.addresses}; "
        how += f"try `benchfw data fetch {entry.name}`"
        how += f", or by hand ({entry.by_hand})" if entry.by_hand else ""
    else:
        how = f"it has no address to fetch from; {entry.by_hand or 'get it from its authors'}"
    how += f", put {file_name(entry.name)}.npz into a folder of {FOLDERS_VARIABLE}"
    if entry.loader:
        how += f", or give the file to `benchfw data import {entry.name} FILE`"
    return f"{tried}; {how}" + (f'; synthetic stand-in: dataset = "{entry.twin}"' if entry.twin else "")
