"""What a reader must know to believe the numbers: what problems and methods say, and early ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchfw.records import ENDED_BY_ITSELF, Result, Status
from benchfw.summary.model import listed


@dataclass(frozen=True)
class Caveat:
    """One sentence, and the methods and problems that it is about."""

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    text: str

    @property
    def sentence(self) -> str:
        """Return who, where and what."""
        return f"{listed(self.methods)} on {listed(self.problems)}: {self.text}"


def find_caveats(results: Sequence[Result]) -> tuple[Caveat, ...]:
    """Return the caveats in order of first appearance, each once."""
    found: dict[str, tuple[dict[str, None], dict[str, None]]] = {}
    for result in results:
        for text in (*result.outcome.caveats, *_early_end(result)):
            methods, problems = found.setdefault(text, ({}, {}))
            methods[result.trial.method.label] = None
            problems[result.trial.problem.label] = None
    return tuple(Caveat(tuple(methods), tuple(problems), text) for text, (methods, problems) in found.items())


def _early_end(result: Result) -> Iterator[str]:
    """Yield a caveat on a method that stopped although its budget would have let it go on to the target."""
    outcome = result.outcome
    if result.trial.target and outcome.status is Status.DONE and outcome.reason.startswith(ENDED_BY_ITSELF):
        yield "it ended by itself, before the target and before its budget was spent"
