"""What every report begins with: the answer to each problem, and how its methods were tuned."""

from __future__ import annotations

from dataclasses import dataclass

from benchfw.report.captions import heading
from benchfw.report.tuning.problems import TunedProblem, tuned_problems
from benchfw.report.tuning.sentences import describe_problem, warn_of_tuning
from benchfw.report.verdicts import verdict
from benchfw.summary.model import Comparison, Summary

NOT_MEASURED = (
    "Not measured here but imported from {}: without the seeds of its runs and without records of how noisy "
    "the machine was, no method is called better than another."
)


@dataclass(frozen=True, eq=False)
class Answer:
    """The verdict on one problem, what it owes to tuning, and what to know of the settings chosen.

    There is no comparison where tuning has not ended.
    """

    heading: str
    problem: str
    verdict: str
    comparison: Comparison | None = None
    tuned: TunedProblem | None = None

    @property
    def tuning(self) -> str:
        """Return who leads with how much tuning, and the settings that were chosen."""
        return "" if self.tuned is None else " ".join(f"{each}." for each in describe_problem(self.tuned))

    @property
    def warnings(self) -> list[str]:
        """Return what a reader must know of the settings."""
        return [] if self.tuned is None else warn_of_tuning(self.tuned)

    @property
    def text(self) -> str:
        """Return verdict and tuning as one paragraph."""
        return " ".join(filter(None, [self.verdict, self.tuning]))


def find_answers(summary: Summary) -> list[Answer]:
    """Return an answer for each comparison, then for each problem whose methods are still being tuned."""
    tuned = {(each.problem, each.kind): each for each in tuned_problems(summary)}
    found = [
        Answer(
            heading(each),
            each.problem,
            NOT_MEASURED.format(summary.imported) if summary.imported else verdict(each),
            each,
            tuned.get((each.problem, each.kind)),
        )
        for each in summary.comparisons
    ]
    waiting = [each for each in tuned.values() if each.comparison is None]
    return [*found, *(Answer(each.heading, each.problem, "", None, each) for each in waiting)]
