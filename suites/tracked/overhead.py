"""What the harness costs: CPU and wall time of a trial that does nothing, store and processes included.

`python suites/tracked/overhead.py` prints a line for isolation by trial, beside what a bare fork of a process
that uses NumPy costs, and two for isolation by worker, without and with the summary that a run prints; with
`--dask` one for two workers of Dask and one for two local ones. Start-up, and what is imported for the first
repetitions, is taken out by measuring a run of a few trials too.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from _timing import child_cpu_seconds

FEW = 20  # trials of the run that is start-up

PLUGIN = '''
from dataclasses import dataclass
from benchfw import CountedProblem, Problem, hookimpl

class Nothing(CountedProblem):
    """A problem with nothing to solve."""
    def __init__(self, backend, rng, number: int = 0):
        self.backend = backend
    def metrics(self, answer):
        return {"answer": 0.0}

@dataclass(frozen=True)
class Idle:
    """A method that does nothing."""
    solves = Problem
    def run(self, problem, rng):
        while True:
            yield 0

@hookimpl
def register_problems(register):
    register("nothing", Nothing)

@hookimpl
def register_optimizers(register):
    register("idle", Idle)
'''

SUITE = """
plugins = ["nothing.py"]
repetitions = {repetitions}
budget = {{ iterations = 1 }}
[[problem]]
use = "nothing"
[[optimizer]]
use = "idle"
"""


def seconds(trials: int, *words: str) -> tuple[float, float]:
    """Return CPU and wall time of a whole run of that many trials, all its processes included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing.py").write_text(PLUGIN, encoding="utf-8")
        Path(folder, "idle.toml").write_text(SUITE.format(repetitions=trials), encoding="utf-8")
        began = perf_counter()
        command = ["-m", "benchfw", "run", "idle.toml", "--no-report", "--no-replay", *words]
        return child_cpu_seconds(command, Path(folder)), perf_counter() - began


def overhead(trials: int, workers: int = 1, *words: str) -> tuple[float, float]:
    """Return the milliseconds of CPU and of wall time that one idle trial costs beyond start-up."""
    given = ("--jobs", str(workers), *words)
    few, many = seconds(FEW, *given), seconds(FEW + trials, *given)
    cpu, wall = (1000 * (more - less) / trials for less, more in zip(few, many, strict=True))
    return cpu, wall


def bare_fork(times: int = 300) -> float:
    """Return the milliseconds of CPU of a fork and exit of a process that has used NumPy and does again."""
    import numpy as np

    square = np.random.default_rng(0).random((64, 64))
    np.linalg.eigh(square @ square.T)

    def used() -> float:
        own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime

    before = used()
    for _ in range(times):
        child = os.fork()
        if child == 0:
            np.random.default_rng(0).random(10)
            _ = square @ square
            os._exit(0)
        os.waitpid(child, 0)
    return 1000 * (used() - before) / times


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--dask", action="store_true", help="two workers, by Dask and without")
    asked = parser.parse_args()
    ways: dict[str, tuple[Any, ...]] = {
        "isolation by trial": (1, "--json"),
        "isolation by worker": (1, "--isolation", "worker", "--json"),
        "isolation by worker, and a summary": (1, "--isolation", "worker"),
    }
    if asked.dask:
        ways = {"2 workers of Dask": (2, "--dask", "local", "--json"), "2 workers": (2, "--json")}
    fork = bare_fork()
    print(f"a bare fork: {fork:.3f} ms of CPU")
    for name, way in ways.items():
        cpu, wall = overhead(asked.trials, *way)
        print(
            f"{name}: {cpu:.3f} ms of CPU ({cpu / fork:.2f} bare forks), {wall:.3f} ms of wall time a trial "
            f"({asked.trials} trials)"
        )
