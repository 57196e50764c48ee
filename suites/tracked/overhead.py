"""What the harness itself costs: CPU time a trial whose method does nothing, store and processes included.

`python suites/tracked/overhead.py` prints one line. Start-up is taken out by measuring a run of one
trial too.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PLUGIN = '''
from dataclasses import dataclass
from benchfw import Problem, hookimpl

class Nothing:
    """A problem with nothing to solve."""
    def __init__(self, backend, rng, number: int = 0):
        self.backend, self.cost = backend, 0.0
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


def cpu_seconds(repetitions: int) -> float:
    """Return the CPU time of a whole run of that many trials, its worker included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing.py").write_text(PLUGIN, encoding="utf-8")
        Path(folder, "idle.toml").write_text(SUITE.format(repetitions=repetitions), encoding="utf-8")
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-m", "benchfw", "run", "idle.toml", "--no-report", "--json"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def overhead(trials: int) -> float:
    """Return the milliseconds of CPU that one idle trial costs beyond start-up."""
    return 1000 * (cpu_seconds(trials) - cpu_seconds(1)) / (trials - 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    print(f"{overhead(trials):.3f} ms of CPU a trial ({trials} trials)")
