"""A store of 100,000 trials: the time of `benchfw runs` and of the decision what to run, and the memory.

`python suites/tracked/large_store.py` makes the store and prints a line each; times are wall time, so the
machine should be quiet. The suite has 1,000 methods and 100 repetitions; each trial holds ten records.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchfw.api.planning import plan_suite
from benchfw.api.running import look_up
from benchfw.harness.options import Options
from benchfw.records import Ending, Outcome, Record, Status
from benchfw.store import Store

METHODS, RECORDS = 1000, 10
LIMITS = {"seconds of `benchfw runs`": 1.0, "seconds to decide what to run": 5.0, "megabytes": 1000.0}
SUITE = """
repetitions = {repetitions}
budget = {{ iterations = 100 }}
[[problem]]
use = "quadratic"
[[optimizer]]
use = "gd"
step = [{steps}]
"""
TIMED = """
import json, resource, sys, time
began = time.perf_counter()
{work}
size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e3 if sys.platform == "linux" else 1e6)
print(json.dumps([time.perf_counter() - began, size]))
"""
RUNS = """
import contextlib, io
from benchfw.cli import cli
with contextlib.redirect_stdout(io.StringIO()):
    cli.main(["runs", "--store", "large.sqlite"], standalone_mode=False)
"""
DECIDE = """
from pathlib import Path
from benchfw.api.planning import plan_suite
from benchfw.api.running import look_up
from benchfw.harness.options import Options
planned = plan_suite("large.toml")
began = time.perf_counter()
pending = look_up(planned, Path("large.sqlite"), Options()).pending
assert len(pending) == {pending}, len(pending)
"""


def write_store(folder: Path, trials: int) -> None:
    """Write a suite of that many trials and a store that has all but the last."""
    steps = ", ".join(f"{1e-4 * (k + 1):.4f}" for k in range(METHODS))
    suite = folder / "large.toml"
    suite.write_text(SUITE.format(repetitions=trials // METHODS, steps=steps), encoding="utf-8")
    planned = plan_suite(suite)
    agenda = look_up(planned, folder / "none.sqlite", Options())
    records = tuple(Record("gap", k, 1e-3 * k, float(k), 1.0 / (k + 1)) for k in range(RECORDS))
    outcome = Outcome(Status.DONE, Ending.ITERATIONS, "budget of 100 iterations", records, seconds=0.1)
    with Store(folder / "large.sqlite", create=True) as store:
        store._base.execute("PRAGMA synchronous = OFF")  # noqa: SLF001 - 100,000 waits for the disk are no part of this
        run = store.begin("large", "Large", suite.read_text(encoding="utf-8"), agenda.environment)
        for position, trial in enumerate(agenda.trials[:-1]):
            store.add(run, position, trial, outcome)
        store.finish(run)


def timed(work: str, folder: Path) -> tuple[float, float]:
    """Return the seconds and the most megabytes of a piece of work in a process of its own."""
    words = [sys.executable, "-c", TIMED.format(work=work)]
    done = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True)
    seconds, megabytes = json.loads(done.stdout)
    return seconds, megabytes


def measure(trials: int = 100_000) -> dict[str, float]:
    """Return what LIMITS is about."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_store(folder, trials)
        listing, _ = timed(RUNS, folder)
        deciding, megabytes = timed(DECIDE.format(pending=1), folder)
    return dict(zip(LIMITS, (listing, deciding, megabytes), strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=100_000)
    arguments = parser.parse_args()
    for name, value in measure(arguments.trials).items():
        print(f"{value:.2f} {name} of {arguments.trials:,} trials (at most {LIMITS[name]:g})")
