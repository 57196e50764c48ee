"""Expands the sweeps of a suite table, and names what comes out of them."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchfw.errors import SuiteError

if TYPE_CHECKING:  # every verb imports this file, for its `leaves`; what only a suite needs comes late
    from benchfw.records import Spec

MOST_SETTINGS = 1_000_000


def expand(table: Mapping[str, Any], place: str) -> list[dict[str, Any]]:
    """Return a table for every combination of its lists, at any depth, the last list fastest.

    A list inside a list is a value: `layers = [[8, 8]]` is one setting.
    """
    choices = [[(key, choice) for choice in _choices(key, value, place)] for key, value in table.items()]
    total = math.prod(map(len, choices))
    if total > MOST_SETTINGS:
        raise SuiteError(
            f"{place}: its lists make {total:,} settings, and {MOST_SETTINGS:,} are the most; shorten them"
        )
    return [dict(combination) for combination in itertools.product(*choices)]


def _choices(key: str, value: Any, place: str) -> list[Any]:
    if isinstance(value, Mapping):
        return list(expand(value, f"{place}, {key}"))
    if not isinstance(value, list):
        return [value]
    if not value:
        raise SuiteError(f"{place}: '{key}' is an empty list; a sweep needs at least one value")
    return [
        choice
        for each in value
        for choice in (expand(each, f"{place}, {key}") if isinstance(each, Mapping) else [_value(each)])
    ]


def _value(value: Any) -> Any:
    return tuple(_value(each) for each in value) if isinstance(value, list) else value


def label_specs(specs: Sequence[Spec], kind: str, where: str) -> list[Spec]:
    """Return the specs with distinct labels: the name, then whatever differs among those of that name."""
    import json

    groups: dict[str, list[Spec]] = defaultdict(list)
    for spec in specs:
        groups[spec.label or spec.use].append(spec)
    telling = {
        name: _differing([dict(leaves(spec.table)) for spec in group]) for name, group in groups.items()
    }
    named = [replace(spec, label=_label(spec, telling[spec.label or spec.use])) for spec in specs]
    tables: dict[str, str] = {}
    labels: set[str] = set()
    for spec in named:
        table = json.dumps(spec.table, sort_keys=True, default=str)
        if table in tables:
            raise SuiteError(
                f"{where}: [[{kind}]] '{spec.label}' repeats '{tables[table]}'; remove one of the two"
            )
        if spec.label in labels:
            raise SuiteError(f"{where}: two [[{kind}]] are called '{spec.label}'; give each its own label")
        tables[table] = spec.label
        labels.add(spec.label)
    return named


def _differing(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    paths = dict.fromkeys(path for each in tables for path in each)
    return [path for path in paths if len({repr(each.get(path)) for each in tables}) > 1]


def leaves(params: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of a table with their paths: ("distribution.mean", 20)."""
    for key, value in params.items():
        if isinstance(value, Mapping):
            yield from leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _label(spec: Spec, paths: Sequence[str]) -> str:
    return _name(spec.label or spec.use, dict(leaves(spec.table)), paths)


def tell_apart(tables: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name for each table of leaves: what it uses, and whatever differs among them."""
    paths = _differing(tables)
    return [_name(str(table["use"]), table, paths) for table in tables]


def strip_parameter(label: str, path: str, value: Any) -> str:
    """Return a label of `label_specs` without one of its parameters."""
    name, parts = _split(label)
    return _join(name, [part for part in parts if part != _part(path, value)])


def drop_shared(labels: Sequence[str]) -> list[str]:
    """Return labels without the name before their brackets, if all of them have the same."""
    found = [_split(label) for label in labels]
    shared = len({name for name, _ in found}) == 1 and len(set(labels)) > 1
    if not shared or not all(parts for _, parts in found):
        return [*labels]
    return [", ".join(parts) for _, parts in found]


def _split(label: str) -> tuple[str, list[str]]:
    """Return the name of a label and the parts in the brackets after it."""
    name, bracket, rest = label.partition(" (")
    return (name, rest[:-1].split(", ")) if bracket and rest.endswith(")") else (label, [])


def _join(name: str, parts: Sequence[str]) -> str:
    return f"{name} ({', '.join(parts)})" if parts else name


def _name(name: str, table: Mapping[str, Any], paths: Sequence[str]) -> str:
    parts = [
        _part(path, table[path])
        for path in paths
        if path in table and not (path == "use" and name == table["use"])
    ]
    return _join(name, parts)


def _part(path: str, value: Any) -> str:
    name = path.rpartition(".")[2]
    return f"{value}" if name == "use" else f"{name}={_short(value)}"


def _short(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return repr(value) if isinstance(value, float) and float(short) != value else short
