"""How a trial ended: what a fault means, and the facts and caveats of its method, problem and answer."""

from __future__ import annotations

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
    try:
        message = " ".join(str(fault).split()) + _nearest_attribute(fault)
    except Exception:  # noqa: BLE001 - a stranger's exception may not even print
        message = "its message cannot be printed"
    short = message if len(message) <= LONGEST_REASON else f"{message[:LONGEST_REASON]}…"
    return f"{type(fault).__name__}: {short}{place}" if short else f"{type(fault).__name__}{place}"


def _nearest_attribute(fault: BaseException) -> str:
    if not (isinstance(fault, AttributeError) and isinstance(fault.name, str)):
        return ""
    return nearest(fault.name, [each for each in dir(fault.obj) if not each.startswith("_")], otherwise="")


def facts_of_answer(answer: Any) -> tuple[Facts, Caveats]:
    """Return the facts and the caveats of an optimizer's last answer."""
    if not (hasattr(answer, "facts") or hasattr(answer, "caveats")):
        return {}, ()
    return _collect_facts([answer], ())


def facts_of_method(method: Any, problem: Any) -> tuple[Facts, Caveats]:
    """Return the facts and the caveats of a method, of the methods in its fields, and of its problem."""
    return _collect_facts(with_parts(method), (problem,), getattr(problem, "caveats", ()))


def _collect_facts(
    sources: Iterable[Any], arguments: tuple[Any, ...], known: Iterable[str] = ()
) -> tuple[Facts, Caveats]:
    """Ask every source; what was measured stands whatever goes wrong in here: a fault is one more caveat."""
    facts: Facts = {}
    caveats = list(known)
    for each in sources:
        try:
            if hasattr(each, "facts"):
                facts |= {name: float(value) for name, value in each.facts(*arguments).items()}
            if hasattr(each, "caveats"):
                caveats += each.caveats(*arguments)
        except Exception as fault:  # noqa: BLE001 - a stranger's method may raise anything
            caveats.append(
                f"{type(each).__name__} could not report its facts ({type(fault).__name__}: {fault})"
            )
    if not all(map(math.isfinite, facts.values())):
        facts = {name: value for name, value in facts.items() if math.isfinite(value)}
    return facts, tuple(dict.fromkeys(caveats))


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
