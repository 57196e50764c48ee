"""Decided claims as plain data: nested for JSON, flat rows for tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from benchfw.analysis.claims import DecidedPart
from benchfw.claims import Range
from benchfw.summary.claims.reader import ClaimResult

CLAIM_COLUMNS = (
    "says",
    "source",
    "standing",
    "methods",
    "test",
    "quantity",
    "part",
    "part_standing",
    "claimed_low",
    "claimed_high",
    "estimate",
    "low",
    "high",
    "level",
    "count",
    "needed",
    "reason",
    "registered",
    "hash",
    "early",
    "trials",
    "failed",
    "quick",
)
"""Of a row for each number that a claim is about.

`early` of its `trials` ended before it was registered, so many `failed`; `quick` is the size of the run.
"""


def claim_facts(results: Iterable[ClaimResult]) -> list[dict[str, Any]]:
    """Return claims and what is decided about them, as JSON has it: without NaN, infinities as texts."""
    return [
        {
            "says": each.claim.says,
            "source": each.claim.source,
            "standing": each.decided.standing.value,
            "methods": list(each.claim.names),
            "test": each.claim.test,
            "quantity": each.claim.quantity,
            "claimed": _range_facts(each.claim.inside),
            "parts": [_part_facts(part) for part in each.decided.parts],
            "needed": each.decided.needed,
            "reason": each.decided.reason,
            "registered": each.registered,
            "hash": each.claim.digest,
            "early": each.early,
            "trials": each.trials,
            "failed": each.failed,
            "quick": each.quick,
            "table": dict(each.claim.table),
        }
        for each in results
    ]


def _part_facts(part: DecidedPart) -> dict[str, Any]:
    found, estimate, subject = part.interval, part.part.estimate, part.part.subject
    return {
        "name": part.part.name,
        "methods": list(subject.methods),
        "problem": subject.problem,
        "backend": subject.backend,
        "metric": subject.metric,
        "standing": part.standing.value,
        "claimed": _range_facts(part.part.inside),
        "estimate": None if found is None else _number(found.estimate),
        "interval": None if found is None else [_number(found.low), _number(found.high)],
        "level": None if found is None else part.level,
        "count": 0 if estimate is None else estimate.count,
        "reason": part.part.reason,
        "looks": None if subject.looks is None else subject.looks._asdict(),
    }


def _range_facts(inside: Range) -> dict[str, float | None]:
    return {"low": _end(inside.low), "high": _end(inside.high)}


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(value)


def claim_rows(results: Iterable[ClaimResult]) -> list[tuple[Any, ...]]:
    """Return a flat row for each number that a claim is about, in the order of CLAIM_COLUMNS.

    A claim without any number has one row.
    """
    rows: list[tuple[Any, ...]] = []
    for each in results:
        claim, decided = each.claim, each.decided
        methods = ", ".join(claim.names)
        start = (claim.says, claim.source, decided.standing.value, methods, claim.test, claim.quantity)
        end = (each.registered, claim.digest, each.early, each.trials, each.failed, each.quick)
        parts: Sequence[DecidedPart | None] = decided.parts or [None]
        rows += [(*start, *_part_cells(part), decided.needed, _reason(each, part), *end) for part in parts]
    return rows


def _part_cells(part: DecidedPart | None) -> tuple[Any, ...]:
    if part is None:
        return ("", "", *[None] * 7)
    inside, found, estimate = part.part.inside, part.interval, part.part.estimate
    ends = (_end(inside.low), _end(inside.high))
    count = None if estimate is None else estimate.count
    if found is None:
        return part.part.name, part.standing.value, *ends, None, None, None, None, count
    numbers = (found.estimate, found.low, found.high, part.level)
    return part.part.name, part.standing.value, *ends, *numbers, count


def _reason(result: ClaimResult, part: DecidedPart | None) -> str:
    return (part.part.reason if part is not None else "") or result.decided.reason
