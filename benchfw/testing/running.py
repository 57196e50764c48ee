"""Runs checks and says how each ended: here, or as the worker process of `benchfw check`.

Requests to a worker are lines of JSON: first what to load, then the number of a subject and the name of a
check. Answers are lines too, each a list that begins with a word:

- `found`, process id, kinds and names of the subjects; or `fault`, a sentence: once;
- `began`, the reason for which the check is declared to fail, if it is;
- `limit`, seconds: whenever a limit of time begins;
- `ended`, status, detail, advice, warnings.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Protocol, TypeVar, cast

from benchfw.errors import BenchfwError, PluginError, Unavailable
from benchfw.harness.workers.messages import write_line
from benchfw.loading import fault_text
from benchfw.measure.files import CheckFiles
from benchfw.system import limit_memory
from benchfw.testing.check import (
    FAULTS,
    Check,
    CheckFailed,
    NotApplicable,
    OutOfTime,
    time_limit,
    watch_limits,
)
from benchfw.testing.checks import NEEDED, checks_for
from benchfw.testing.problems import Effort
from benchfw.testing.subject import Subject, subjects_of

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
    warned: tuple[str, ...] = ()
    """What the plugin warned of, where somebody listened."""

    def __str__(self) -> str:
        head = f"{self.status}: {self.subject}: {self.check.name}"
        if self.advice:
            return f"{head}: {self.check.statement} But {self.detail}. To do: {self.advice}."
        return f"{head}: {self.detail}" if self.detail else head


class Checked(Protocol):
    """What the checks are about: a subject, here or in another process."""

    @property
    def kind(self) -> str:
        """The role."""


AnySubject = TypeVar("AnySubject", bound=Checked)


def run_check(subject: Subject, check: Check) -> CheckResult:
    """Run one check in this process; whatever the plugin raises is a failure."""
    result = CheckResult(str(subject), check, *_run_body(subject, check))
    return apply_expectation(result, subject.expected_failures.get(check.name))


def apply_expectation(result: CheckResult, reason: str | None) -> CheckResult:
    """Return the result of a check, which is declared to fail where there is a reason."""
    if reason is not None and result.status is CheckStatus.FAILED:
        return replace(result, status=CheckStatus.EXPECTED, detail=reason, advice="")
    if reason is not None and result.status is CheckStatus.PASSED:
        seen, advice = f"it is declared to fail ({reason}) and passes", "take it out of expected_failures"
        return replace(result, status=CheckStatus.FAILED, detail=seen, advice=advice)
    return result


def run_checks(
    subjects: Iterable[AnySubject],
    only: str | None = None,
    run: Callable[[AnySubject, Check], CheckResult] | None = None,
) -> Iterator[CheckResult]:
    """Yield the result of every check of every subject, or of the checks of one name alone.

    A fault is said once: what cannot run is not checked further, and what another check has raised already
    is skipped. `run` runs a check elsewhere than in this process, which a plugin may kill.
    """
    run = run or cast("Callable[[AnySubject, Check], CheckResult]", run_check)
    for subject in subjects:
        raised: dict[str, str] = {}  # what was raised, and the check that says it
        stopped = ""
        for check in checks_for(subject.kind):
            if only not in {None, check.name}:
                continue
            if stopped:
                yield _skipped(subject, check, f"it does not run yet: see {stopped} above")
                continue
            result = run(subject, check)
            failed = result.status is CheckStatus.FAILED
            first = raised.setdefault(result.detail, check.name) if failed and not result.advice else ""
            again = first not in {"", check.name}
            yield _skipped(subject, check, f"the same fault: see {first} above") if again else result
            stopped = check.name if failed and check in NEEDED else ""


def _skipped(subject: Checked, check: Check, reason: str) -> CheckResult:
    return CheckResult(str(subject), check, CheckStatus.SKIPPED, reason)


def _run_body(subject: Subject, check: Check) -> tuple[CheckStatus, str, str]:
    """Return how a check ends, what was seen, and what to do."""
    try:
        with subject.registry.activate(), CheckFiles(), time_limit(subject.effort.timeout):
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
        each
        for each in traceback.extract_tb(fault.__traceback__)
        if not Path(each.filename).is_relative_to(HERE)
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


def serve(requests: int, replies: int) -> None:
    """Load a target and answer for it, on two file descriptors, until the parent closes its end."""
    with os.fdopen(requests, "rb") as asked:
        _answer_all(asked, replies)


def _answer_all(requests: IO[bytes], replies: int) -> None:
    import psutil

    owner = os.getpid()

    def tell(kind: str, *content: Any) -> None:
        if os.getpid() != owner:
            os._exit(1)  # a child that the plugin forked and let run into here
        write_line(replies, [kind, *content])

    request = json.loads(requests.readline())
    faulthandler.enable(request["log"])
    # MemoryError says where there was no more, the end of the process does not
    limit_memory(int(psutil.virtual_memory().available))
    watch_limits(lambda seconds: tell("limit", seconds))
    sys.path[:] = request["path"]
    try:
        subjects = subjects_of(request["target"], request["plugins"], Effort(**request["effort"]))
    except BenchfwError as fault:
        tell("fault", str(fault))
        return
    tell("found", owner, [[each.kind, each.entry.name] for each in subjects])
    for line in requests:
        number, name = json.loads(line)
        _answer(subjects[number], name, tell)


def _answer(subject: Subject, name: str, tell: Callable[..., None]) -> None:
    (check,) = (each for each in checks_for(subject.kind) if each.name == name)
    tell("began", subject.expected_failures.get(name))
    with warnings.catch_warnings(record=True) as caught:  # they would stand between the lines
        try:
            result = run_check(subject, check)
        except BaseException as fault:  # noqa: BLE001 - beyond what the checks expect of a plugin
            result = CheckResult(str(subject), check, CheckStatus.FAILED, f"it raised {fault_text(fault)}")
    warned = [
        f"{each.category.__name__}: {each.message} ({Path(each.filename).name}, line {each.lineno})"
        for each in caught
    ]
    tell("ended", result.status, result.detail, result.advice, warned)
