"""What every report begins with: the answer to each problem, and how its methods were tuned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchfw.data.catalog import find_synthetic
from benchfw.provenance import Run
from benchfw.records import Status
from benchfw.report.captions import heading
from benchfw.report.text import join_names, plural
from benchfw.report.tuning.problems import TunedProblem, tuned_problems
from benchfw.report.tuning.sentences import describe_problem, warn_of_tuning
from benchfw.report.verdicts import verdict
from benchfw.report.verdicts.overall import main_quantity, overall_sentences
from benchfw.summary.model import Comparison, Summary

NOT_MEASURED = (
    "Not measured here but imported from {}: without the seeds of its runs and without records of how noisy "
    "the machine was, no method is called better than another."
)

STATUS_WORDS = {
    Status.DONE: "ran to the end",
    Status.REACHED: "stopped at the target",
    Status.TIMEOUT: "ran out of time",
    Status.OUT_OF_MEMORY: "ran out of memory",
}
"""How trials ended, for readers who do not know our words; other statuses are words themselves."""


@dataclass(frozen=True)
class Notice:
    """What a reader should know before the numbers: a few words, and where the page says more."""

    text: str
    place: str


@dataclass(frozen=True, eq=False)
class Answer:
    """The verdict on one problem, the settings that were chosen, and what to know of them.

    There is no comparison where tuning has not ended.
    """

    heading: str
    problem: str
    verdict: str
    comparison: Comparison | None = None
    tuned: TunedProblem | None = None

    @property
    def tuning(self) -> str:
        """Return the settings that were chosen."""
        return "" if self.tuned is None else f"{describe_problem(self.tuned)}."

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


ALL_PROBLEMS = "All problems"


def describe_overall(summary: Summary) -> str:
    """Return the sentences over all problems as one paragraph; empty where there are none."""
    return " ".join(f"{each}." for each in overall_sentences(summary))


BRACKETS = "Brackets hold 95 % intervals that allow for all comparisons of the report."


def describe_terms(summary: Summary, answers: Sequence[Answer]) -> str:
    """Return what the brackets of the sentences are, and the cost that those on optimizers are about."""
    said = [*overall_sentences(summary), *(each.verdict for each in answers)]
    units = [
        each.cost_unit
        for each in summary.measured
        if each.kind == "optimizer" and main_quantity(each) == "cost_to_target"
    ]
    terms = [BRACKETS] if any("[" in each for each in said) else []
    if units:
        counted = join_names(list(dict.fromkeys(units)))
        others = [method for each in summary.caveats if each.on_cost for method in each.methods]
        besides = f", except for {join_names(list(dict.fromkeys(others)))}" if others else ""
        counted += f", by the problem itself and for all methods alike{besides}"
        terms.append(f"Cost is counted in {counted}.")
    return " ".join(terms)


def find_notices(summary: Summary, run: Run) -> list[Notice]:
    """Return what stands in the band above the findings, in a few words each."""
    found = [Notice(f"{each[0].upper()}{each[1:]}", "provenance") for each in describe_extent(run)]
    if summary.imported:
        found.append(Notice("Not measured here", "caveats"))
    if summary.busy:
        found.append(Notice("The machine was busy: times are uncertain", "caveats"))
    if summary.jobs > 1:
        found.append(Notice(f"{summary.jobs} trials ran at a time", "caveats"))
    trials = len({number for fault in summary.faults for number in fault.trials})
    if trials:
        diverged = all(fault.status is Status.DIVERGED for fault in summary.faults)
        verb = "diverged" if diverged else "did not finish"
        found.append(Notice(f"{trials} of {plural(summary.trials, 'trial')} {verb}", "faults"))
    if summary.caveats:
        found.append(Notice(f"{plural(len(summary.caveats), 'caveat')} on methods or problems", "caveats"))
    return found


def describe_machine(run: Run) -> str:
    """Return the processor, its cores, and the devices that a run had."""
    environment = run.environment
    machine = environment.machine
    parts = [machine.processor, plural(machine.cores, "core")]
    parts += [each["device"] for each in environment.backends.values() if "device" in each]
    return ", ".join(dict.fromkeys(filter(None, parts)))


def describe_extent(run: Run) -> list[str]:
    """Return what of a suite a run did not do, and which of its data are synthetic."""
    changes = run.environment.changes
    parts = ["shorter runs (quick size)"] if changes.quick else []
    parts += [f"only '{changes.only}'"] if changes.only else []
    parts += [f"only on {join_names(changes.backends)}"] if changes.backends else []
    parts += [plural(changes.repetitions, "repetition")] if changes.repetitions else []
    made = find_synthetic(run.environment.datasets)
    return [
        *([f"not the whole suite: {', '.join(parts)}"] if parts else []),
        *([f"synthetic data: {join_names(made)}"] if made else []),
    ]
