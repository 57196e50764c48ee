"""Runs the command line in a folder of the test's own: in this process, or in one of its own."""

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

PLUGINS = Path(__file__).parents[1] / "plugins"

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


VARYING = {"run", "trial", "seconds", "cpu_seconds"}


def once(words):
    """Return the words of a command; trials run a second time only where a test asks for it."""
    words = list(map(str, words))
    return [*words, "--no-replay"] if words[:1] == ["run"] and "--replay" not in words else words


class CommandLine:
    """`benchfw` in a folder: in this process, trials too, unless the test is marked otherwise."""

    suite = SUITE

    def __init__(self, folder, run_inline, mark=""):
        self.folder = folder
        self.mark = mark
        self._run_inline = run_inline
        self.environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}

    def __call__(self, *words, **variables):
        if self.mark == "process" or any(name.startswith("PYTHON") for name in variables):
            return self.in_process(*words, **variables)
        return self.inline(*words, **variables)

    def elsewhere(self, folder):
        """Return the same in another folder."""
        return CommandLine(folder, self._run_inline, self.mark)

    def in_process(self, *words, **variables):
        """Run the command in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "benchfw", *once(words)],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def inline(self, *words, **variables):
        """Run the command in this process, trials too where the test is not marked."""
        words = once(words)
        if words[:1] == ["run"] and not self.mark and not {"--jobs", "--dask", "--against"} & set(words):
            words += ["--jobs", "0"]
        return self._run_inline(words, self.folder, {**self.environment, **variables})

    def in_terminal(self, *words, **variables):
        """Return all that a terminal is sent, and the exit code."""
        parent, child = os.openpty()
        termios.tcsetwinsize(child, (24, 100))
        process = subprocess.Popen(
            [sys.executable, "-m", "benchfw", *once(words)],
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
        done = self.inline("export", run, "--store", store)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(done.stdout.splitlines()))

    def timeless(self, run="last", store="reports/benchfw.sqlite"):
        """Return what is equal whenever and wherever a suite runs: records without run, trial, times."""
        return [
            {key: value for key, value in row.items() if key not in VARYING}
            for row in self.records(run, store)
        ]

    def run_count(self, store="reports/benchfw.sqlite"):
        done = self.inline("runs", "--json", "--store", store)
        return len(json.loads(done.stdout)) if done.returncode == 0 else 0

    def last_run(self):
        return json.loads(self.inline("runs", "--json").stdout)[-1]


@pytest.fixture(scope="session", autouse=True)
def heard_interruptions():
    """What a shell puts into the background ignores SIGINT, and so would every process that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tmp_path, request, run_inline):
    """A folder with the bowls plugin and a suite for it."""
    shutil.copy(PLUGINS / "bowls.py", tmp_path)
    marks = [each for each in ("process", "workers") if request.node.get_closest_marker(each)]
    line = CommandLine(tmp_path, run_inline, *marks)
    line.write("bowls.toml", SUITE)
    return line
