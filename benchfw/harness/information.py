"""What a method and its problem have to say about a trial when it is over: facts and caveats."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any

from benchfw.records import CAVEAT, FACT_PREFIX, Record


def fact_records(method: Any, problem: Any) -> list[Record]:
    """Return the facts as records, those of the methods inside the method included."""
    found = {
        name: float(value)
        for each in _with_parts(method)
        if hasattr(each, "facts")
        for name, value in each.facts(problem).items()
    }
    return [
        Record(FACT_PREFIX + name, 0, 0.0, 0.0, value)
        for name, value in found.items()
        if math.isfinite(value)
    ]


def with_caveats(reason: str, method: Any, problem: Any) -> str:
    """Return the reason with every caveat of the problem and of the method behind it."""
    found = list(getattr(problem, "caveats", ()))
    for each in _with_parts(method):
        if hasattr(each, "caveats"):
            found += each.caveats(problem)
    return CAVEAT.join([reason, *dict.fromkeys(found)])


def _with_parts(method: Any) -> Iterator[Any]:
    """Yield a method and the methods in its fields: an optimizer's estimator, an estimator's distribution."""
    yield method
    if dataclasses.is_dataclass(method):
        for field in dataclasses.fields(method):
            part = getattr(method, field.name)
            if dataclasses.is_dataclass(part):
                yield from _with_parts(part)
