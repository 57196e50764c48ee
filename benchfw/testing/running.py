"""Runs checks and says how each ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from traceback import extract_tb

from benchfw.errors import BenchfwError, PluginError, Unavailable
from benchfw.loading import fault_text
from benchfw.testing.check import Check, CheckFailed, NotApplicable
from benchfw.testing.checks import NEEDED, checks_for
from benchfw.testing.limit import FAULTS, OutOfTime, time_limit
from benchfw.testing.subject import Subject

HERE = Path(__file__).parent


class CheckStatus(StrEnum):
    """How a check ended."""

    PASSED = "passed"
    FAILED = "failed"
    EXPECTED = "expected failure"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class CheckResult:
    """The result of one check of one plugin."""

    subject: str
    check: Check
    status: CheckStatus
    detail: str = ""
    advice: str = ""
    """What to do, if the check itself failed; empty if the plugin raised."""

    def __str__(self) -> str:
        head = f"{self.status}: {self.subject}: {self.check.name}"
        if self.advice:
            return f"{head}: {self.check.statement} But {self.detail}. To do: {self.advice}."
        return f"{head}: {self.detail}" if self.detail else head


def run_check(subject: Subject, check: Check) -> CheckResult:
    """Run one check; whatever the plugin raises is a failure."""
    status, detail, advice = _run_body(subject, check)
    reason = subject.expected_failures.get(check.name)
    if reason is not None:
        if status is CheckStatus.FAILED:
            status, detail, advice = CheckStatus.EXPECTED, reason, ""
        elif status is CheckStatus.PASSED:
            status, detail = CheckStatus.FAILED, f"it is declared to fail ({reason}) and passes"
            advice = "take it out of expected_failures"
    return CheckResult(str(subject), check, status, detail, advice)


def run_checks(subjects: Iterable[Subject], only: str | None = None) -> Iterator[CheckResult]:
    """Yield the result of every check of every subject, or of the checks of one name alone.

    A fault is said once: what cannot run is not checked further, and what another check has raised already
    is skipped.
    """
    for subject in subjects:
        raised: dict[str, str] = {}  # what was raised, and the check that says it
        stopped = ""
        for check in checks_for(subject.kind):
            if only not in {None, check.name}:
                continue
            if stopped:
                yield _skipped(subject, check, f"it does not run yet: see {stopped} above")
                continue
            result = run_check(subject, check)
            failed = result.status is CheckStatus.FAILED
            first = raised.setdefault(result.detail, check.name) if failed and not result.advice else ""
            again = first not in {"", check.name}
            yield _skipped(subject, check, f"the same fault: see {first} above") if again else result
            stopped = check.name if failed and check in NEEDED else ""


def _skipped(subject: Subject, check: Check, reason: str) -> CheckResult:
    return CheckResult(str(subject), check, CheckStatus.SKIPPED, reason)


def _run_body(subject: Subject, check: Check) -> tuple[CheckStatus, str, str]:
    """Return how a check ends, what was seen, and what to do."""
    try:
        with subject.registry.activate(), time_limit(subject.effort.timeout):
            return CheckStatus.PASSED, check.body(subject) or "", ""
    except (NotApplicable, Unavailable) as reason:
        return CheckStatus.SKIPPED, str(reason), ""
    except CheckFailed as fault:
        return CheckStatus.FAILED, str(fault), fault.advice or check.advice
    except FAULTS as fault:
        return CheckStatus.FAILED, _describe_fault(subject, fault), ""


def _describe_fault(subject: Subject, fault: BaseException) -> str:
    match fault:
        case PluginError():
            return str(fault)
        case BenchfwError():
            return f"it says: {fault}"
        case OutOfTime():
            more = "look for a loop without end, or allow more with --timeout (in tests, Effort.timeout)"
            return f"it was stopped after {fault}{_place(subject, fault)}; {more}"
    return f"it raised {fault_text(fault)}{_place(subject, fault)}"


def _place(subject: Subject, fault: BaseException) -> str:
    """Return where it was raised: in the plugin's own files if possible, else wherever but in the checks."""
    frames = [
        each for each in extract_tb(fault.__traceback__) if not Path(each.filename).is_relative_to(HERE)
    ]
    path = subject.entry.plugin.path
    own = [each for each in frames if path and _is_below(Path(each.filename), path.parent)]
    if not frames:
        return ""
    frame = (own or frames)[-1]
    return f" ({Path(frame.filename).name}, line {frame.lineno})"


def _is_below(file: Path, folder: Path) -> bool:
    """Return whether a file is in a folder, and not in an environment that is in there too."""
    return file.is_relative_to(folder) and "site-packages" not in file.relative_to(folder).parts
