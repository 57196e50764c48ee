"""What a method, its problem and its answer have to say about a trial when it is over: facts and caveats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any

from benchfw.records import CAVEAT, FACT_PREFIX, Record


def told(method: Any, problem: Any, reason: str) -> tuple[list[Record], str]:
    """Return the facts of method and problem as records, and the reason with every caveat behind it."""
    return _told(_with_parts(method), (problem,), reason, getattr(problem, "caveats", ()))


def told_by_answer(answer: Any, reason: str) -> tuple[list[Record], str]:
    """Return the facts of an optimizer's last answer, and the reason with its caveats behind it."""
    return _told([answer], (), reason)


def _told(
    sources: Iterable[Any], arguments: tuple[Any, ...], reason: str, known: Iterable[str] = ()
) -> tuple[list[Record], str]:
    """Ask every source; what was measured stands whatever goes wrong in here: a fault is one more caveat."""
    facts: dict[str, float] = {}
    caveats = list(known)
    for each in sources:
        try:
            if hasattr(each, "facts"):
                facts |= {name: float(value) for name, value in each.facts(*arguments).items()}
            if hasattr(each, "caveats"):
                caveats += each.caveats(*arguments)
        except Exception as fault:  # noqa: BLE001 - a stranger's method may raise anything
            caveats.append(
                f"{type(each).__name__} could not tell its facts ({type(fault).__name__}: {fault})"
            )
    records = [
        Record(FACT_PREFIX + name, 0, 0.0, 0.0, value)
        for name, value in facts.items()
        if math.isfinite(value)
    ]
    return records, CAVEAT.join([reason, *dict.fromkeys(caveats)])


def _with_parts(method: Any) -> Iterator[Any]:
    """Yield a method and the methods in its fields: an optimizer's estimator, an estimator's distribution."""
    yield method
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            part = getattr(method, field.name)
            if dataclasses.is_dataclass(part):
                yield from _with_parts(part)
