"""A worker process: takes trials from a pipe one after the other, and sends back what it measures.

Messages to the parent are tuples: ("ready", process id, PROTOCOL) once; for each trial ("records", [...])
as they are measured, ("restart",) when the warm-up is over and its records no longer count, and
("end", outcome without its records, whether the trial left no process behind).
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import sys
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from multiprocessing.connection import Connection
from operator import attrgetter
from time import perf_counter
from typing import NoReturn

from benchfw.harness.environment import forget_peak, peak_memory
from benchfw.measure.clock import count_cpu_seconds
from benchfw.measure.endings import explain
from benchfw.measure.trial import run_trial, warm_up
from benchfw.records import Cell, Ending, Outcome, Record, Status, Trial
from benchfw.registry import Registry

PROTOCOL = 3
"""What parent and worker must agree on, where the worker is of another revision: one more with every change
of `Setup`, `Trial`, `Record`, `Outcome` or the messages."""

OUT_OF_MEMORY = 77  # the exit code of a worker that had no memory left to say so
MEMORY_MARGIN = 2**30  # bytes that libraries reserve and do not use: the parent watches what is held
record_values = attrgetter(*(each.name for each in fields(Record)))  # faster than dataclasses.astuple


@dataclass(frozen=True)
class Setup:
    """What a worker is told before its first trial.

    `overlay` are folders of packages that go before all others; `resources` asks for CPU seconds instead of
    time, and for the peak of memory.
    """

    plugins: tuple[str, ...]
    threads: int
    memory: int | None
    path: tuple[str, ...]
    device_memory: int | None = None
    overlay: tuple[str, ...] = ()
    resources: bool = False


def serve(requests: Connection, replies: Connection) -> None:
    """Run trials until the parent closes the pipe."""
    setup: Setup = requests.recv()
    registry = _apply_setup(setup)
    surroundings, process = Surroundings(setup.threads), os.getpid()
    replies.send(("ready", process, PROTOCOL))
    warm: set[Cell] = set()

    def emit(records: Sequence[Record]) -> None:
        if os.getpid() != process:
            os._exit(1)  # a child that the trial forked: its records are not the trial's
        if records:
            replies.send(("records", [record_values(each) for each in records]))

    while True:
        try:
            trial: Trial = requests.recv()
        except EOFError:
            return
        began = perf_counter()
        if trial.cell not in warm:
            _contain_faults(partial(warm_up, trial, registry, emit))
            surroundings.restore()
            warm.add(trial.cell)
            replies.send(("restart",))
        watched = setup.resources and forget_peak()
        outcome = _contain_faults(partial(run_trial, trial, registry, emit))
        if watched and not outcome.status.faulty:  # one that broke has no peak to compare
            outcome = replace(outcome, peak_memory=peak_memory())
        if os.getpid() != process:
            os._exit(1)  # a child that the trial forked and let run into here
        surroundings.restore()
        replies.send(("end", replace(outcome, seconds=perf_counter() - began), not _has_children()))


def _apply_setup(setup: Setup) -> Registry:
    sys.path[:] = [*setup.overlay, *setup.path]
    registry = Registry(setup.plugins)
    registry.activate()  # for good: a worker has one
    if setup.resources:
        count_cpu_seconds()
    if setup.memory is not None:
        # the last line of defence: a trial that allocates faster than the parent looks is refused here
        resource.setrlimit(resource.RLIMIT_DATA, (setup.memory + MEMORY_MARGIN,) * 2)
    return registry


def _contain_faults(run: Callable[[], Outcome]) -> Outcome:
    """Return how a trial ended, also where what it raises is beyond `run_trial`."""
    try:
        return run()
    except MemoryError:  # the method had kept all there was
        return Outcome(Status.OUT_OF_MEMORY, Ending.FAULT, "not enough memory to continue")
    except BaseException as fault:  # noqa: BLE001 - no key of the user's: this process has its own session
        return Outcome(Status.FAILED, Ending.FAULT, explain(fault))


class Surroundings:
    """What a trial may change around itself and the next one must not notice."""

    def __init__(self, threads: int) -> None:
        from threadpoolctl import ThreadpoolController

        self._threads = threads
        self._pools = ThreadpoolController()
        self._folder = os.getcwd()  # noqa: PTH109 - a string is all that is needed
        self._variables = dict(os.environ)
        self._encoded = _encoded_variables().copy()
        self.restore()

    def restore(self) -> None:
        """Put back the working directory, the environment variables and the native thread counts."""
        os.chdir(self._folder)
        if _encoded_variables() != self._encoded:
            os.environ.clear()
            os.environ.update(self._variables)
        if any(pool.num_threads != self._threads for pool in self._pools.lib_controllers):
            self._pools.limit(limits=self._threads)


def _encoded_variables() -> dict[bytes, bytes]:
    """Return what os.environ keeps: to decode all of it after every trial would cost more than the rest."""
    return os.environ._data  # type: ignore[attr-defined, no-any-return]  # noqa: SLF001


def _has_children() -> bool:
    """Return whether a process that a trial started still runs; those that have ended are reaped."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def work(requests: int, replies: int) -> NoReturn:
    """Serve on two file descriptors, then end the process."""
    faulthandler.enable()
    try:
        serve(Connection(requests, writable=False), Connection(replies, readable=False))
    except BrokenPipeError:
        pass  # the parent is gone
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except BaseException:  # noqa: BLE001 - told in the log, which the parent reads
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # at once: a thread that a trial left behind would be waited for
