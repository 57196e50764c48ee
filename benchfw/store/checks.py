"""Checks that what stands in a store has the types of what benchfw writes, and raise ValueError or TypeError.

A store may come from anybody, and its checksums say only that nobody changed it since.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import types
import typing
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from benchfw.records import ROLES, MethodKind, Record

DEEPEST = 50  # levels of tables within tables
LONGEST = 10_000  # characters of a name, and of a text in the environment of a run
KINDS = frozenset(typing.get_args(MethodKind))
ROLE = Record._fields.index("role")
REAL: set[type] = {float, int}
REAL_OR_NONE: set[type] = {float, int, type(None)}
RECORD_TYPES: tuple[set[type], ...] = (
    {str}, {int}, {float}, REAL_OR_NONE, REAL_OR_NONE, {str}, REAL_OR_NONE,
)  # fmt: skip


def load_json(text: Any, longest: int | None = None) -> Any:
    """Return what a JSON text says, if it is not nested deeper than any that benchfw writes."""
    try:
        found = json.loads(check_text(text))
    except RecursionError:
        raise ValueError("a table is nested too deeply") from None
    _check_size(found, longest, DEEPEST)
    return found


def _check_size(found: Any, longest: int | None, depth: int) -> None:
    if not depth:
        raise ValueError("a table is nested too deeply")
    if isinstance(found, str):
        check_text(found, longest=longest)
    elif isinstance(found, dict | list):
        for each in chain.from_iterable(found.items()) if isinstance(found, dict) else found:
            _check_size(each, longest, depth - 1)


def check_text(*values: Any, longest: int | None = None) -> Any:
    """Return the last of values that are all texts."""
    for each in values:
        if not isinstance(each, str):
            raise TypeError(f"{each!r:.50} is not text")
        if longest is not None and len(each) > longest:
            raise ValueError(f"a text of {len(each):,} characters is too long")
    return values[-1]


def check_numbers(values: Iterable[Any], legal: set[type] = REAL) -> None:
    """Raise ValueError unless all are numbers of these types."""
    for each in values:
        if type(each) not in legal:
            raise ValueError(f"{each!r:.50} is not a number")


def check_settings(settings: Any) -> None:
    """Raise ValueError unless a trial could have these settings."""
    check_numbers([settings["seed"]], {int})
    check_numbers([settings["precision"], settings["best"], *settings["budget"].values()], REAL_OR_NONE)
    check_text(settings["problem_key"], longest=LONGEST)
    check_numbers(settings["target"].values())
    if not isinstance(settings["holds_out"], bool):
        raise TypeError(f"{settings['holds_out']!r:.50} is neither true nor false")
    if settings["at"] not in {"start", "optimum"}:
        raise ValueError(f"{settings['at']!r:.50} is not a place to measure at")


def check_kind(kind: Any) -> None:
    """Raise ValueError unless it is a kind of method."""
    if kind not in KINDS:
        raise ValueError(f"{kind!r:.50} is not a kind of method")


def check_records(rows: Sequence[tuple[Any, ...]]) -> None:
    """Raise ValueError unless rows of RECORD_COLUMNS have the right types."""
    columns = list(zip(*rows, strict=True))
    for column, legal in zip(columns, RECORD_TYPES, strict=bool(columns)):
        for each in set(map(type, column)) - legal:
            raise ValueError(f"a record has {each.__name__} where it should have a number or a text")
    if columns and not ROLES.issuperset(columns[ROLE]):
        raise ValueError("a record has an unknown role")


def check_noun(found: Any) -> Any:
    """Return a dataclass all of whose values are as its annotations say."""
    kind: Any = type(found)
    for name, hint in _hints(kind).items():
        if not _fits(getattr(found, name), hint):
            raise ValueError(f"{name} is {getattr(found, name)!r:.50}")
    return found


@functools.cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _fits(value: Any, hint: Any) -> bool:
    parts, origin = typing.get_args(hint), typing.get_origin(hint)
    if origin in {typing.Union, types.UnionType}:
        return any(_fits(value, each) for each in parts)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(each, parts[0]) for each in value)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(
            _fits(key, parts[0]) and _fits(each, parts[1]) for key, each in value.items()
        )
    if dataclasses.is_dataclass(hint):
        return isinstance(value, typing.cast("type", hint)) and check_noun(value) is value
    return _is_plain(value, hint)


def _is_plain(value: Any, hint: Any) -> bool:
    if typing.get_origin(hint) is typing.Literal:
        return isinstance(value, str) and value in typing.get_args(hint)
    if hint in {int, float}:
        return type(value) in ({int} if hint is int else REAL)
    return hint is Any or isinstance(value, hint)
