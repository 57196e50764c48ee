"""Runs trials in worker processes on this machine.

A worker that crashes, hangs past the timeout, outgrows its memory or cannot run another trial is replaced; a
trial keeps the records that it had sent.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from time import monotonic
from typing import Any

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.events import Event, Finished, Started, TrialQueue, Waiting, needs_device
from benchfw.harness.workers.messages import FUNCTIONS_OF, NOTHING, RAN_HERE, Learned, Request, Setup
from benchfw.harness.workers.process import Reply, WorkerDied, WorkerProcess, wait
from benchfw.loading import EntryPoint
from benchfw.measure.audit import check_outcome
from benchfw.records import Cell, Isolation, Outcome, Status, Trial, change

HEARTBEAT_SECONDS = 0.1  # between looks at memory, and at workers whose death a child of theirs conceals
START_SECONDS = 120.0  # that a worker may take to import what it needs
START_ATTEMPTS = 3  # to start a worker for one trial
TOGETHER = 32  # trials that a worker may be handed at once, so that both sides are seldom woken,
TOGETHER_SECONDS = 0.1  # and how long they may take: nobody sees how far it is meanwhile
RESTARTS = 3  # of a trial that imports modules: each time with those imported before


class LocalExecutor:
    """A fixed number of worker processes; the first of them have a device each, as far as there are any."""

    def __init__(
        self,
        plugins: tuple[str, ...] = (),
        *,
        jobs: int = 1,
        threads: int = 1,
        timeout: float | None = None,
        memory: int | None = None,
        device_memory: int | None = None,
        devices: Sequence[Device] = (),
        needs_device: Callable[[Trial], bool] = needs_device,
        overlay: tuple[str, ...] = (),
        resources: bool = False,
        isolation: Isolation = "trial",
        other_hashes: bool = False,
        installed: tuple[EntryPoint, ...] | None = None,
        objects: bytes = b"",
        keep_in: str = "",
        note: Callable[[str], None] = lambda _: None,
    ) -> None:
        path = tuple(sys.path)
        self._setup = Setup(
            plugins,
            threads,
            memory,
            path,
            device_memory,
            overlay,
            resources,
            isolation,
            other_hashes,
            installed,
            objects,
            keep_in,
        )
        self._note = note
        self._known: dict[Cell, Learned] = {}
        self._imported: dict[tuple[str, str], tuple[str, ...]] = {}  # by trials of a problem, or of a method
        self._requests: dict[Cell, Request] = {}  # one of each cell, as long as nothing is learned
        self._ceilings: dict[str, Sequence[Any]] = {}
        self._restarts: dict[int, int] = {}
        self._begun: set[int] = set()
        self._paces: dict[Cell, float] = {}  # seconds of a trial of each cell
        self._apart: set[Cell] = set()  # whose trials are handed out one by one
        self._jobs = jobs
        self._timeout = math.inf if timeout is None else timeout
        self._memory = math.inf if memory is None else memory
        self._workers: list[WorkerProcess] = []
        self._failed_starts: Counter[str] = Counter()
        self._started = False
        self._placed = bool(devices)
        self._devices = list(devices)
        self._needs_device = needs_device
        self._interrupted = False

    def run(self, trials: Sequence[Trial]) -> Iterator[Event | Waiting]:
        """Run the trials, at most one a worker and a device at a time, in the order given."""
        waiting = TrialQueue(trials, self._needs_device)
        while not self._interrupted:
            yield from self._hand_out(waiting)
            busy = [worker for worker in self._workers if worker.trial is not None]
            if not busy:
                return
            if not wait(busy, min(HEARTBEAT_SECONDS, self._patience(busy))):
                yield Waiting()
            for worker in busy:
                yield from self._attend(worker, waiting)

    def interrupt(self) -> None:
        """Make `run` end within a heartbeat, from another thread; `close` then stops what it was at."""
        self._interrupted = True

    def close(self) -> None:
        """Stop all workers, also if somebody interrupts the end of one."""
        with contextlib.ExitStack() as stack:
            while self._workers:
                stack.callback(self._workers.pop().stop)

    def _hand_out(self, waiting: TrialQueue) -> Iterator[Started]:
        idle = [worker for worker in self._workers if worker.trial is None]
        while idle or len(self._workers) < self._jobs:
            worker = idle.pop() if idle else None
            device = worker.device if worker else next(iter(self._devices), None)
            take = partial(waiting.take, has_device=device is not None or not self._placed)
            trial = take()
            if trial is None:
                if worker is None:
                    return
                continue
            if worker is None:
                worker = WorkerProcess(self._setup, device)
                self._devices = self._devices[1:]
                self._workers.append(worker)
            requests = self._gather(worker, trial, take, waiting)
            worker.begin(requests)
            for request in requests:
                if id(request.trial) not in self._begun:
                    self._begun.add(id(request.trial))
                    yield Started(request.trial)

    def _gather(
        self, worker: WorkerProcess, first: Trial, take: Callable[[], Trial | None], waiting: TrialQueue
    ) -> list[Request]:
        """Return the requests for a trial and, while trials are known to be short, for those after it."""
        requests, seconds = [self._request(first)], self._paces.get(first.cell, math.inf)
        most = min(TOGETHER, len(waiting) // self._jobs + 1)
        while seconds < TOGETHER_SECONDS and len(requests) < most and (trial := take()) is not None:
            request = self._request(trial)
            seconds += self._paces.get(trial.cell, math.inf)
            if seconds > TOGETHER_SECONDS or not worker.knows(request):
                waiting.put_back(trial)
                break
            requests.append(request)
        return requests

    def _request(self, trial: Trial) -> Request:
        """Return the request for a trial, with what others have taught.

        The first of its kind on a device has a rehearsal: what it compiles is on the disk afterwards.
        """
        like = self._requests.get(trial.cell)
        if like is None:
            known, on_device = self._known.get(trial.cell), self._needs_device(trial)
            modules, threads_of = (known.modules, known.threads_of) if known else (self._foresee(trial), "")
            like = self._requests[trial.cell] = Request(
                trial,
                Learned(modules, self._ceilings),
                alone=on_device or bool(threads_of),
                rehearsal=on_device and known is None and self._setup.isolation == "trial",
            )
        return change(like, trial=trial, last=self._restarts.get(id(trial), 0) >= RESTARTS)

    def _learn(self, trial: Trial, learned: Learned) -> None:
        cell = trial.cell
        if learned is NOTHING and cell in self._known:
            return
        self._requests.clear()
        # what it found imported, it may need again in another process
        known = self._known.get(cell) or Learned(self._foresee(trial))
        # on a device every trial has a new process anyway
        if learned.threads_of and not known.threads_of and not self._needs_device(trial):
            self._note(
                f"{learned.threads_of} starts threads when it is imported: {cell} has a new process per trial"
            )
        self._known[cell] = Learned(
            _union(known.modules, learned.modules),
            threads_of=learned.threads_of or known.threads_of,
        )
        self._ceilings.update(learned.ceilings)
        if learned.modules and not learned.threads_of:
            for role in _roles(trial):
                self._imported[role] = _union(self._imported.get(role, ()), learned.modules)

    def _foresee(self, trial: Trial) -> tuple[str, ...]:
        """Return what a cell's first trial will probably import: what others of its problem or method did.

        On a device every trial has a new process, which would import what others need.
        """
        if self._needs_device(trial):
            return ()
        return _union(*(self._imported.get(role, ()) for role in _roles(trial)))

    def _attend(self, worker: WorkerProcess, waiting: TrialQueue) -> Iterator[Finished]:
        """Yield how trials of the worker ended, and see to it that it can go on."""
        try:
            replies = worker.receive()
        except WorkerDied:
            outcome = (
                worker.lost() if worker.ready else self._not_started(worker, worker.how_it_ended(), waiting)
            )
        else:
            if replies:
                yield from self._take(worker, replies, waiting)
                return
            if worker.ready or monotonic() - worker.began <= START_SECONDS:
                outcome = self._beyond_limits(worker)
            else:
                late = f"was not ready after {START_SECONDS:g} s, what it imports takes too long"
                outcome = self._not_started(worker, late, waiting)
        if outcome is not None:
            trial = worker.end()
            self._learn(trial, NOTHING)
            finished = self._finish(worker, trial, outcome)
            try:
                self._dismiss(worker, waiting)
            finally:
                yield finished

    def _take(
        self, worker: WorkerProcess, replies: Sequence[Reply], waiting: TrialQueue
    ) -> Iterator[Finished]:
        self._started = True
        if len(replies) > 1 and any(each.startswith(FUNCTIONS_OF) for each in replies[-1].left):
            self._run_apart(worker, replies, waiting)
            return
        at_once = self._setup.threads if self._setup.resources else 1  # seconds of the processor
        # what is written to standard error is the last trial's only if trials come one by one
        together = not worker.talked
        usable = True
        finished: list[Finished] = []
        try:
            for reply in replies:
                trial = reply.trial
                self._learn(trial, reply.learned)
                usable = usable and not reply.left
                if reply.outcome is None:
                    self._restarts[id(trial)] = self._restarts.get(id(trial), 0) + 1
                    waiting.put_back(trial)
                    continue
                outcome = check_outcome(reply.outcome, reply.passed, at_once)
                usable = usable and outcome.status is not Status.OUT_OF_MEMORY
                apart = not together or trial.cell in self._apart
                self._paces[trial.cell] = math.inf if apart else reply.passed / len(replies)
                finished.append(self._finish(worker, trial, outcome))
                if reply.left and self._setup.isolation == "worker" and reply.left != (RAN_HERE,):
                    self._note(
                        f"{trial} left behind: {', '.join(reply.left)}; the next trial has a new process"
                    )
            if not usable:
                self._dismiss(worker, waiting)  # before anybody hears: what it still does looks like noise
        finally:  # what was measured is kept, also if somebody interrupts the waiting
            yield from finished

    def _run_apart(self, worker: WorkerProcess, replies: Sequence[Reply], waiting: TrialQueue) -> None:
        """Let trials run again, one by one: one of them has replaced functions that the others may use."""
        left = ", ".join(replies[-1].left)
        self._note(f"one of {len(replies)} trials left behind: {left}; they run again, one by one")
        self._dismiss(worker, waiting)
        for trial in (each.trial for each in reversed(replies)):
            self._apart.add(trial.cell)
            self._paces[trial.cell] = math.inf
            waiting.put_back(trial)

    def _finish(self, worker: WorkerProcess, trial: Trial, outcome: Outcome) -> Finished:
        if worker.device and self._needs_device(trial):
            outcome = change(outcome, device=str(worker.device))
        self._begun.discard(id(trial))
        self._restarts.pop(id(trial), None)
        return Finished(trial, outcome)

    def _beyond_limits(self, worker: WorkerProcess) -> Outcome | None:
        if self._outgrown(worker):
            size = f"{self._memory / 1e9:.3g} GB"
            reason = f"it held more than {size} of memory"
            return worker.stopped(Status.OUT_OF_MEMORY, reason)
        if worker.ready and monotonic() - worker.began > self._timeout:
            reason = f"still running after {self._timeout:g} s"
            return worker.stopped(Status.TIMEOUT, reason)
        return None

    def _not_started(self, worker: WorkerProcess, why: str, waiting: TrialQueue) -> Outcome | None:
        """Let another worker try the trial, a few times."""
        reason = f"a worker process could not start: it {why}{worker.last_words()}"
        trial = worker.trial
        if trial is None:
            raise BenchfwError(reason)
        self._failed_starts[trial.key] += 1
        if self._failed_starts[trial.key] < START_ATTEMPTS:
            self._dismiss(worker, waiting)
            return None
        if not self._started:  # nothing has run, and nothing will
            raise BenchfwError(reason)
        return worker.stopped(Status.CRASHED, reason)

    def _outgrown(self, worker: WorkerProcess) -> bool:
        """Return whether the worker holds too much; looked at once a heartbeat, since looking costs too."""
        if monotonic() - worker.looked < HEARTBEAT_SECONDS:
            return False
        worker.looked = monotonic()
        worker.bound_log()
        return worker.memory(self._memory) > self._memory

    def _patience(self, busy: list[WorkerProcess]) -> float:
        """Return the seconds until the first trial's time is up."""
        ends = min((worker.began for worker in busy if worker.ready), default=math.inf) + self._timeout
        return max(0.0, ends - monotonic()) + 0.001  # a moment past the limit, so that one wait is enough

    def _dismiss(self, worker: WorkerProcess, waiting: TrialQueue) -> None:
        for trial in reversed(worker.take_back()):
            waiting.put_back(trial)
        self._workers.remove(worker)
        worker.stop()
        if worker.device is not None:
            self._devices.append(worker.device)


def _roles(trial: Trial) -> tuple[tuple[str, str], ...]:
    return ("problem", trial.problem.use), (trial.kind, trial.method.use)


def _union(*modules: Sequence[str]) -> tuple[str, ...]:
    """Return the modules of all, each once, in the order in which they were imported."""
    return tuple(dict.fromkeys(chain.from_iterable(modules)))
