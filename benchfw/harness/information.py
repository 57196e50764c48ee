"""What a method and its problem have to say about a trial when it is over: facts and caveats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from benchfw.records import CAVEAT, FACT_PREFIX, Record


def told(method: Any, problem: Any, reason: str) -> tuple[list[Record], str]:
    """Return the facts as records, and the reason with every caveat behind it.

    What was measured stands whatever goes wrong in here: a fault is one more caveat.
    """
    facts: dict[str, float] = {}
    caveats = list(getattr(problem, "caveats", ()))
    for each in _with_parts(method):
        try:
            if hasattr(each, "facts"):
                facts |= {name: float(value) for name, value in each.facts(problem).items()}
            if hasattr(each, "caveats"):
                caveats += each.caveats(problem)
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
