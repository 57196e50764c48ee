"""A worker process: takes trials from a pipe one after the other, and sends back what it measures.

Messages to the parent are tuples: ("ready",) once; then for each trial ("records", [...]) as they are
measured, ("restart",) when the warm-up is over and its records no longer count, and
("end", status, reason, unit of cost, seconds).
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import sys
import threading
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from multiprocessing.connection import Connection
from time import perf_counter

from benchfw.harness.trial import run_trial, warm_up
from benchfw.records import Record, Trial
from benchfw.registry import Registry


@dataclass(frozen=True)
class Setup:
    """What a worker is told before its first trial."""

    plugins: tuple[str, ...]
    threads: int
    memory: int | None


def serve(requests: Connection, replies: Connection) -> None:
    """Run trials until the parent closes the pipe."""
    setup: Setup = requests.recv()
    registry = Registry(setup.plugins)
    _pin_threads(setup.threads)
    if setup.memory is not None:
        # data, not address space: libraries reserve far more address space than they use
        resource.setrlimit(resource.RLIMIT_DATA, (setup.memory, setup.memory))
    replies.send(("ready",))
    warm: set[tuple[str, ...]] = set()
    home = os.getcwd()  # noqa: PTH109 - restored below, a Path would not help

    def emit(records: Sequence[Record]) -> None:
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
            warm_up(trial, registry, emit)
            warm.add(kind)
            replies.send(("restart",))
        ended = run_trial(trial, registry, emit)
        os.chdir(home)
        replies.send(("end", *ended, perf_counter() - began))


def _pin_threads(threads: int) -> None:
    from threadpoolctl import threadpool_limits

    threadpool_limits(limits=threads)


def _die_with_parent(lifeline: int) -> None:
    """End this process when the other end of the pipe is gone, however the parent died."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    os._exit(1)


def main() -> None:
    """Start from the command line: file descriptors of requests, replies and lifeline."""
    requests, replies, lifeline = map(int, sys.argv[1:4])
    faulthandler.enable()
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()
    with contextlib.suppress(BrokenPipeError, KeyboardInterrupt):
        serve(Connection(requests, writable=False), Connection(replies, readable=False))


if __name__ == "__main__":
    main()
