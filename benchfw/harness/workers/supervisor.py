"""The process between the parent and a worker: when the worker ends, however it ends, so does all it started.

No plugin runs here, so it always answers: to the end of the worker, and to the end of the parent, which
holds the other end of the lifeline. On Linux whatever a trial leaves behind, a daemon in a session of its own
included, becomes a child of this process; elsewhere the worker's process group is what can be found.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from typing import Any, NoReturn

from benchfw.system import (
    adopt_orphans,
    can_adopt_orphans,
    die_with_parent,
    leave_no_core,
    set_path_of_programs,
)

TRIALS = "benchfw.harness.workers.worker"
OUT_OF_MEMORY = 77  # the exit code of a worker that had no memory left to say so


def main() -> None:
    """Start from the command line: file descriptors of requests, replies and lifeline.

    A module may follow whose `serve` is to run instead of that of trials, and PYTHONPATH of the programs that
    it starts.
    """
    requests, replies, lifeline = map(int, sys.argv[1:4])
    set_path_of_programs("".join(sys.argv[5:]))
    adopt_orphans()
    worker = os.fork()
    if worker == 0:
        os.close(lifeline)
        os.setsid()
        die_with_parent()
        adopt_orphans()
        serve = importlib.import_module((*sys.argv[4:], TRIALS)[0]).serve
        end_process(lambda: serve(requests, replies))
    os.close(requests)
    os.close(replies)
    threading.Thread(target=_stop_on_hangup, args=(lifeline, worker), daemon=True).start()
    status = _wait_for(worker)
    end_leftovers(worker)
    end_as(status)


def _stop_on_hangup(lifeline: int, worker: int) -> None:
    """End the worker when the parent closes the lifeline or is gone."""
    with contextlib.suppress(OSError):
        os.read(lifeline, 1)
    with contextlib.suppress(ProcessLookupError):
        os.kill(worker, signal.SIGKILL)


def _wait_for(worker: int) -> int:
    """Return the worker's wait status once it has ended; orphans that end before are taken in passing."""
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == worker:
            return status


def children() -> frozenset[int]:
    """Return the processes that this one has started and that still run."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return frozenset()
    import psutil  # rarely needed: a worker would wait for the import, and its trials inherit it

    return frozenset(child.pid for child in psutil.Process().children())


def end_leftovers(process: int, spared: frozenset[int] = frozenset()) -> None:
    """End what a process that is gone has started: its group, and what has become a child of this process."""
    if can_adopt_orphans() and not children() - spared:  # all that it left would be here
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process, signal.SIGKILL)
    while left := children() - spared:
        for child in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):  # has become another user's
                os.kill(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)  # its children are ours now: look again


def end_as(status: int) -> None:
    """End as another process did, for the parent to see."""
    if os.WIFSIGNALED(status):
        leave_no_core()  # the one of interest is the other's
        with contextlib.suppress(OSError):  # SIGKILL needs no handler, and takes none
            signal.signal(os.WTERMSIG(status), signal.SIG_DFL)
        os.kill(os.getpid(), os.WTERMSIG(status))
    os._exit(os.waitstatus_to_exitcode(status))


def end_process(run: Callable[[], Any], clean_up: Callable[[], None] = lambda: None) -> NoReturn:
    """Run, then end the process at once: a thread that a trial left behind would be waited for."""
    code = 0
    try:
        run()
    except BrokenPipeError:
        pass  # the parent is gone
    except MemoryError:
        code = OUT_OF_MEMORY
    except BaseException:  # noqa: BLE001 - written to the log, which the parent reads
        traceback.print_exc()
        code = 1
    clean_up()
    os._exit(code)


if __name__ == "__main__":
    main()
