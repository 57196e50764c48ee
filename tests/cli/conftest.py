"""Runs the real command line in real processes, in a folder of the test's own."""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parent / "plugins"

SUITE = """
title = "Bowls"
seed = 3
repetitions = 2
plugins = ["bowls.py"]
budget = { iterations = 20 }

[[problem]]
use = "bowl"

[[estimator]]
use = "noisy"
scale = [1.0, 2.0]

[[optimizer]]
use = "slide"
step = [0.5, 0.1]
"""


class CommandLine:
    """`benchfw` in a folder."""

    suite = SUITE

    def __init__(self, folder):
        self.folder = folder
        self.environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}

    def __call__(self, *words, **variables):
        return subprocess.run(
            [sys.executable, "-m", "benchfw", *map(str, words)],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def in_terminal(self, *words, **variables):
        """Return all that a terminal is sent, and the exit code."""
        parent, child = os.openpty()
        termios.tcsetwinsize(child, (24, 100))
        process = subprocess.Popen(
            [sys.executable, "-m", "benchfw", *map(str, words)],
            cwd=self.folder,
            env={**self.environment, "TERM": "xterm-256color", **variables},
            stdin=child,
            stdout=child,
            stderr=child,
        )
        os.close(child)
        sent = b""
        with contextlib.suppress(OSError):  # how Linux tells that nobody has the terminal open any more
            while part := os.read(parent, 65536):
                sent += part
        os.close(parent)
        return sent.decode(), process.wait(timeout=60)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def records(self, run="last", store="reports/benchfw.sqlite"):
        """Return the exported records of a run as dicts."""
        done = self("export", run, "--store", store)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(done.stdout.splitlines()))

    def timeless(self, run="last", store="reports/benchfw.sqlite"):
        """Return what is equal whenever and wherever a suite runs: records without run, trial, times."""
        return [
            {key: value for key, value in row.items() if key not in {"run", "trial", "seconds"}}
            for row in self.records(run, store)
        ]

    def run_count(self, store="reports/benchfw.sqlite"):
        done = self("runs", "--json", "--store", store)
        return len(json.loads(done.stdout)) if done.returncode == 0 else 0

    def last_run(self):
        return json.loads(self("runs", "--json").stdout)[-1]


@pytest.fixture(scope="session", autouse=True)
def heard_interruptions():
    """What a shell puts into the background ignores SIGINT, and so would every process that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tmp_path):
    """A folder with the bowls plugin and a suite for it."""
    shutil.copy(PLUGINS / "bowls.py", tmp_path)
    line = CommandLine(tmp_path)
    line.write("bowls.toml", SUITE)
    return line
