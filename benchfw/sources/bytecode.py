"""What compiled code does and refers to: instructions, globals, imports."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator, Mapping
from typing import Any

CO_HAS_DOCSTRING = 1 << 26  # a flag since Python 3.13


def read_code(code: types.CodeType) -> Iterator[tuple[bool, Any]]:
    """Yield the instructions of code and their arguments, each with whether it is a constant's value."""
    for each in dis.get_instructions(code):
        yield False, each.opcode
        yield (True, each.argval) if each.opcode in dis.hasconst else (False, each.arg)


def names_used(code: types.CodeType) -> Iterator[str]:
    """Yield the globals that code refers to, that of functions inside of it too."""
    for each in dis.get_instructions(code):
        if each.opname in {"LOAD_GLOBAL", "LOAD_NAME"}:
            yield str(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from names_used(constant)


def imports(code: types.CodeType, names: Mapping[str, Any]) -> Iterator[str]:
    """Yield the modules that code and functions inside of it import; what `from` imports may be one."""
    module = ""
    before: list[Any] = []
    for each in dis.get_instructions(code):
        if each.opname == "IMPORT_NAME":
            level = before[-2] if len(before) > 1 and isinstance(before[-2], int) else 0
            module = _absolute(str(each.argval), level, names)
            if module:
                yield module
        elif each.opname == "IMPORT_FROM" and module:
            yield f"{module}.{each.argval}"
        before.append(each.argval)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from imports(constant, names)


def _absolute(module: str, level: int, names: Mapping[str, Any]) -> str:
    package = str(names.get("__package__") or "")
    if not level:
        return module
    return ".".join(filter(None, [*package.split(".")[: package.count(".") + 2 - level], module]))
