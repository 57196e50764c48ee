"""Starts and stops the supervisor of a worker process."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import benchfw
from benchfw.backends import Device
from benchfw.harness.inputs import THREAD_VARIABLES
from benchfw.harness.workers.messages import Setup

STOP_SECONDS = 10.0  # that a supervisor may take to end all that a worker started


class Started(NamedTuple):
    """A supervisor, and the parent's ends of the pipes to its worker and to itself."""

    process: subprocess.Popen[bytes]
    requests: int
    bell: int
    lifeline: int


def start_supervisor(setup: Setup, device: Device | None, log: int, replies: int) -> Started:
    """Start a worker below a supervisor; it writes to two open files."""
    request_read, request_write = os.pipe()
    bell_read, bell_write = os.pipe()
    lifeline_read, lifeline_write = os.pipe()
    theirs = (request_read, bell_write, lifeline_read)
    # -P: a random.py in the user's folder is not ours; the parent's own import path follows in the setup
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "benchfw.harness.workers.supervisor", *map(str, theirs)],
        pass_fds=(*theirs, replies),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        env=_environment(setup, device),
        start_new_session=True,  # Ctrl-C reaches the parent alone
    )
    for each in theirs:
        os.close(each)
    return Started(process, request_write, bell_read, lifeline_write)


def stop_supervisor(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """End a supervised process and everything that it started."""
    os.close(lifeline)  # the supervisor sees to it
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:  # something that not even SIGKILL ends now, such as a dead disk
        process.kill()
        process.wait()


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
