"""Runs the command line in a folder of the test's own: in this process, or in one of its own."""

import contextlib
import contextvars
import csv
import importlib
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import termios
import traceback
import warnings
from pathlib import Path
from unittest import mock

import pytest

from benchfw.cli import main

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
    """`benchfw` in a folder: in this process, trials too, unless the test is marked otherwise."""

    suite = SUITE

    def __init__(self, folder, mark=""):
        self.folder = folder
        self.mark = mark
        self.environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}

    def __call__(self, *words, **variables):
        if self.mark == "process" or any(name.startswith("PYTHON") for name in variables):
            return self.in_process(*words, **variables)
        return self.inline(*words, **variables)

    def in_process(self, *words, **variables):
        """Run the command in a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "benchfw", *map(str, words)],
            cwd=self.folder,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def inline(self, *words, **variables):
        """Run the command in this process and put back all that it changes around itself."""
        words = list(map(str, words))
        if words[:1] == ["run"] and not self.mark and not {"--jobs", "--dask", "--against"} & set(words):
            words += ["--jobs", "0"]
        out, err = (
            io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors=errors)
            for errors in ("strict", "backslashreplace")
        )
        with (
            contextlib.chdir(self.folder),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            mock.patch.dict(os.environ, {**self.environment, **variables}, clear=True),
            mock.patch.object(sys, "argv", ["benchfw", *words]),
            mock.patch.object(sys, "path", [str(self.folder), *sys.path]),
            mock.patch.object(sys, "dont_write_bytecode", True),
            warnings.catch_warnings(action="default"),
            forgotten_modules(self.folder.parent),
            kept_signals(),
        ):
            code = contextvars.copy_context().run(exit_code)
        for stream in (out, err):
            stream.flush()
        return subprocess.CompletedProcess(
            words, code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode()
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
        done = self.inline("export", run, "--store", store)
        assert done.returncode == 0, done.stderr
        return list(csv.DictReader(done.stdout.splitlines()))

    def timeless(self, run="last", store="reports/benchfw.sqlite"):
        """Return what is equal whenever and wherever a suite runs: records without run, trial, times."""
        return [
            {key: value for key, value in row.items() if key not in {"run", "trial", "seconds"}}
            for row in self.records(run, store)
        ]

    def run_count(self, store="reports/benchfw.sqlite"):
        done = self.inline("runs", "--json", "--store", store)
        return len(json.loads(done.stdout)) if done.returncode == 0 else 0

    def last_run(self):
        return json.loads(self.inline("runs", "--json").stdout)[-1]


def exit_code():
    """Run the command line as `python -m benchfw` would; return its exit code."""
    try:
        main()
    except SystemExit as ended:
        return ended.code or 0
    except Exception:  # noqa: BLE001 - as Python itself does
        traceback.print_exc()
        return 1


@contextlib.contextmanager
def forgotten_modules(folder):
    """Forget afterwards which modules below a folder were imported: the next test has others of that name."""
    importlib.invalidate_caches()  # a file may have been written in the same moment as the last look
    try:
        yield
    finally:
        for name, module in list(sys.modules.items()):
            if str(getattr(module, "__file__", None)).startswith(str(folder)):
                del sys.modules[name]


@contextlib.contextmanager
def kept_signals():
    """Put back the handlers of signals."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def heard_interruptions():
    """What a shell puts into the background ignores SIGINT, and so would every process that tests start."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def cli(tmp_path, request):
    """A folder with the bowls plugin and a suite for it."""
    shutil.copy(PLUGINS / "bowls.py", tmp_path)
    marks = [each for each in ("process", "workers") if request.node.get_closest_marker(each)]
    line = CommandLine(tmp_path, *marks)
    line.write("bowls.toml", SUITE)
    return line
