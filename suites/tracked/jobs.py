"""What `--jobs` gains: wall time of trials that compute for 10 and for 50 ms, one and several at a time.

`python suites/tracked/jobs.py` prints a line for each: the wall time a trial with `--jobs 1` and with more,
and the CPU time that the parent process takes for a trial, from which follows what share of a core it would
take at most with 16 jobs. Start-up is taken out by measuring a run of a few trials too. The shortest of some
rounds counts, since other work on the machine only makes times longer.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from overhead import PLUGIN  # its problem has nothing to solve

LENGTHS = (10, 50)  # milliseconds
MANY = 16  # jobs, of the parent's share

BUSY = '''
from dataclasses import dataclass
from time import process_time
from benchfw import Problem, hookimpl

@dataclass(frozen=True)
class Busy:
    """A method that computes for a while."""
    milliseconds: int = 10
    solves = Problem
    def run(self, problem, rng):
        yield 0
        while True:
            ends = process_time() + self.milliseconds / 1000
            while process_time() < ends:
                pass
            yield 0

@hookimpl
def register_optimizers(register):
    register("busy", Busy)
'''

SUITE = """
plugins = ["nothing.py", "busy.py"]
repetitions = {repetitions}
budget = {{ iterations = 1 }}
[[problem]]
use = "nothing"
[[optimizer]]
use = "busy"
milliseconds = {milliseconds}
"""

COMMAND = """
import resource, sys
from benchfw.cli import main
try:
    main()
finally:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, file=sys.stderr)
"""


class Used(NamedTuple):
    """Milliseconds of wall time, and of CPU time of the parent process."""

    wall: float
    parent: float


def time_run(trials: int, milliseconds: int, jobs: int) -> Used:
    """Return what a whole run takes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing.py").write_text(PLUGIN, encoding="utf-8")
        Path(folder, "busy.py").write_text(BUSY, encoding="utf-8")
        suite = SUITE.format(repetitions=trials, milliseconds=milliseconds)
        Path(folder, "busy.toml").write_text(suite, encoding="utf-8")
        words = ["run", "busy.toml", "--no-report", "--no-replay", "--json", "--jobs", str(jobs)]
        began = perf_counter()
        command = [sys.executable, "-c", COMMAND, *words]
        done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
        wall = perf_counter() - began
    return Used(1000 * wall, 1000 * float(done.stderr.split()[-1]))


def time_trial(trials: int, milliseconds: int, jobs: int, rounds: int) -> Used:
    """Return what one trial takes beyond start-up, in the best of some rounds."""
    few = 2 * jobs
    times = [[time_run(count, milliseconds, jobs) for count in (few, few + trials)] for _ in range(rounds)]
    less, more = (map(min, zip(*each, strict=True)) for each in zip(*times, strict=True))
    return Used(*((after - before) / trials for before, after in zip(less, more, strict=True)))


def main() -> None:
    """Print a line for each length of a trial."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    for milliseconds in LENGTHS:
        one, several = (
            time_trial(asked.trials, milliseconds, jobs, asked.rounds) for jobs in (1, asked.jobs)
        )
        share = MANY * several.parent / milliseconds
        print(
            f"{milliseconds} ms: {one.wall:.1f} ms of wall time a trial with --jobs 1, {several.wall:.1f} ms "
            f"with --jobs {asked.jobs} ({one.wall / several.wall:.2f} times shorter); the parent takes "
            f"{several.parent:.2f} ms of CPU a trial, at most {share:.0%} of a core with {MANY} jobs",
            flush=True,
        )


if __name__ == "__main__":
    main()
