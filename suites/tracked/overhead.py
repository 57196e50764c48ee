"""What the harness costs: CPU and wall time of a trial that does nothing, store and processes included.

`python suites/tracked/overhead.py` prints one line; with `--dask` one for two workers of Dask and one for
two local ones. Start-up is taken out by measuring a run of one trial a worker too.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from time import perf_counter

from _timing import child_cpu_seconds

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
        command = ["-m", "benchfw", "run", "idle.toml", "--no-report", "--json", *words]
        return child_cpu_seconds(command, Path(folder)), perf_counter() - began


def overhead(trials: int, workers: int = 1, *words: str) -> tuple[float, float]:
    """Return the milliseconds of CPU and of wall time that one idle trial costs beyond start-up."""
    given = ("--jobs", str(workers), *words)
    few, many = seconds(workers, *given), seconds(trials, *given)
    cpu, wall = (1000 * (more - less) / (trials - workers) for less, more in zip(few, many, strict=True))
    return cpu, wall


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--dask", action="store_true", help="two workers, by Dask and without")
    asked = parser.parse_args()
    ways = (
        {"2 workers of Dask": (2, "--dask", "local"), "2 workers": (2,)} if asked.dask else {"1 worker": (1,)}
    )
    for name, way in ways.items():
        cpu, wall = overhead(asked.trials, *way)
        print(f"{name}: {cpu:.3f} ms of CPU and {wall:.3f} ms of wall time a trial ({asked.trials} trials)")
