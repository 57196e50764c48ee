"""Arguments of the Python door that are checked in one way, and messages in the words of Python."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypedDict

from benchfw.errors import BenchfwError
from benchfw.registry import GIVEN


class BudgetTable(TypedDict, total=False):
    """What each trial may spend."""

    seconds: float
    iterations: int
    cost: float


UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
MOST_BYTES = 2**60

WORDS = {
    r"`benchfw replay (\d+)[^`]*`": r"`trial(\1)`",
    "`benchfw runs`": "`benchfw.runs`",
    "`benchfw run`": "`benchfw.run`",
    r"--(fresh|quick)\b": r"\1=True",
    r"--retry-failed\b": "retry_failed=True",
    r"--(jobs|repetitions) (\d+)": r"\1=\2",
    r"--plugin FILE": "plugins=[FILE]",
    r"--plugin\b": "`plugins`",
    rf"'{GIVEN}": "'",
    r"--(jobs|threads|timeout|memory|store|keep|executor|only)\b": r"`\1`",
}
"""Patterns of what messages call an option or a command, and what that is in Python."""


def in_python(text: str) -> str:
    """Return a message with options and commands as they are in Python."""
    for pattern, word in WORDS.items():
        text = re.sub(pattern, word, text)
    return text


@contextlib.contextmanager
def faults_in_python() -> Iterator[None]:
    """Let faults speak of arguments, not of options of the command line."""
    try:
        yield
    except BenchfwError as fault:
        fault.args = (in_python(str(fault)), *fault.args[1:])
        raise


def as_names(given: str | Sequence[str], argument: str) -> tuple[str, ...]:
    """Return one name or several as a tuple; anything else is a BenchfwError that names the argument."""
    names = (given,) if isinstance(given, str | Path) else given
    if not isinstance(names, Sequence) or not all(
        isinstance(each, str | Path) and str(each) for each in names
    ):
        raise BenchfwError(f"{argument} must be a name or a list of names, got {given!r}")
    return tuple(map(str, names))


def as_path(given: str | Path, argument: str) -> Path:
    """Return a path; anything else is a BenchfwError that names the argument."""
    if not isinstance(given, str | Path):
        raise BenchfwError(f"{argument} must be a path, got {type(given).__name__}")
    if not str(given) or "\0" in str(given):
        raise BenchfwError(f"{argument} must be a path, got {str(given)!r}")
    return Path(given)


def read_size(text: str) -> int:
    """Return the bytes that a text such as 500MB or 2G means; 0 where it means none."""
    found = re.fullmatch(r"\s*([0-9.]+)\s*([KMGT]?)i?B?\s*", text, re.IGNORECASE)
    try:
        return int(float(found[1]) * UNITS[found[2].upper()]) if found else 0
    except (ValueError, OverflowError):
        return 0


def as_bytes(given: float | str | None, argument: str) -> int | None:
    """Return a number of bytes, or None; anything else is a BenchfwError that names the argument."""
    if given is None:
        return None
    size = read_size(given) if isinstance(given, str) else given
    if isinstance(size, bool) or not hasattr(size, "__int__") or not 1 <= size <= MOST_BYTES:
        raise BenchfwError(f"{argument} must be a number of bytes, or a size such as '2GB', got {given!r}")
    return int(size)


def as_folder(given: str | Path | None, argument: str) -> str:
    """Return the full path of a folder, empty where none is given."""
    return "" if given is None else str(as_path(given, argument).resolve())
