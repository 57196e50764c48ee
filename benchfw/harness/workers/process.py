"""The parent's side of a worker process: starts it, talks to it, says how it died, ends it."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from time import monotonic

import benchfw
from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.environment import THREAD_VARIABLES
from benchfw.harness.workers.worker import OUT_OF_MEMORY, PROTOCOL, Setup
from benchfw.records import Ending, Outcome, Record, Status, Trial

LAST_WORDS_BYTES = 8000  # of a dead worker's standard error that are looked at
LOG_BYTES = 10_000_000  # of standard error that are kept
STOP_SECONDS = 10.0  # that a supervisor may take to end all that a worker started


def _environment(setup: Setup, device: Device | None) -> dict[str, str]:
    """Return the worker's environment variables; CuPy's memory pool reads its limit from one."""
    variables = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(setup.threads))}
    if setup.device_memory is not None:
        variables["CUPY_GPU_MEMORY_LIMIT"] = str(setup.device_memory)
    if device is not None:
        variables[device.variable] = device.number
    return {
        **variables,
        "PYTHONPATH": os.pathsep.join([*setup.overlay, str(Path(benchfw.__file__).parent.parent)]),
    }


class WorkerDied(Exception):
    """The process is gone, or its end of the pipe is."""


class WorkerProcess:
    """One worker process and the trial that it runs."""

    def __init__(self, setup: Setup, device: Device | None = None) -> None:
        self.device = device
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        lifeline_read, self._lifeline = os.pipe()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the worker
        theirs = (request_read, reply_write, lifeline_read)
        # -P: a random.py in the user's folder is not ours; the parent's own import path follows in the setup
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchfw.harness.workers.supervisor", *map(str, theirs)],
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            env=_environment(setup, device),
            start_new_session=True,  # Ctrl-C reaches the parent alone
        )
        for each in theirs:
            os.close(each)
        self._requests = Connection(request_write, readable=False)
        self._replies = Connection(reply_read, writable=False)
        self._news = select.poll()  # made once: Connection.poll makes a selector for every look
        self._news.register(reply_read, select.POLLIN)
        self._send(setup)
        self._worker: int | None = None  # the supervisor's child, which runs the trials
        self.alone = True
        self.trial: Trial | None = None
        self.records: list[Record] = []
        self.began = self.looked = monotonic()

    def fileno(self) -> int:
        """Return the file descriptor on which it sends."""
        return self._replies.fileno()

    @property
    def ready(self) -> bool:
        """Whether it has imported what it needs, and its trial runs."""
        return self._worker is not None

    def begin(self, trial: Trial) -> None:
        """Hand over a trial."""
        self.trial, self.records, self.began = trial, [], monotonic()
        self._clear_log()  # the next last words are this trial's
        self._send(trial)

    def end(self) -> Trial:
        """Return the trial that has ended, and be free for the next."""
        trial, self.trial = self.trial, None
        if trial is None:
            raise RuntimeError("a worker without a trial has nothing to end")
        return trial

    def receive(self) -> Outcome | None:
        """Take in what has been sent; return the outcome when that ends the trial; WorkerDied if it died."""
        dead = self._process.poll() is not None  # asked first, so that all it had sent is read below
        try:
            while self._news.poll(0):
                outcome = self._take(*self._replies.recv())
                if outcome is not None:
                    return outcome
        except (EOFError, OSError, pickle.UnpicklingError) as fault:  # ended, or cut off in mid-message
            raise WorkerDied from fault
        if dead:
            raise WorkerDied
        return None

    def _take(self, kind: str, *content: object) -> Outcome | None:
        match kind, content:
            case "records", (list() as records,):
                self.records.extend(Record(*each) for each in records)
            case "restart", ():
                self.records.clear()
            case "ready", (int() as worker, int() as protocol) if protocol == PROTOCOL:
                self._worker = worker
                self.began = monotonic()  # the start of Python is not the trial's
            case "ready", _:
                raise BenchfwError(
                    "workers of the other revision do not understand this one; use a revision with "
                    f"PROTOCOL = {PROTOCOL} in benchfw/harness/workers/worker.py"
                )
            case "end", (Outcome() as outcome, bool() as alone):
                self.alone = alone
                return replace(outcome, records=tuple(self.records))
        return None

    def stopped(self, status: Status, reason: str) -> Outcome:
        """Return the outcome of a trial that did not end by itself, with what it had measured."""
        seconds = monotonic() - self.began
        return Outcome(status, Ending.FAULT, reason, tuple(self.records), seconds=seconds)

    def lost(self) -> Outcome:
        """Return the outcome of a trial whose worker died."""
        reason = f"the worker process {self.how_it_ended()}{self.last_words()}"
        starved = self._process.returncode == OUT_OF_MEMORY
        return self.stopped(Status.OUT_OF_MEMORY if starved else Status.CRASHED, reason)

    def how_it_ended(self) -> str:
        """Return 'ended with exit code 3' or 'was killed by SIGSEGV'."""
        try:
            code = self._process.wait(STOP_SECONDS / 2)
        except subprocess.TimeoutExpired:
            return "closed its pipe but kept running"
        if code == OUT_OF_MEMORY:
            return "ran out of memory"
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = ", perhaps because the system ran out of memory" if code == -signal.SIGKILL else ""
        return f"was killed by {name}{hint}"

    def last_words(self) -> str:
        """Return where it died, from Python's fault handler, or else the last line that it wrote."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - LAST_WORDS_BYTES))
        text = self._log.read().decode(errors="replace").strip()
        place = re.search(r'Current thread .*\n\s+File "([^"]+)", line (\d+)', text)
        if place:
            return f" in {Path(place[1]).name}, line {place[2]}"
        return f": {text.splitlines()[-1].strip()}" if text else ""

    def memory(self) -> int:
        """Return the bytes of memory that the worker holds now; 0 where the system does not tell."""
        import psutil

        try:
            return int(psutil.Process(self._worker).memory_info().rss) if self.ready else 0
        except psutil.Error:
            return 0

    def bound_log(self) -> None:
        """Forget what was written to standard error if it is very much: a trial may write for ever."""
        if os.fstat(self._log.fileno()).st_size > LOG_BYTES:
            self._clear_log()

    def _clear_log(self) -> None:
        os.ftruncate(self._log.fileno(), 0)
        self._log.seek(0)  # of the worker too: they share one position in the file

    def stop(self) -> None:
        """End the process and everything that it started."""
        os.close(self._lifeline)  # the supervisor sees to it
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:  # something that not even SIGKILL ends now, such as a dead disk
            self._process.kill()
            self._process.wait()
        with contextlib.suppress(OSError):
            self._requests.close()
        self._replies.close()
        self._log.close()

    def _send(self, message: object) -> None:
        with contextlib.suppress(BrokenPipeError):  # a dead worker is noticed when it is listened to
            self._requests.send(message)


def wait(workers: Iterable[WorkerProcess], seconds: float) -> None:
    """Wait until one of the workers has sent something or is gone, at most so long."""
    news = select.poll()
    for worker in workers:
        news.register(worker, select.POLLIN)
    news.poll(1000 * seconds)
