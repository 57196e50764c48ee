"""Ends worker processes, and says in words how one ended."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sysconfig
from pathlib import Path

OUT_OF_MEMORY = 77  # the exit code of a worker that had no memory left to say so
STOP_SECONDS = 10.0  # that a supervisor may take to end all that a worker started
STANDARD = sysconfig.get_path("stdlib")


def stop_supervisor(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """End a supervised process and everything that it started."""
    os.close(lifeline)  # the supervisor sees to it
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:  # something that not even SIGKILL ends now, such as a dead disk
        process.kill()
        process.wait()


def describe_end(code: int) -> str:
    """Return 'ended with exit code 3' or 'was killed by SIGSEGV', from what Popen gives back."""
    if code == OUT_OF_MEMORY:
        return "ran out of memory"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = ", perhaps because the system ran out of memory" if code == -signal.SIGKILL else ""
    return f"was killed by {name}{hint}"


def find_place(log: str) -> str:
    """Return ' in mine.py, line 3' from what Python's fault handler wrote, or nothing.

    That is the innermost line that is not in a library.
    """
    stack = re.search(r"Current thread .*\n((?:\s+File .*\n?)*)", log)
    frames = re.findall(r'File "([^"]+)", line (\d+)', stack[1]) if stack else []
    own = [
        (file, line)
        for file, line in frames
        if not file.startswith((STANDARD, "<")) and "site-packages" not in file
    ]
    for file, line in own or frames:
        return f" in {Path(file).name}, line {line}"
    return ""
