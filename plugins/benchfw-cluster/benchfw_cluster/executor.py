"""Runs trials on the workers of a Dask cluster.

The client places them: it alone knows how many of a worker's threads a trial takes. Trials of a kind that
was seen to be short travel together, since a task costs Dask some milliseconds. A trial whose worker is
lost goes to another one, a few times; a worker that comes late is inspected before it gets any.
"""

from __future__ import annotations

import contextlib
import math
import queue
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, NamedTuple

from distributed import Future

from benchfw.backends import Device
from benchfw.errors import BenchfwError
from benchfw.harness.events import Event, Finished, Started, TrialQueue, Waiting, needs_device
from benchfw.records import Cell, Ending, Outcome, Status, Trial
from benchfw_cluster.scheduler import POLL_SECONDS, Scheduler, WorkerSlot
from benchfw_cluster.worker import WorkerPool, WorkerTerms, run_here

TASK_SECONDS = 0.1  # of trials that travel in one task
SHORTEST_TRIAL = 0.002  # seconds that a trial is taken to last at least
MOST_LOSSES = 3  # workers that may be lost under one trial
NO_WORKER_SECONDS = 120.0  # to wait for a worker when none is left that can go on
FETCH_SECONDS = 60.0  # to get what a worker has done from it


class Task(NamedTuple):
    """Trials on their way, and what of their worker they hold."""

    future: Future
    trials: Sequence[Trial]
    slot: WorkerSlot
    device: Device | None


class DaskExecutor:
    """Trials as tasks of a cluster that has been inspected."""

    def __init__(self, scheduler: Scheduler, terms: WorkerTerms, note: Callable[[str], None]) -> None:
        self._scheduler, self._client, self._note = scheduler, scheduler.client, note
        self._slots = dict(scheduler.worker_slots)
        self._name = f"benchfw-{uuid.uuid4().hex[:12]}"
        self._tasks: dict[str, Task] = {}
        self._asked: dict[str, tuple[str, Future]] = {}
        self._known = set(self._slots)
        self._ended: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._losses: Counter[str] = Counter()
        self._seconds: dict[Cell, float] = {}
        self._looked = self._went_on = monotonic()
        self._client.register_plugin(WorkerPool(terms), name=self._name)

    def run(self, trials: Sequence[Trial]) -> Iterator[Event | Waiting]:
        """Run the trials, as many at once as the workers have threads and GPUs for."""
        waiting = TrialQueue(trials)
        self._went_on = monotonic()
        while waiting or self._tasks:
            yield from self._hand_out(waiting)
            try:
                future = self._ended.get(timeout=POLL_SECONDS)
            except queue.Empty:
                yield Waiting()
            else:
                yield from self._take(future, waiting)
            if monotonic() - self._looked > POLL_SECONDS:
                yield from self._look_around(waiting)

    def close(self) -> None:
        """Cancel what still runs; the workers then end its processes, and those that they kept."""
        futures = [task.future for task in self._tasks.values()]
        futures += [future for _, future in self._asked.values()]
        with contextlib.suppress(Exception):  # whatever is wrong with the cluster was reported before
            self._client.cancel(futures, force=True)
            self._client.unregister_worker_plugin(self._name)
        self._tasks.clear()
        self._asked.clear()

    def _hand_out(self, waiting: TrialQueue) -> Iterator[Started]:
        """Give every worker that can take one a trial, the emptiest worker first."""
        while waiting:
            free = [slot for slot in self._slots.values() if slot.capacity]
            free.sort(key=lambda slot: -slot.capacity)
            for slot in free:
                trials = self._together(waiting, has_device=bool(slot.devices))
                if trials:
                    self._submit(trials, slot)
                    yield from map(Started, trials)
                    break
            else:
                return

    def _together(self, waiting: TrialQueue, *, has_device: bool) -> list[Trial]:
        """Return the next trial, and those after it as far as all are known to be short."""
        together: list[Trial] = []
        seconds = 0.0
        while (trial := waiting.take(has_device=has_device)) is not None:
            seconds += math.inf if self._losses[trial.key] else self._seconds.get(trial.cell, math.inf)
            if together and (seconds > TASK_SECONDS or needs_device(trial) != needs_device(together[0])):
                waiting.put_back(trial)
                break
            together.append(trial)
        return together

    def _submit(self, trials: Sequence[Trial], slot: WorkerSlot) -> None:
        device = slot.devices.pop(0) if needs_device(trials[0]) else None
        slot.capacity -= 1
        future = self._client.submit(
            run_here,
            self._name,
            trials,
            device,
            key=f"{self._name}-{uuid.uuid4().hex}",
            workers=[slot.address],
            resources={"GPU": 1} if device else None,
        )
        self._tasks[future.key] = Task(future, trials, slot, device)
        self._went_on = monotonic()
        future.add_done_callback(self._ended.put)

    def _take(self, future: Future, waiting: TrialQueue) -> Iterator[Finished]:
        """Take in a task that has ended, well or not."""
        if future.key in self._asked:
            self._welcome(*self._asked.pop(future.key))
            return
        task = self._tasks.pop(future.key, None)
        if task is None:
            return  # given up before
        task.slot.capacity += 1
        if task.device:
            task.slot.devices.append(task.device)  # the next trial gets the one that has rested longest
        try:
            finished: list[Finished] = self._fetch(task.future, task.slot.address)
        except Exception as fault:  # noqa: BLE001 - the worker, the network or Dask raised it
            if self._client.status == "closed":
                raise self._gone(fault) from None
            self._looked = -math.inf  # see whether the worker has left before it gets another trial
            yield from self._lose(task, f"{type(fault).__name__}: {fault}", waiting)
        else:
            self._went_on = monotonic()
            future.release()  # or Dask would run it again if it lost the worker that keeps the result
            for event in finished:
                self._seconds[event.trial.cell] = max(event.outcome.seconds, SHORTEST_TRIAL)
                yield event

    def _fetch(self, future: Future, address: str) -> Any:
        """Return the result of a task that has ended.

        Where its worker is lost before the result is here, Dask would wait for it to come back.
        """
        deadline = monotonic() + FETCH_SECONDS
        while True:
            try:
                return future.result(timeout=POLL_SECONDS)
            except TimeoutError:
                raised = future.status == "error"  # by the task itself
                if raised or monotonic() > deadline or address not in self._client.nthreads():
                    raise

    def _lose(self, task: Task, reason: str, waiting: TrialQueue) -> Iterator[Finished]:
        """Let another worker run a task's trials again, alone from now on, and a few times at most."""
        task.future.cancel()
        for trial in reversed(task.trials):
            self._losses[trial.key] += 1
            lost = self._losses[trial.key]
            if lost < MOST_LOSSES:
                waiting.put_back(trial)
            else:
                last = f"the last was {task.slot.address}: {reason}"
                words = f"{lost} Dask workers were lost while they ran it; {last}"
                yield Finished(trial, Outcome(Status.CRASHED, Ending.FAULT, words))

    def _look_around(self, waiting: TrialQueue) -> Iterator[Finished]:
        """See which workers have gone and which have come."""
        self._looked = monotonic()
        try:
            present = self._client.nthreads()
        except (OSError, TimeoutError) as fault:
            raise self._gone(fault) from None
        for address in [each for each in self._slots if each not in present]:
            del self._slots[address]
            for key in [key for key, task in self._tasks.items() if task.slot.address == address]:
                yield from self._lose(self._tasks.pop(key), "it left the cluster", waiting)
        self._known &= set(present)  # one that comes back is asked again
        for address in set(present) - self._known:
            self._known.add(address)
            future = self._scheduler.ask(address)
            self._asked[future.key] = address, future
            future.add_done_callback(self._ended.put)
        if not self._tasks and monotonic() - self._went_on > NO_WORKER_SECONDS:
            raise BenchfwError(
                f"no worker of the Dask cluster at {self._scheduler.address} can run what is left; finished "
                "trials are kept, and the same command continues from there"
            )

    def _gone(self, fault: BaseException) -> BenchfwError:
        return BenchfwError(
            f"the Dask scheduler at {self._scheduler.address} is gone ({fault}); finished trials are kept, "
            "and the same command continues from there"
        )

    def _welcome(self, address: str, future: Future) -> None:
        """Use a worker that has come, if it is like the client."""
        try:
            found = self._fetch(future, address)
            faults = self._scheduler.faults(found)
        except BenchfwError as fault:
            faults = [str(fault)]
        except Exception:  # noqa: BLE001 - it went as it came, or will be asked again
            self._known.discard(address)
            return
        if faults:
            self._note(f"the Dask worker {address} joined late and was not used: {'; '.join(faults)}")
        else:
            self._slots[address] = self._scheduler.slot_of(address, found)
