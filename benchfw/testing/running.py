"""Runs checks and says how each ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from traceback import extract_tb

from benchfw.errors import BenchfwError, Unavailable
from benchfw.loading import fault_text
from benchfw.testing.checks import FIRST, Check, CheckFailed, NotApplicable, checks_for
from benchfw.testing.subject import Subject


class Ending(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    EXPECTED = "expected failure"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Outcome:
    """What one check said of one plugin."""

    subject: str
    check: Check
    ending: Ending
    detail: str = ""

    def __str__(self) -> str:
        head = f"{self.ending}: {self.subject}: {self.check.name}"
        if self.ending is Ending.FAILED:
            return f"{head}: {self.check.statement} But {self.detail}. To do: {self.check.advice}."
        return f"{head}: {self.detail}" if self.detail else head


def run_check(subject: Subject, check: Check) -> Outcome:
    """Run one check; whatever the plugin raises is a failure."""
    ending, detail = _ending(subject, check)
    reason = subject.expected_failures.get(check.name)
    if reason is not None:
        if ending is Ending.FAILED:
            ending, detail = Ending.EXPECTED, reason
        elif ending is Ending.PASSED:
            ending = Ending.FAILED
            detail = f"it is declared to fail ({reason}) and passes; take it out of expected_failures"
    return Outcome(str(subject), check, ending, detail)


def run_checks(subjects: Iterable[Subject], only: str | None = None) -> Iterator[Outcome]:
    """Yield the outcome of every check of every subject, or of the checks of one name alone."""
    for subject in subjects:
        for check in checks_for(subject.kind):
            if only in {None, check.name}:
                outcome = run_check(subject, check)
                yield outcome
                if check.name == FIRST and outcome.ending is Ending.FAILED:
                    break  # every other check would say the same


def _ending(subject: Subject, check: Check) -> tuple[Ending, str]:
    try:
        return Ending.PASSED, check.body(subject) or ""
    except NotApplicable as reason:
        return Ending.SKIPPED, str(reason)
    except Unavailable as reason:
        return Ending.SKIPPED, str(reason)
    except CheckFailed as fault:
        return Ending.FAILED, str(fault)
    except BenchfwError as fault:
        return Ending.FAILED, f"it says: {fault}"
    except Exception as fault:  # noqa: BLE001 - a stranger's code may raise anything
        frame = extract_tb(fault.__traceback__)[-1]
        place = f"{frame.filename.rpartition('/')[2]}, line {frame.lineno}"
        return Ending.FAILED, f"it raised {fault_text(fault)} ({place})"
