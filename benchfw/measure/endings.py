"""How a trial ended: what a fault means, and the facts and caveats of its method, problem and answer."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import traceback
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from benchfw.errors import BenchfwError, Unavailable, Untrue, nearest
from benchfw.records import Ending, Outcome, Status
from benchfw.sources import is_installed

OWN = str(Path(__file__).parents[1]) + os.sep
LONGEST_REASON = 500  # characters: a reason is repeated in every row of an export

Facts = dict[str, float]
Caveats = tuple[str, ...]


def outcome_of(fault: BaseException) -> Outcome:
    """Return the outcome of a trial that raised this."""
    match fault:
        case Unavailable():
            return Outcome(Status.SKIPPED, Ending.ABSENT, str(fault))
        case MemoryError():
            reason = f"not enough memory: {str(fault) or 'an allocation was refused'}"
            return Outcome(Status.OUT_OF_MEMORY, Ending.FAULT, reason)
        case Untrue():
            return Outcome(Status.FAILED, Ending.UNTRUE, str(fault))
        case BenchfwError():
            return Outcome(Status.FAILED, Ending.FAULT, str(fault))
    return Outcome(Status.FAILED, Ending.FAULT, explain(fault))


def explain(fault: BaseException) -> str:
    """Return a fault as one line: its type, its message, and where in whose file it was raised.

    Where benchfw or a library raised it, the place is where an author's file called it, if one did. An
    attribute that is missing gets the nearest.
    """
    raised = traceback.extract_tb(fault.__traceback__)
    others = [each for each in raised if not each.filename.startswith(OWN)]
    frames = [each for each in others if not is_installed(each.filename)] or others or raised
    place = f" ({Path(frames[-1].filename).name}, line {frames[-1].lineno})" if frames else ""
    message = _message_of(fault)
    short = message if len(message) <= LONGEST_REASON else f"{message[:LONGEST_REASON]}…"
    return f"{type(fault).__name__}: {short}{place}" if short else f"{type(fault).__name__}{place}"


def _message_of(fault: BaseException) -> str:
    try:
        return " ".join(str(fault).split()) + _nearest_attribute(fault)
    except Exception:  # noqa: BLE001 - a stranger's exception may not even print
        return "its message cannot be printed"


def _nearest_attribute(fault: BaseException) -> str:
    if not (isinstance(fault, AttributeError) and isinstance(fault.name, str)):
        return ""
    return nearest(fault.name, [each for each in dir(fault.obj) if not each.startswith("_")], otherwise="")


def facts_of_answer(answer: Any) -> tuple[Facts, Caveats]:
    """Return the facts and the caveats of an optimizer's last answer."""
    facts: Facts = {}
    caveats: list[str] = []
    _ask(answer, (), facts, caveats)
    return _finite(facts), tuple(dict.fromkeys(caveats))


def facts_of_method(method: Any, problem: Any) -> tuple[Facts, Caveats]:
    """Return the facts and the caveats of a method, of the methods in its fields, and of its problem."""
    facts: Facts = {}
    caveats: list[str] = []
    with _note_faults(problem, caveats):
        caveats += _texts(getattr(problem, "caveats", ()))
    for each in with_parts(method):
        _ask(each, (problem,), facts, caveats)
    return _finite(facts), tuple(dict.fromkeys(caveats))


def _ask(source: Any, arguments: tuple[Any, ...], facts: Facts, caveats: list[str]) -> None:
    """Add what a source says of itself."""
    with _note_faults(source, caveats):
        if hasattr(source, "facts"):
            found = dict(source.facts(*arguments).items())
            facts.update(zip(_texts(found), map(float, found.values()), strict=True))
        if hasattr(source, "caveats"):
            caveats += _texts(source.caveats(*arguments))


@contextlib.contextmanager
def _note_faults(source: Any, caveats: list[str]) -> Iterator[None]:
    """Make a fault one more caveat: what was measured stands whatever a stranger's code raises or returns."""
    try:
        yield
    except Exception as fault:  # noqa: BLE001
        what = f"{type(fault).__name__}: {_message_of(fault)}"
        caveats.append(f"{type(source).__name__} could not report its facts ({what})")


def _texts(found: str | Iterable[str]) -> Caveats:
    """Return texts, of which there may be one alone; TypeError for anything else."""
    texts = (found,) if isinstance(found, str) else tuple(found)
    for each in texts:
        if not isinstance(each, str):
            raise TypeError(f"{each!r:.50} is not text")
    return texts


def _finite(facts: Facts) -> Facts:
    return {name: value for name, value in facts.items() if math.isfinite(value)}


def with_parts(method: Any) -> Iterator[Any]:
    """Yield a method and the methods in its fields: an optimizer's estimator, an estimator's distribution."""
    yield method
    for name in field_names(method.__class__):
        part = getattr(method, name)
        if hasattr(type(part), "__dataclass_fields__"):
            yield from with_parts(part)


@functools.lru_cache(maxsize=256)
def field_names(kind: Any) -> tuple[str, ...]:
    """Return the names of a dataclass's fields; none for another class."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple([each.name for each in dataclasses.fields(kind)])
