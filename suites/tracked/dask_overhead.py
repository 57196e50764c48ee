"""What Dask costs: CPU and wall time a trial whose method does nothing, through Dask and by --jobs.

`python suites/tracked/dask_overhead.py` prints a line for each. Start-up is taken out by measuring a run
of one trial a worker too; the two ways are measured one after the other, on the same machine.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from overhead import PLUGIN, SUITE

WORKERS = 2


def seconds(repetitions: int, *words: str) -> tuple[float, float]:
    """Return CPU and wall time of a whole run of that many trials, all its processes included."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "nothing.py").write_text(PLUGIN, encoding="utf-8")
        Path(folder, "idle.toml").write_text(SUITE.format(repetitions=repetitions), encoding="utf-8")
        command = [sys.executable, "-m", "benchfw", "run", "idle.toml", "--no-report", "--json"]
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run(
            [*command, "--jobs", str(WORKERS), *words], cwd=folder, check=True, capture_output=True
        )
        after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, ended - began


def milliseconds(trials: int, *words: str) -> tuple[float, float]:
    """Return the milliseconds of CPU and of wall time that one idle trial costs beyond start-up."""
    few, many = seconds(WORKERS, *words), seconds(trials, *words)
    cpu, wall = (1000 * (more - less) / (trials - WORKERS) for less, more in zip(few, many, strict=True))
    return cpu, wall


def track_dask_overhead(trials: int = 1000) -> float:
    """Return the milliseconds of CPU that one idle trial costs through Dask, beyond start-up."""
    return milliseconds(trials, "--dask", "local")[0]


track_dask_overhead.unit = "ms"  # type: ignore[attr-defined]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1000)
    trials = parser.parse_args().trials
    for name, words in (("--dask local", ("--dask", "local")), ("--jobs alone", ())):
        cpu, wall = milliseconds(trials, *words)
        print(f"{name}: {cpu:.2f} ms of CPU and {wall:.2f} ms of wall time a trial ({trials} trials)")
