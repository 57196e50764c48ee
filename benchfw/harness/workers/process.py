"""The parent's side of a worker process: starts it, talks to it, says how it died, ends it."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import struct
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import benchfw
from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.environment import THREAD_VARIABLES
from benchfw.harness.inputs import UNKNOWN
from benchfw.harness.workers.deaths import (
    OUT_OF_MEMORY,
    STOP_SECONDS,
    Log,
    describe_end,
    find_place,
    stop_supervisor,
)
from benchfw.harness.workers.messages import (
    FAMILIAR,
    NEW,
    PROTOCOL,
    RAN_HERE,
    BadMessage,
    Inbox,
    Learned,
    Repeat,
    Request,
    Setup,
    learned_of,
    outcome_of,
    records_of,
)
from benchfw.records import Cell, Ending, Outcome, Record, Status, Trial, change

if TYPE_CHECKING:
    import psutil

LAST_WORDS_BYTES = 8000  # of a dead worker's standard error that are looked at
LOG_BYTES = 10_000_000  # of standard error that are kept
SCAN_SHARE = 100.0  # looks for processes that a trial has started take at most a hundredth of the time


def _environment(setup: Setup, device: Device | None) -> dict[str, str]:
    """Return the worker's environment variables; CuPy's memory pool reads its limit from one."""
    variables = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, str(setup.threads))}
    if setup.isolation == "trial":
        variables["OPENBLAS_NUM_THREADS"] = "1"  # it starts its threads at once; each trial sets their number
    if setup.device_memory is not None:
        variables["CUPY_GPU_MEMORY_LIMIT"] = str(setup.device_memory)
    if device is not None:
        variables[device.variable] = device.number
    if setup.other_hashes:
        variables["PYTHONHASHSEED"] = str(secrets.randbelow(2**32 - 1) + 1)
    return {
        **variables,
        "PYTHONPATH": os.pathsep.join([*setup.overlay, str(Path(benchfw.__file__).parent.parent)]),
    }


class WorkerDied(Exception):
    """The process is gone, or its end of the pipe is, or what it sends makes no sense."""


class StartAgain(Exception):
    """The trial is to be run anew, with what it taught."""

    def __init__(self, learned: Learned) -> None:
        super().__init__(learned)
        self.learned = learned


class WorkerProcess:
    """One worker process and the trial that it runs.

    After a trial, `learned` is what it taught, and `left` what it left behind: a worker that is busy with a
    trial has that to leave.
    """

    def __init__(self, setup: Setup, device: Device | None = None) -> None:
        self.device = device
        request_read, request_write = os.pipe()
        reply_read, reply_write = os.pipe()
        lifeline_read, self._lifeline = os.pipe()
        self._log, self._records = Log(), Log()
        theirs = (request_read, reply_write, lifeline_read)
        # -P: a random.py in the user's folder is not ours; the parent's own import path follows in the setup
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "benchfw.harness.workers.supervisor", *map(str, theirs)],
            pass_fds=(*theirs, self._records.fileno()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log.fileno(),
            env=_environment(setup, device),
            start_new_session=True,  # Ctrl-C reaches the parent alone
        )
        for each in theirs:
            os.close(each)
        self._requests = request_write
        self._reply_pipe, self._inbox = reply_read, Inbox(reply_read)
        self._send(replace(setup, records=self._records.fileno()))
        self._worker: int | None = None  # the supervisor's child
        self._forks = setup.isolation == "trial"
        self._taught: dict[tuple[Cell, int, int], tuple[int, Trial]] = {}
        self._told = 0
        self._descendants: list[psutil.Process] = []
        self._next_scan = 0.0
        self.learned = Learned()
        self.left: tuple[str, ...] = ()
        self._rehearsal = False
        self._nonsense = ""
        self.trial: Trial | None = None
        self._heard: dict[bool, set[str]] = {True: set(), False: set()}  # read by all its trials, by this one
        self.began = self.looked = monotonic()

    def fileno(self) -> int:
        """Return the file descriptor on which it sends."""
        return self._reply_pipe

    @property
    def ready(self) -> bool:
        """Whether it has imported what it needs, and its trial runs."""
        return self._worker is not None

    def begin(self, trial: Trial, known: Learned, **terms: bool) -> None:
        """Hand over a trial; see `Request` for the terms."""
        self.trial, self.began = trial, monotonic()
        self.learned, self.left = Learned(), (RAN_HERE,)
        self._heard[False].clear()
        self._log.begin()  # the next last words are this trial's
        self._records.begin()
        request = Request(trial, known, **terms)
        self._rehearsal = request.rehearsal
        lesson = trial.cell, len(known.modules), len(known.ceilings)
        number, first = self._taught.get(lesson, (-1, trial))
        alike = change(first, repetition=trial.repetition, key=trial.key) == trial
        if number >= 0 and alike and not request.alone:
            self._write(FAMILIAR + Repeat(number, trial.repetition, trial.key, request.last).pack())
        else:
            self._taught[lesson] = self._told, trial
            self._told += 1
            self._send(request, NEW)

    def end(self) -> Trial:
        """Return the trial that has ended, and be free for the next."""
        trial, self.trial = self.trial, None
        if trial is None:
            raise RuntimeError("a worker without a trial has nothing to end")
        return trial

    def receive(self) -> Outcome | None:
        """Take in what has been sent; return the outcome when that ends the trial.

        WorkerDied says that none will come, StartAgain that the trial must be run anew.
        """
        try:
            return self._read() or self._read_rest()
        except (EOFError, OSError) as fault:
            raise WorkerDied from fault
        except BadMessage as fault:
            self._nonsense = str(fault)
            raise WorkerDied from fault

    def _read(self) -> Outcome | None:
        for message in self._inbox.messages():
            outcome = self._take(*message)
            if outcome is not None:
                return outcome
        return None

    def _read_rest(self) -> Outcome | None:
        """Return the outcome that a process had sent before it ended; WorkerDied if it sent none."""
        if self._process.poll() is None:
            return None
        outcome = self._read()
        if outcome is None:
            raise WorkerDied
        return outcome

    def _take(self, kind: str, *content: Any) -> Outcome | None:
        match kind, content:
            case "read", (str() as name, bool() as lasting):
                self._heard[lasting].add(name)
            case "ready", (int() as worker, int() as protocol) if protocol == PROTOCOL:
                self._worker = worker
                self.began = monotonic()  # the start of Python is not the trial's
            case "ready", _:
                raise BenchfwError(
                    "workers of the other revision do not understand this one; use a revision with "
                    f"PROTOCOL = {PROTOCOL} in benchfw/harness/workers/messages.py"
                )
            case "again", (list() as modules, list() as left):
                self.left = tuple(map(str, left))
                raise StartAgain(Learned(tuple(map(str, modules))))
            case "end", (outcome, learned, list() as left):
                self.learned, self.left = learned_of(learned), tuple(map(str, left))
                if self._rehearsal:
                    raise StartAgain(self.learned)
                return change(outcome_of(outcome), records=tuple(records_of(self._records.read())))
            case _:
                raise BadMessage(f"workers send no message '{kind}'")
        return None

    def stopped(self, status: Status, reason: str) -> Outcome:
        """Return the outcome of a trial that did not end by itself, with what it had measured."""
        records: list[Record] = []
        with contextlib.suppress(BadMessage):
            records = records_of(self._records.read())
        reads = dict.fromkeys(sorted(self._heard[True] | self._heard[False]), UNKNOWN)
        seconds = monotonic() - self.began
        return Outcome(status, Ending.FAULT, reason, tuple(records), seconds=seconds, reads=reads)

    def lost(self) -> Outcome:
        """Return the outcome of a trial whose worker died."""
        reason = f"the worker process {self.how_it_ended()}{self.last_words()}"
        starved = self._process.returncode == OUT_OF_MEMORY
        return self.stopped(Status.OUT_OF_MEMORY if starved else Status.CRASHED, reason)

    def how_it_ended(self) -> str:
        """Return 'ended with exit code 3' or 'was killed by SIGSEGV'."""
        if self._nonsense:
            return f"wrote nonsense into its pipe ({self._nonsense})"
        try:
            code = self._process.wait(STOP_SECONDS / 2)
        except subprocess.TimeoutExpired:
            return "closed its pipe but kept running"
        return describe_end(code)

    def last_words(self) -> str:
        """Return where it died, from Python's fault handler, or else the last line that it wrote."""
        text = self._log.read(LAST_WORDS_BYTES).decode(errors="replace").strip()
        return find_place(text) or (f": {text.splitlines()[-1].strip()}" if text else "")

    def memory(self, limit: float) -> int:
        """Return the bytes of memory that the trial holds now, with the processes that it has started.

        Pages that several of them share count once where the sum of all is beyond the limit.
        """
        import psutil

        total = 0
        try:
            if not self.ready:
                return 0
            began = monotonic()
            if began >= self._next_scan:  # it reads all processes of the system
                worker = psutil.Process(self._worker)
                self._descendants = worker.children(recursive=True)
                if not self._forks or not self._descendants:
                    self._descendants.append(worker)
                self._next_scan = monotonic() + SCAN_SHARE * (monotonic() - began)
        except psutil.Error:
            return 0
        total = sum(_resident(each) for each in self._descendants)
        if total > limit and len(self._descendants) > 1:
            return sum(_proportional(each) for each in self._descendants)
        return total

    def bound_log(self) -> None:
        """Forget what was written to standard error if it is very much: a trial may write for ever."""
        self._log.bound(LOG_BYTES)

    def stop(self) -> None:
        """End the process and everything that it started."""
        stop_supervisor(self._process, self._lifeline)
        os.close(self._requests)
        os.close(self._reply_pipe)
        self._log.close()
        self._records.close()

    def _send(self, message: object, tag: bytes = b"") -> None:
        content = bytes(ForkingPickler.dumps(message))
        self._write(tag + struct.pack("!i", len(content)) + content)  # as Connection.recv reads it

    def _write(self, frame: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # a dead worker is noticed when it is listened to
            while frame:
                frame = frame[os.write(self._requests, frame) :]


def _resident(process: psutil.Process) -> int:
    return _ask(lambda: int(process.memory_info().rss))


def _proportional(process: psutil.Process) -> int:
    """Return the memory of a process, of shared pages its share; all that it holds where nobody knows."""
    return _ask(lambda: int(getattr(process.memory_full_info(), "pss", process.memory_info().rss)))


def _ask(read: Callable[[], int]) -> int:
    import psutil

    try:
        return read()
    except psutil.Error:  # ended meanwhile
        return 0


def wait(workers: Iterable[WorkerProcess], seconds: float) -> bool:
    """Return whether one of the workers has sent something or is gone; wait for that at most so long."""
    news = select.poll()
    for worker in workers:
        news.register(worker, select.POLLIN)
    return bool(news.poll(1000 * seconds))
