"""Starts a worker and ends it with everything that it started.

Where the system can, a supervisor stands between parent and worker, and stays when the worker is gone.
Elsewhere the worker is the parent's own child, and ends when its standard input does.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import benchfw
from benchfw.backends import Device
from benchfw.harness.inputs import THREAD_VARIABLES
from benchfw.harness.workers.messages import Setup
from benchfw.harness.workers.supervisor import TRIALS
from benchfw.system import CAN_SUPERVISE, end_children

HOME = str(Path(benchfw.__file__).parent.parent)
"""The folder from which benchfw is imported."""
STOP_SECONDS = 10.0  # that a supervisor may take to end all that a worker started


class Started(NamedTuple):
    """A process, and the parent's ends of the pipes to the worker in it or below it.

    What comes through `replies` may be a bell only. Without a supervisor there is no lifeline.
    """

    process: subprocess.Popen[bytes]
    requests: int
    replies: int
    lifeline: int | None = None


def start_worker(
    module: str = TRIALS,
    *,
    stderr: int,
    env: Mapping[str, str],
    stdout: int = subprocess.DEVNULL,
    handed_down: Sequence[int] = (),
    overlay: Sequence[str] = (),
) -> Started:
    """Start a worker that runs `serve` of a module.

    It writes to standard error here, and to the open files that are handed down where the system can; only a
    supervised worker has a standard output besides the pipe. Its own Python starts with benchfw and the
    overlay alone on its path; programs that it starts have PYTHONPATH, after the overlay, as it is here.
    """
    request_read, request_write = os.pipe()
    reply_read, reply_write = os.pipe()
    theirs = [request_read, reply_write]
    # -P: a random.py in the user's folder is not ours; the parent's own import path follows in the setup
    python = (sys.executable, "-P", "-m")
    path_of_programs = os.pathsep.join(filter(None, [*overlay, env.get("PYTHONPATH")]))
    env = {**env, "PYTHONPATH": os.pathsep.join([*overlay, HOME])}
    lifeline = None
    if CAN_SUPERVISE:
        lifeline_read, lifeline = os.pipe()
        theirs.append(lifeline_read)
        process = subprocess.Popen(
            [*python, "benchfw.harness.workers.supervisor", *map(str, theirs), module, path_of_programs],
            pass_fds=(*theirs, *handed_down),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env=env,
            start_new_session=True,  # Ctrl-C reaches the parent alone
        )
    else:
        process = subprocess.Popen(
            [*python, "benchfw.harness.workers.unsupervised", module, path_of_programs],
            stdin=request_read,
            stdout=reply_write,
            stderr=stderr,
            env=env,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # Ctrl-C, as above
        )
    for each in theirs:
        os.close(each)
    return Started(process, request_write, reply_read, lifeline)


def stop_worker(started: Started) -> None:
    """End a worker and everything that it started; the replies that it has sent can still be read."""
    process, requests, _, lifeline = started
    if lifeline is None:
        end_children(process.pid)
        process.kill()
    else:
        os.close(lifeline)  # the supervisor sees to it
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:  # something that not even SIGKILL ends now, such as a dead disk
        process.kill()
        process.wait()
    os.close(requests)


def environment_of(setup: Setup, device: Device | None) -> dict[str, str]:
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
    return variables
