"""What a row of a table, a line of a figure and a name in a sentence are about."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from benchfw.records import Result

FEW_NAMES = 4


@dataclass(frozen=True)
class Method:
    """A method on a backend."""

    label: str
    backend: str


def by_method(results: Iterable[Result]) -> dict[Method, list[Result]]:
    """Return the results of each method, in the order of first appearance."""
    groups: dict[Method, list[Result]] = {}
    for result in results:
        groups.setdefault(Method(result.trial.method.label, result.trial.backend), []).append(result)
    return groups


def listed(names: Sequence[str]) -> str:
    """Return 'a, b and c', or the first few and a number."""
    if len(names) > FEW_NAMES:
        return f"{', '.join(names[:FEW_NAMES])} and {len(names) - FEW_NAMES} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
