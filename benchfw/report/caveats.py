"""What a reader must know to believe the numbers, as problems and methods said it themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.records import Result
from benchfw.report.methods import listed


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
        for text in result.outcome.caveats:
            methods, problems = found.setdefault(text, ({}, {}))
            methods[result.trial.method.label] = None
            problems[result.trial.problem.label] = None
    return tuple(Caveat(tuple(methods), tuple(problems), text) for text, (methods, problems) in found.items())
