"""Checks a table of a suite against the parameters that its plugin takes; every mistake is a SuiteError."""

from __future__ import annotations

import datetime as dt
import inspect
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchfw import data
from benchfw.errors import BenchfwError, PluginError, SuiteError, nearest
from benchfw.parameters import accepts_any_keyword, describe_type, fits, misfit, widen_int
from benchfw.registry import NESTABLE, Registry, is_nested, kind_of
from benchfw.search import SPACES, Choice, Integer, Space, spaces_in


def check_table(
    kind: str,
    table: Mapping[str, Any],
    registry: Registry,
    place: str,
    reserved: Mapping[str, Any],
    elsewhere: Collection[str] = (),
) -> dict[str, Any]:
    """Return the table with its numbers as its parameters want them; every mistake is a SuiteError.

    `elsewhere` are the keys that a suite has above its tables.
    """
    use = table.get("use")
    if not isinstance(use, str):
        raise SuiteError(f"{place}: 'use' must be a name, got {use!r}")
    try:
        entry = registry.get(kind, use, place)
        legal = {} if kind == "kernel" else dict(entry.parameters)
    except PluginError as fault:
        raise SuiteError(str(fault)) from None
    hints = {**{name: parameter.hint for name, parameter in legal.items()}, **reserved}
    free = kind != "kernel" and accepts_any_keyword(entry.factory)
    checked: dict[str, Any] = {"use": use}
    if "tune" in table and "tune" not in hints:
        table = _with_own_spaces(kind, table, entry.factory, place)
    for key, value in without(table, "use").items():
        if key not in hints and not free:
            raise SuiteError(f"{place}: {_unknown_parameter(kind, use, key, list(hints), elsewhere)}")
        if isinstance(value, SPACES):
            checked[key] = _check_space(kind, key, value, hints.get(key, Any), registry, place)
            continue
        _check_value(key, value, place)
        if not fits(value, hints.get(key, Any)):
            raise SuiteError(f"{misfit(key, value, hints[key])}, in {place}")
        nested = is_nested(key, value)
        checked[key] = (
            check_table(kind_of(key), value, registry, f"{place}, {key}", reserved={})
            if nested
            else widen_int(value, hints.get(key, Any))
        )
    for name in ["size"] if kind == "kernel" else [name for name, each in legal.items() if each.required]:
        if name not in table:
            raise SuiteError(f"{place}: {_needs_parameter(kind, use, name, entry.factory)}")
    return checked


def check_datasets(kind: str, table: Mapping[str, Any], registry: Registry, place: str) -> None:
    """Raise a SuiteError for an unknown data set, named by a checked table or taken by default."""
    for each in registry.get(kind, table["use"]).parameters.values():
        name = table.get(each.name, each.default) if each.names_dataset else None
        if not isinstance(name, str) or name == each.default == "":
            continue
        try:
            with registry.activate():
                data.check_name(name)
        except BenchfwError as fault:
            raise SuiteError(f"{place}: {fault}") from None


def _with_own_spaces(kind: str, table: Mapping[str, Any], factory: Any, place: str) -> dict[str, Any]:
    """Return a table with `tune = "default"` with the spaces that the method itself declares."""
    if table["tune"] != "default":
        raise SuiteError(
            f'{place}: tune must be "default", got {table["tune"]!r}; an allowance is given once for '
            "all methods, and a search space in the place of a value"
        )
    own = getattr(factory, "tuning", None)
    good = isinstance(own, Mapping) and all(isinstance(each, SPACES) for each in own.values())
    if not own or not good:
        raise SuiteError(
            f"{place}: {kind} '{table['use']}' declares no search spaces (tuning = {{\"step\": Log(…)}}); "
            'give them here, as in { tune = "log", from = …, to = … }'
        )
    left = {key: each for key, each in own.items() if key not in table}
    if not left:
        raise SuiteError(
            f'{place}: tune = "default" has nothing to tune: a value is given for {", ".join(own)}'
        )
    return {**without(table, "tune"), **left}


def _check_space(kind: str, key: str, space: Space, hint: Any, registry: Registry, place: str) -> Space:
    """Return the space with its values as the parameter wants them; one that does not fit is a SuiteError."""
    if kind == "problem":
        raise SuiteError(f"{place}: '{key}' is a search space, and a problem is not tuned; give a value")
    if isinstance(space, Choice):
        values = [_check_choice(key, each, hint, registry, place) for each in space.values]
        return Choice(values)
    for value in (space.low, space.high):
        if not fits(value, hint):
            raise SuiteError(f"{misfit(key, value, hint)}, in {place}")
    middle = space.value(0.37)
    if not isinstance(space, Integer) and not fits(middle, hint):
        raise SuiteError(
            f"{place}: '{key}' must be {describe_type(hint)}, and {middle:g} is in its space; "
            'use tune = "integer" or tune = "choice"'
        )
    return space


def _check_choice(key: str, value: Any, hint: Any, registry: Registry, place: str) -> Any:
    value = tuple(value) if isinstance(value, list) else value
    if isinstance(value, SPACES) or (isinstance(value, Mapping) and spaces_in(value)):
        raise SuiteError(f"{place}: '{key}' has a search space among its choices; give values")
    _check_value(key, value, place)
    if not fits(value, hint):
        raise SuiteError(f"{misfit(key, value, hint)}, in {place}")
    if is_nested(key, value):
        return check_table(kind_of(key), value, registry, f"{place}, {key}", reserved={})
    return widen_int(value, hint)


def _check_value(key: str, value: Any, place: str) -> None:
    if isinstance(value, tuple):
        for each in value:
            _check_value(key, each, place)
    if isinstance(value, dt.date | dt.time):
        raise SuiteError(f"{place}: parameter '{key}' is a date or time; write it as a string")
    if isinstance(value, Mapping) and "use" in value and not is_nested(key, value):
        kinds = ", ".join(sorted(NESTABLE))
        raise SuiteError(
            f"{place}: parameter '{key}' holds a table with 'use'; only a parameter whose name ends in "
            f"one of {kinds} may hold one"
        )


def _needs_parameter(kind: str, use: str, name: str, factory: Any) -> str:
    if kind == "optimizer" and inspect.isgeneratorfunction(factory):
        return (
            f"optimizer '{use}' is a generator function; register what makes an object with "
            "run(problem, rng), such as a dataclass"
        )
    return f"{kind} '{use}' needs the parameter '{name}'"


def _unknown_parameter(
    kind: str, use: str, key: str, legal: Sequence[str], elsewhere: Collection[str]
) -> str:
    if key in elsewhere:
        return f"'{key}' is a key of the suite; move it above the first [[table]]"
    close = nearest(key, legal, otherwise="")
    names = ", ".join(legal) or "none"
    return f"{kind} '{use}' has no parameter '{key}'{close or ';'} its parameters: {names}"


def without(table: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    """Return a table without some of its keys."""
    return {key: value for key, value in table.items() if key not in keys}
