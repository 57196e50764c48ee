"""Runs trials in worker processes on this machine.

A worker outlives trials; one that crashes, hangs past the timeout or runs out of memory is replaced,
and its trial keeps the records that it had sent.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from time import monotonic

from benchfw.errors import BenchfwError
from benchfw.harness.environment import THREAD_VARIABLES
from benchfw.harness.executors.events import Event, Finished, Started
from benchfw.harness.executors.worker import Setup
from benchfw.records import Outcome, Record, Status, Trial

LAST_WORDS = 8000  # bytes of a dead worker's standard error that are looked at


class Worker:
    """The parent's side of one worker process."""

    def __init__(self, setup: Setup) -> None:
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        lifeline_read, self._lifeline = os.pipe()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        theirs = (request_read, reply_write, lifeline_read)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "benchfw.harness.executors.worker", *map(str, theirs)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            env={**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(setup.threads))},
            start_new_session=True,  # Ctrl-C reaches the parent alone, a kill all that a trial started
        )
        for each in theirs:
            os.close(each)
        self._requests = Connection(request_write, readable=False)
        self.replies = Connection(reply_read, writable=False)
        self._requests.send(setup)
        self.ready = False
        self.trial: Trial | None = None
        self.records: list[Record] = []
        self.began = monotonic()

    def begin(self, trial: Trial) -> None:
        """Hand over a trial."""
        self.trial, self.records, self.began = trial, [], monotonic()
        with contextlib.suppress(BrokenPipeError):  # a dead worker is noticed by its closed reply pipe
            self._requests.send(trial)

    def receive(self) -> Outcome | None:
        """Take one message; return the outcome when it ends the trial. Raises EOFError from a dead worker."""
        kind, *content = self.replies.recv()
        if kind == "records":
            self.records.extend(Record(*each) for each in content[0])
        elif kind == "restart":
            self.records.clear()
        elif kind == "ready":
            self.ready = True
            self.began = monotonic()  # the start of Python is not the trial's
        else:
            status, reason, cost_unit, seconds = content
            return Outcome(status, reason, tuple(self.records), seconds, cost_unit)
        return None

    def lost(self) -> Outcome:
        """Return the outcome of a trial whose worker died."""
        code = self.process.wait()
        seconds = monotonic() - self.began
        if code == -signal.SIGKILL:
            reason = "the worker was killed (SIGKILL), perhaps by a system that ran out of memory"
            return Outcome(Status.OUT_OF_MEMORY, reason, tuple(self.records), seconds)
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        reason = f"the worker process {how}{self._last_words()}"
        return Outcome(Status.CRASHED, reason, tuple(self.records), seconds)

    def _last_words(self) -> str:
        """Return where it died, from Python's fault handler, or else the last line that it wrote."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LAST_WORDS))
        text = self._log.read().decode(errors="replace").strip()
        place = re.search(r'Current thread .*\n\s+File "([^"]+)", line (\d+)', text)
        if place:
            return f" in {Path(place[1]).name}, line {place[2]}"
        return f": {text.splitlines()[-1].strip()}" if text else ""

    def fault(self) -> str:
        """Return why a worker died before its first trial."""
        return f"exit code {self.process.wait()}{self._last_words()}"

    def stop(self) -> None:
        """End the process and everything that it started."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._requests.close()
        self.replies.close()
        self._log.close()
        with contextlib.suppress(OSError):
            os.close(self._lifeline)


class LocalExecutor:
    """A fixed number of worker processes."""

    def __init__(
        self,
        plugins: tuple[str, ...] = (),
        *,
        jobs: int = 1,
        threads: int = 1,
        timeout: float | None = None,
        memory: int | None = None,
    ) -> None:
        self._setup = Setup(plugins, threads, memory)
        self._jobs = jobs
        self._timeout = timeout
        self._workers: list[Worker] = []

    def run(self, trials: Iterable[Trial]) -> Iterator[Event]:
        """Run the trials, at most one a worker at a time, in the order given."""
        waiting = deque(trials)
        while len(self._workers) < min(self._jobs, len(waiting)):
            self._workers.append(Worker(self._setup))
        while True:
            for worker in self._workers:
                if worker.trial is None and waiting:
                    worker.begin(waiting.popleft())
                    yield Started(_trial_of(worker))
            busy = [worker for worker in self._workers if worker.trial is not None]
            if not busy:
                return
            wait([worker.replies for worker in busy], self._patience(busy))
            for worker in busy:
                outcome = self._attend(worker)
                if outcome is not None:
                    trial, worker.trial = _trial_of(worker), None
                    if outcome.status not in {Status.DONE, Status.REACHED, Status.DIVERGED, Status.SKIPPED}:
                        self._replace(worker, outcome, more=bool(waiting))
                    yield Finished(trial, outcome)

    def close(self) -> None:
        """Stop all workers."""
        while self._workers:
            self._workers.pop().stop()

    def _attend(self, worker: Worker) -> Outcome | None:
        try:
            while worker.replies.poll():
                outcome = worker.receive()
                if outcome is not None:
                    return outcome
        except EOFError:
            if not worker.ready:
                raise BenchfwError(f"a worker process could not start: {worker.fault()}") from None
            return worker.lost()
        if self._timeout is not None and monotonic() - worker.began > self._timeout:
            reason = (
                f"still running after {self._timeout:g} s; --retry-failed and a larger --timeout let it go on"
            )
            return Outcome(Status.TIMEOUT, reason, tuple(worker.records), monotonic() - worker.began)
        return None

    def _patience(self, busy: list[Worker]) -> float | None:
        if self._timeout is None:
            return None
        ends = min(worker.began for worker in busy) + self._timeout
        return max(0.0, ends - monotonic()) + 0.001  # a moment past the limit, so that one wait is enough

    def _replace(self, worker: Worker, outcome: Outcome, *, more: bool) -> None:
        # a plain exception leaves the process sound; everything else may not have
        if outcome.status is Status.FAILED:
            return
        worker.stop()
        self._workers.remove(worker)
        if more:
            self._workers.append(Worker(self._setup))


def _trial_of(worker: Worker) -> Trial:
    if worker.trial is None:
        raise RuntimeError("a worker without a trial has nothing to report")
    return worker.trial
