"""Runs trials in worker processes on this machine.

A worker outlives trials; one that crashes, hangs past the timeout or outgrows its memory is replaced, and
its trial keeps the records that it had sent.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from time import monotonic

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.devices import TrialQueue, needs_device
from benchfw.harness.events import Event, Finished, Started
from benchfw.harness.workers.process import WorkerDied, WorkerProcess, wait
from benchfw.harness.workers.worker import Setup
from benchfw.records import Outcome, Status, Trial

HEARTBEAT_SECONDS = 0.1  # between looks at memory, and at workers whose death a child of theirs conceals
START_SECONDS = 120.0  # that a worker may take to import what it needs
START_ATTEMPTS = 3  # to start a worker for one trial
REUSABLE_AFTER = frozenset({Status.DONE, Status.REACHED, Status.DIVERGED, Status.SKIPPED, Status.FAILED})
"""After these the process is as good as new, unless the trial left children: an exception does no damage."""


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
    ) -> None:
        self._setup = Setup(
            plugins, threads, memory, tuple(sys.path), device_memory, overlay=overlay, resources=resources
        )
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

    def run(self, trials: Iterable[Trial]) -> Iterator[Event]:
        """Run the trials, at most one a worker and a device at a time, in the order given."""
        waiting = TrialQueue(trials, self._needs_device)
        while not self._interrupted:
            yield from self._hand_out(waiting)
            if not self._workers:
                return
            busy = [worker for worker in self._workers if worker.trial is not None]
            if not busy:
                return
            wait(busy, min(HEARTBEAT_SECONDS, self._patience(busy)))
            for worker in busy:
                outcome = self._attend(worker, waiting)
                if outcome is not None:
                    trial = worker.end()
                    if worker.device and self._needs_device(trial):
                        outcome = replace(outcome, device=str(worker.device))
                    yield Finished(trial, outcome)
                    if outcome.status not in REUSABLE_AFTER or not worker.alone:
                        self._dismiss(worker)

    def interrupt(self) -> None:
        """Make `run` end within a heartbeat, from another thread; `close` then stops what it was at."""
        self._interrupted = True

    def close(self) -> None:
        """Stop all workers."""
        while self._workers:
            self._workers.pop().stop()

    def _hand_out(self, waiting: TrialQueue) -> Iterator[Started]:
        idle = [worker for worker in self._workers if worker.trial is None]
        while idle or len(self._workers) < self._jobs:
            worker = idle.pop() if idle else None
            device = worker.device if worker else next(iter(self._devices), None)
            trial = waiting.take(has_device=device is not None or not self._placed)
            if trial is None:
                if worker is None:
                    return
                continue
            if worker is None:
                worker = WorkerProcess(self._setup, device)
                self._devices = self._devices[1:]
                self._workers.append(worker)
            worker.begin(trial)
            yield Started(trial)

    def _attend(self, worker: WorkerProcess, waiting: TrialQueue) -> Outcome | None:
        """Return how the worker's trial ended, or None while it runs."""
        try:
            outcome = worker.receive()
        except WorkerDied:
            return worker.lost() if worker.ready else self._not_started(worker, waiting)
        if outcome is not None:
            self._started = True
            return outcome
        if self._outgrown(worker):
            size = f"{self._memory / 1e9:.3g} GB"
            reason = f"it held more than {size}; try --retry-failed with a larger --memory"
            return worker.stopped(Status.OUT_OF_MEMORY, reason)
        if not worker.ready and monotonic() - worker.began > START_SECONDS:
            return self._not_started(worker, waiting)
        if worker.ready and monotonic() - worker.began > self._timeout:
            reason = f"still running after {self._timeout:g} s; try --retry-failed with a larger --timeout"
            return worker.stopped(Status.TIMEOUT, reason)
        return None

    def _not_started(self, worker: WorkerProcess, waiting: TrialQueue) -> Outcome | None:
        """Let another worker try the trial, a few times."""
        reason = f"a worker process could not start: it {worker.how_it_ended()}{worker.last_words()}"
        trial = worker.trial
        if trial is None:
            raise BenchfwError(reason)
        self._failed_starts[trial.key] += 1
        if self._failed_starts[trial.key] < START_ATTEMPTS:
            waiting.put_back(worker.end())
            self._dismiss(worker)
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
        return worker.memory() > self._memory

    def _patience(self, busy: list[WorkerProcess]) -> float:
        """Return the seconds until the first trial's time is up."""
        ends = min((worker.began for worker in busy if worker.ready), default=math.inf) + self._timeout
        return max(0.0, ends - monotonic()) + 0.001  # a moment past the limit, so that one wait is enough

    def _dismiss(self, worker: WorkerProcess) -> None:
        self._workers.remove(worker)
        worker.stop()
        if worker.device is not None:
            self._devices.append(worker.device)
