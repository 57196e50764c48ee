"""How a process ended, in words."""

from __future__ import annotations

import re
import signal
import sysconfig
from pathlib import Path

OUT_OF_MEMORY = 77  # the exit code of a worker that had no memory left to say so

STANDARD = sysconfig.get_path("stdlib")


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
