"""A suite given as a dict, written as the TOML file that says the same."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchfw.errors import SuiteError
from benchfw.search import Choice, Integer, Linear, Log
from benchfw.suite import METHOD_KINDS

BARE = re.compile(r"[A-Za-z0-9_-]+")
TABLES = ("problem", *METHOD_KINDS, "claim")


def write_toml(suite: Mapping[str, Any], where: str = "suite") -> str:
    """Return a suite as TOML; a value that TOML does not have is a SuiteError.

    Numbers are written so that they are read back bit for bit.
    """
    lines = [f"{_key(name)} = {_value(each, f'{where}: {name!r}')}" for name, each in _plain(suite)]
    for kind in TABLES:
        found = suite.get(kind, ())
        for number, table in enumerate(found if isinstance(found, list | tuple) else [found], 1):
            place = f"{where}, [[{kind}]] {number}"
            if not isinstance(table, Mapping):
                key = "says" if kind == "claim" else "use"
                raise SuiteError(f"{place}: must be a dict with '{key}', got {table!r}")
            lines += ["", f"[[{kind}]]"]
            lines += [f"{_key(name)} = {_value(each, f'{place}: {name!r}')}" for name, each in table.items()]
    return "\n".join(lines).strip("\n") + "\n"


def _plain(suite: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in suite.items() if name not in TABLES]


def _key(name: Any) -> str:
    return name if isinstance(name, str) and BARE.fullmatch(name) else _string(str(name))


def _string(text: str) -> str:
    # JSON's escapes are those of TOML, except DEL
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any, place: str) -> str:
    if hasattr(value, "tolist"):
        value = value.tolist()  # NumPy's numbers; np.logspace(…) is a sweep
    match value:
        case bool():
            text = str(value).lower()
        case int() | float() if type(value) in {int, float}:
            text = repr(value)
        case str() if type(value) is str:
            text = _string(value)
        case Log() | Linear() | Integer() | Choice():
            text = _value(value.table, place)
        case Mapping():
            text = (
                f"{{ {', '.join(f'{_key(name)} = {_value(each, place)}' for name, each in value.items())} }}"
            )
        case list() | tuple():
            text = f"[{', '.join(_value(each, place) for each in value)}]"
        case _:
            name = "None" if value is None else type(value).__name__
            raise SuiteError(f"{place} is {name}; give a number, a text, a list or a dict")
    return text


def texts_in(table: Any) -> Iterator[str]:
    """Yield all texts in tables."""
    if isinstance(table, str):
        yield table
    elif isinstance(table, Mapping):
        yield from itertools.chain.from_iterable(map(texts_in, table.values()))
    elif isinstance(table, list | tuple):
        yield from itertools.chain.from_iterable(map(texts_in, table))
