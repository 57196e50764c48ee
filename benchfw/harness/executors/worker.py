"""A worker process: takes trials from a pipe one after the other, and sends back what it measures.

Messages to the parent are tuples: ("ready", PROTOCOL) once; then for each trial ("records", [...]) as they
are measured, ("restart",) when the warm-up is over and its records no longer count, and
("end", status, reason, unit of cost, seconds).
"""

from __future__ import annotations

import contextlib
import ctypes
import faulthandler
import os
import resource
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from multiprocessing.connection import Connection
from time import perf_counter

from benchfw import data
from benchfw.harness.clock import count_cpu_seconds
from benchfw.harness.peak_memory import forget_peak, peak_memory
from benchfw.harness.trial import Ended, explain, run_trial, warm_up
from benchfw.records import PEAK_MEMORY, Record, Status, Trial
from benchfw.registry import Registry

PROTOCOL = 1
"""What parent and worker must agree on, where the worker is of another revision: one more with every change
of `Setup`, `Trial`, `Record`, `Status` or the messages."""

MARGIN = 2**30  # libraries reserve memory that they do not use: the parent watches what is really held
PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux's prctl


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
    overlay: tuple[str, ...] = ()
    resources: bool = False


def serve(requests: Connection, replies: Connection) -> None:
    """Run trials until the parent closes the pipe."""
    setup: Setup = requests.recv()
    registry = _obey(setup)
    replies.send(("ready", PROTOCOL))
    warm: set[tuple[str, ...]] = set()
    home, process = os.getcwd(), os.getpid()  # noqa: PTH109 - restored below, a Path would not help

    def emit(records: Sequence[Record]) -> None:
        if os.getpid() != process:
            os._exit(1)  # a child that the trial forked: its records are not the trial's
        if records:
            replies.send(("records", [astuple(each) for each in records]))

    while True:
        try:
            trial: Trial = requests.recv()
        except EOFError:
            return
        began = perf_counter()
        kind = (trial.kind, repr(trial.problem.table), repr(trial.method.table), trial.backend)
        if kind not in warm:
            _contained(partial(warm_up, trial, registry, emit))
            warm.add(kind)
            replies.send(("restart",))
        watched = setup.resources and forget_peak()
        ended = _contained(partial(run_trial, trial, registry, emit))
        if watched and not ended.status.faulty:  # one that broke has no peak to compare
            emit([Record(PEAK_MEMORY, 0, 0.0, 0.0, float(peak_memory()))])
        if os.getpid() != process:
            os._exit(1)  # a child that the trial forked and let run into here
        os.chdir(home)
        replies.send(("end", *ended, perf_counter() - began))


def _obey(setup: Setup) -> Registry:
    sys.path[:] = [*setup.overlay, *setup.path]
    registry = Registry(setup.plugins)
    data.use(registry)
    _pin_threads(setup.threads)
    if setup.resources:
        count_cpu_seconds()
    if setup.memory is not None:
        # the last line of defence: a trial that allocates faster than the parent looks is refused here
        resource.setrlimit(resource.RLIMIT_DATA, (setup.memory + MARGIN,) * 2)
    return registry


def _contained(run: Callable[[], Ended]) -> Ended:
    """Return how a trial ended, also where what it raises is beyond `run_trial`."""
    try:
        return run()
    except MemoryError:  # the method had kept all there was
        return Ended(Status.OUT_OF_MEMORY, "not enough memory to go on", "")
    except BaseException as fault:  # noqa: BLE001 - no key of the user's: this process has its own session
        return Ended(Status.FAILED, explain(fault), "")


def _pin_threads(threads: int) -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads)


def _die_with_parent(lifeline: int) -> None:
    """End this process and its children when the other end of the pipe is gone, however the parent died."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Start from the command line: file descriptors of requests, replies and lifeline."""
    requests, replies, lifeline = map(int, sys.argv[1:4])
    faulthandler.enable()
    if sys.platform == "linux":  # also while native code holds the interpreter, which the thread below needs
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    try:
        serve(Connection(requests, writable=False), Connection(replies, readable=False))
    except BrokenPipeError:
        pass  # the parent is gone
    except BaseException:  # noqa: BLE001 - told in the log, which the parent reads
        traceback.print_exc()
        os._exit(1)
    os._exit(0)  # at once: a thread that a trial left behind would be waited for


if __name__ == "__main__":
    main()
