"""Calls the command line, and returns its exit code and everything it prints."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from time import monotonic, sleep
from typing import NoReturn

from benchfw.cli import main

MOST_SECONDS = 120.0


def call_in_process(words: tuple[str, ...], folder: Path) -> tuple[int, str]:
    """Call it in a process of its own."""
    command = [sys.executable, "-m", "benchfw", *map(os.fsencode, words)]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=MOST_SECONDS, check=False)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def call_in_fork(words: tuple[str, ...], folder: Path) -> tuple[int, str]:
    """Call it in a copy of this process, which has imported almost everything already."""
    with tempfile.TemporaryFile() as said:
        process = os.fork()
        if not process:
            _become_command(words, folder, said.fileno())
        ends = monotonic() + MOST_SECONDS
        while (ended := os.waitpid(process, os.WNOHANG))[0] == 0:
            if monotonic() > ends:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                raise AssertionError(f"benchfw {words!r} did not end")
            sleep(0.002)
        said.seek(0)
        return os.waitstatus_to_exitcode(ended[1]), said.read().decode(errors="replace")


def _become_command(words: tuple[str, ...], folder: Path, said: int) -> NoReturn:
    code = 70
    try:
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), "utf-8", "strict")
        sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb"), "utf-8", "backslashreplace")
        os.chdir(folder)
        sys.path.insert(0, str(folder))  # as `python -m benchfw` does
        sys.argv = ["benchfw", *words]
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 0
    except BaseException:  # noqa: BLE001 - as Python itself does
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
