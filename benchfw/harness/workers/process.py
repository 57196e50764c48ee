"""The parent's side of a worker process: starts it, talks to it, says how it died, ends it."""

from __future__ import annotations

import contextlib
import subprocess
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import monotonic
from typing import Any, NamedTuple

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.inputs import UNKNOWN
from benchfw.harness.workers.deaths import describe_end, find_place
from benchfw.harness.workers.launch import STOP_SECONDS
from benchfw.harness.workers.links import open_link, wait_for_links
from benchfw.harness.workers.memory import Memory
from benchfw.harness.workers.messages import (
    LONGEST_MESSAGE,
    PROTOCOL,
    BadMessage,
    Learned,
    Request,
    Setup,
    learned_of,
    outcome_of,
    pack_repeat,
    pack_whole,
    parse_lines,
    record_of,
)
from benchfw.harness.workers.supervisor import OUT_OF_MEMORY
from benchfw.measure.files import remove_folder, scratch_folder
from benchfw.records import Cell, Ending, Outcome, Record, Status, Trial, change
from benchfw.system import CAN_FORK_TRIALS

LAST_WORDS_BYTES = 100_000  # of a dead worker's standard error: its stack, then all compiled modules
LOG_BYTES = 10_000_000  # of standard error that are kept
REPLIES_BYTES = 1_000_000  # that were read, which the file of replies may hold before it is emptied


class WorkerDied(Exception):
    """The process is gone, or its end of the pipe is, or what it sends makes no sense."""


class Reply(NamedTuple):
    """How a request ended: without an outcome, the trial is to be run anew with what was learned.

    `left` is what the trial left behind in the worker, which then cannot run another.
    """

    trial: Trial
    outcome: Outcome | None
    learned: Learned
    left: tuple[str, ...]
    passed: float
    """Seconds that it took at most: since it was handed over, or the one before it was seen to run."""


class WorkerProcess:
    """One worker process and the trials that it has been handed, the first of which it runs."""

    def __init__(self, setup: Setup, device: Device | None = None) -> None:
        self.device = device
        self.link = open_link(setup, device)
        self._log, self._replies = self.link.log, self.link.replies
        self.link.send(pack_whole(replace(setup, replies=self.link.replies_handle)))
        self._worker: int | None = None  # the supervisor's child, or the process itself
        self._apart = setup.isolation == "trial"
        self._sent: dict[tuple[Cell, int, int], tuple[int, Trial]] = {}  # whole requests, by number
        self._num_sent = 0
        self._memory = Memory(forks=self._apart and CAN_FORK_TRIALS)
        self._queue: deque[Request] = deque()
        self._held: list[Reply] = []  # until it is known that no other trial disturbed them
        self._records: list[Record] = []  # of the trial that runs
        self._nonsense = ""
        self._reads: dict[bool, set[str]] = {True: set(), False: set()}  # read by all its trials, by this one
        self.began = self.looked = monotonic()
        self._read_at = self._earliest = self.began

    @property
    def ready(self) -> bool:
        """Whether it has imported what it needs, and its trial runs."""
        return self._worker is not None

    @property
    def trial(self) -> Trial | None:
        return self._queue[0].trial if self._queue else None

    @property
    def talked(self) -> bool:
        """Whether something was written to standard error since trials were handed over last."""
        return bool(self._log.read(1))

    def begin(self, requests: Sequence[Request]) -> None:
        """Hand over trials, to be run one after the other; the bell rings after the last."""
        self._log.begin()  # the next last words are these trials'
        self._replies.bound(REPLIES_BYTES)
        self._queue.extend(requests)
        self.began = self._read_at = self._earliest = monotonic()
        self.link.send(b"".join([self._pack(each, bell=each is requests[-1]) for each in requests]))

    def knows(self, request: Request) -> bool:
        """Return whether the worker has run a trial like this one."""
        return self._find_like(request) is not None

    def _pack(self, request: Request, *, bell: bool) -> bytes:
        number = self._find_like(request)
        if number is not None:
            return pack_repeat(number, request, bell=bell)
        self._sent[_lesson(request)] = self._num_sent, request.trial
        self._num_sent += 1
        return pack_whole(change(request, bell=bell))

    def _find_like(self, request: Request) -> int | None:
        """Return the number of a request that differs from this one in the repetition only."""
        found = self._sent.get(_lesson(request))
        if found is None or request.alone:
            return None
        number, first = found
        trial = request.trial
        like = change(first, repetition=trial.repetition, key=trial.key)
        return number if vars(like) == vars(trial) else None

    def end(self) -> Trial:
        """Return the trial that runs, which is to count as ended."""
        if not self._queue:
            raise RuntimeError("a worker without a trial has nothing to end")
        self._records = []
        self._reads[False].clear()
        return self._queue.popleft().trial

    def take_back(self) -> list[Trial]:
        """Return the trials that were handed over and have not ended, or not been returned by `receive`."""
        trials = [*(each.trial for each in self._held), *(each.trial for each in self._queue)]
        self._held.clear()
        self._queue.clear()
        return trials

    def receive(self) -> list[Reply]:
        """Take in what was written; return how trials ended. WorkerDied says that no other will end.

        With isolation by worker trials end together: functions are compared after the last.
        """
        gone, before, replies = self.link.is_gone(), monotonic(), []
        lines, rest = self._replies.read_lines()
        after = monotonic()
        try:
            for message in parse_lines(lines) if lines else ():
                if isinstance(message[0], list):
                    self._records += map(record_of, message)
                elif (reply := self._take(after - self._earliest, *message)) is not None:
                    replies.append(reply)
        except BadMessage as fault:
            self._nonsense = str(fault)
        if len(rest) > LONGEST_MESSAGE:
            self._nonsense = f"a line of more than {LONGEST_MESSAGE:,} bytes"
        if replies:
            # the trial that runs now has begun since the last look, and has all its time from here on
            self.began, self._earliest = after, self._read_at
        self._read_at = before
        if not replies and (gone or self._nonsense):
            raise WorkerDied
        self._held += replies
        if self._queue and not self._apart and not any(each.left for each in replies):
            return []
        replies, self._held = self._held, []
        return replies

    def _take(self, passed: float, kind: str, *content: Any) -> Reply | None:
        match kind, content:
            case "read", (str() as name, bool() as lasting):
                self._reads[lasting].add(name)
            case "ready", (int() as worker, int() as protocol) if protocol == PROTOCOL:
                self._worker = worker
                self.began = monotonic()  # the start of Python is not the trial's
            case "ready", _:
                raise BenchfwError(
                    "workers of the other revision do not understand this one; use a revision with "
                    f"PROTOCOL = {PROTOCOL} in benchfw/harness/workers/messages.py"
                )
            case "again", (list() as modules, list() as left) if self._queue:
                return Reply(self.end(), None, Learned(tuple(map(str, modules))), _texts(left), passed)
            case "end", (outcome, learned, list() as left) if self._queue:
                records, rehearsal = tuple(self._records), self._queue[0].rehearsal
                found = None if rehearsal else outcome_of(outcome, records)
                return Reply(self.end(), found, learned_of(learned), _texts(left), passed)
            case _:
                raise BadMessage(f"unexpected message '{kind}'")
        return None

    def stopped(self, status: Status, reason: str) -> Outcome:
        """Return the outcome of a trial that did not end by itself, with what it had measured."""
        reads = dict.fromkeys(sorted(self._reads[True] | self._reads[False]), UNKNOWN)
        seconds = monotonic() - self.began
        return Outcome(status, Ending.FAULT, reason, tuple(self._records), seconds=seconds, reads=reads)

    def lost(self) -> Outcome:
        """Return the outcome of a trial whose worker died."""
        reason = f"the worker process {self.how_it_ended()}{self.last_words()}"
        starved = self.link.process.returncode == OUT_OF_MEMORY
        return self.stopped(Status.OUT_OF_MEMORY if starved else Status.CRASHED, reason)

    def how_it_ended(self) -> str:
        """Return 'ended with exit code 3' or 'was killed by SIGSEGV'."""
        if self._nonsense:
            return f"wrote nonsense into its pipe ({self._nonsense})"
        try:
            code = self.link.process.wait(STOP_SECONDS / 2)
        except subprocess.TimeoutExpired:
            return "closed its pipe but kept running"
        return describe_end(code)

    def last_words(self) -> str:
        """Return where it died, from Python's fault handler, or else the last line that it wrote."""
        text = self._log.read(LAST_WORDS_BYTES).decode(errors="replace").strip()
        return find_place(text) or (f": {text.splitlines()[-1].strip()}" if text else "")

    def memory(self, limit: float) -> int:
        """Return the bytes of memory that the trial holds now, with the processes that it has started."""
        return 0 if self._worker is None else self._memory.held(self._worker, limit)

    def bound_log(self) -> None:
        """Forget what was written to standard error if it is very much: a trial may write for ever."""
        self._log.bound(LOG_BYTES)

    def stop(self) -> None:
        """End the process and everything that it started."""
        try:
            self.link.stop()
        finally:
            if not self.ready:  # it may have said since the last look who it is
                with contextlib.suppress(WorkerDied, BenchfwError):
                    self.receive()
            self.link.close()
            if self._worker is not None:
                remove_folder(scratch_folder(self._worker))  # of trials that were stopped


def _lesson(request: Request) -> tuple[Cell, int, int]:
    known = request.known
    return request.trial.cell, len(known.modules), len(known.ceilings)


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))


def wait(workers: Iterable[WorkerProcess], seconds: float) -> bool:
    """Return whether one of the workers has sent something or is gone; wait for that at most so long."""
    return wait_for_links([worker.link for worker in workers], seconds)
