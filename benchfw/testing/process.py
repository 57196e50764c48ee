"""Runs the checks of a target in a worker process, which is replaced when a plugin kills it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Self

from benchfw.errors import PluginError
from benchfw.harness.workers.deaths import describe_end, find_place
from benchfw.harness.workers.launch import STOP_SECONDS, start_worker, stop_worker
from benchfw.harness.workers.links import PipeReader, wait_for_pipes, write_all
from benchfw.harness.workers.messages import LONGEST_MESSAGE, BadMessage, parse_lines
from benchfw.measure.files import remove_folder, scratch_folder
from benchfw.system import CAN_SUPERVISE
from benchfw.testing.check import LONGEST, Check
from benchfw.testing.problems import Effort
from benchfw.testing.running import CheckResult, CheckStatus, apply_expectation

LOADING_SECONDS = 120.0  # that importing a target may take
GRACE_SECONDS = 3.0  # for an alarm to be heard; compiled code does not hear it
LOG_BYTES = 100_000  # of the fault handler that are looked at
WORKER = "benchfw.testing.running"
NONSENSE = "sent an answer that makes no sense"


class SubjectName(NamedTuple):
    """A subject that is loaded in another process."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class WorkerGone(Exception):
    """The process ended, was stopped, or wrote what makes no sense; the message says which."""


class CheckProcess:
    """A target whose checks run in a process of their own; use it as a context manager.

    The worker's standard output and error go to standard error.
    """

    def __init__(self, target: str, plugins: Iterable[str] = (), effort: Effort | None = None) -> None:
        given = list(plugins)
        for name in (target, *given):
            Path(name).exists()  # one that no file can have is refused here, as everywhere
        self._request = {
            "target": target,
            "plugins": given,
            "effort": asdict(effort or Effort()),
            "path": sys.path,
        }
        self._worker: _Worker | None = None
        try:
            self.subjects = [SubjectName(*each) for each in self._start().found]
        except WorkerGone as end:
            raise PluginError(f"'{target}' cannot be loaded: its process {end}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker and all that it started."""
        if self._worker is not None:
            self._worker.stop()
            self._worker = None

    def run_check(self, subject: SubjectName, check: Check) -> CheckResult:
        """Run one check; the end of the process is a failure."""
        expected: str | None = None
        try:
            worker = self._worker or self._start()
            for message in worker.ask([self.subjects.index(subject), check.name]):
                match message:
                    case ["began", reason]:
                        expected = str(reason) if reason else None
                    case ["ended", *_]:
                        return read_result(subject, check, message)
        except WorkerGone as end:
            self.close()
            return apply_expectation(
                CheckResult(str(subject), check, CheckStatus.FAILED, f"its process {end}"), expected
            )
        raise AssertionError("a worker answers or is gone")

    def _start(self) -> _Worker:
        self._worker = _Worker(self._request)
        return self._worker


def read_result(subject: SubjectName, check: Check, message: list[Any]) -> CheckResult:
    """Return what a worker says of a check; WorkerGone if that makes no sense."""
    try:
        _, status, detail, advice, warned = message
        return CheckResult(
            str(subject), check, CheckStatus(status), str(detail), str(advice), tuple(map(str, warned))
        )
    except (ValueError, TypeError):
        raise WorkerGone(NONSENSE) from None


class _Worker:
    """One worker process; `found` are the subjects that it has loaded."""

    def __init__(self, request: dict[str, Any]) -> None:
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        self._started = start_worker(
            WORKER,
            stdout=2,
            stderr=2,
            env=os.environ,
            handed_down=[self._log.fileno()],
        )
        self._process = self._started.process
        self._replies = PipeReader(self._started.replies)
        self._messages: deque[list[Any]] = deque()
        self._process_id: int | None = None
        self._seconds = LOADING_SECONDS
        try:
            # where no file can be handed down, Python's fault handler writes to standard error
            self.found = self._load({**request, "log": self._log.fileno() if CAN_SUPERVISE else 2})
        except BaseException:
            self.stop()
            raise

    def ask(self, request: Any) -> Iterator[list[Any]]:
        """Send a request and yield the messages of the answer, except those about time limits."""
        write_all(self._started.requests, json.dumps(request).encode() + b"\n")
        while True:
            match self._receive():
                case ["limit", int() | float() as seconds]:
                    self._seconds = seconds
                case message:
                    yield message

    def _load(self, request: dict[str, Any]) -> list[list[str]]:
        match next(self.ask(request)):
            case ["fault", str() as sentence]:
                raise PluginError(sentence)
            case ["found", int() as process_id, list() as found]:
                self._process_id = process_id
                return found
        raise WorkerGone(NONSENSE)

    def _receive(self) -> list[Any]:
        """Return the next message; WorkerGone says why there is none."""
        ends = monotonic() + min(self._seconds, LONGEST) + GRACE_SECONDS
        while not self._messages:
            if not wait_for_pipes([self._replies], max(0.0, ends - monotonic())):
                raise WorkerGone(self._end_by_force())
            ended = self._replies.ended
            lines, rest = self._replies.read_lines()
            try:
                self._messages.extend(parse_lines(lines) if lines else ())
            except BadMessage:
                raise WorkerGone(NONSENSE) from None
            if len(rest) > LONGEST_MESSAGE:
                raise WorkerGone(NONSENSE)
            if ended and not self._messages:
                raise WorkerGone(self._describe_end())
        return self._messages.popleft()

    def _describe_end(self) -> str:
        try:
            code = self._process.wait(STOP_SECONDS / 2)
        except subprocess.TimeoutExpired:
            return "closed its pipe but kept running"
        return f"{describe_end(code)}{self._place()}"

    def _end_by_force(self) -> str:
        """End what does not hear the alarm; Python's fault handler says where it was."""
        stopped, advice = f"was stopped after {self._seconds:g} s", "look for a loop without end"
        if self._process_id is None:
            return f"{stopped}, while it was imported; {advice}"
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.kill(self._process_id, signal.SIGABRT)  # which ends it on Windows, without a word
            self._process.wait(1)
        return f"{stopped}{self._place()}, in compiled code; {advice}, or allow more with --timeout"

    def _place(self) -> str:
        self._log.seek(0)
        return find_place(self._log.read(LOG_BYTES).decode(errors="replace"))

    def stop(self) -> None:
        """End the process and everything that it started."""
        stop_worker(self._started)
        if self._process_id is not None:
            remove_folder(scratch_folder(self._process_id))  # of checks that were stopped
        self._log.close()
