"""What runs of 1,000, 10,000 and 100,000 trials that do nothing need: time, and peak memory of the parent.

`python suites/tracked/run_size.py` prints a line for each; the parent's peak is read when the last trial and
the last replay have ended, before the summary, and again at the end of the process, without a page. Trials
share a worker, so that 100,000 take a minute or two.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from overhead import PLUGIN, SUITE

WATCH = """

@hookimpl
def run_finished(run):
    from pathlib import Path
    Path("peak.txt").write_text(Path("/proc/self/status").read_text())
"""

COMMAND = """
import os, pathlib, sys
from benchfw.cli import cli
try:
    cli.main(sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
pathlib.Path("end.txt").write_text(pathlib.Path("/proc/self/status").read_text())
pathlib.Path("cpu.txt").write_text(str(sum(os.times()[:4])))
"""


class Used(NamedTuple):
    """What a run took: seconds, and the megabytes of its parent before the summary and in the end."""

    cpu: float
    wall: float
    running: float
    whole: float


def measure(trials: int) -> Used:
    """Run that many trials in processes of their own."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "nothing.py").write_text(PLUGIN + WATCH, encoding="utf-8")
        (folder / "idle.toml").write_text(SUITE.format(repetitions=trials), encoding="utf-8")
        words = ["run", "idle.toml", "--no-report", "--json", "--isolation", "worker"]
        began = perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *words], cwd=folder, check=True, capture_output=True, text=True
        )
        wall = perf_counter() - began
        if json.loads(done.stdout)["counts"] != {"done": trials}:
            raise SystemExit(f"not all of {trials} trials ended well: {done.stdout}{done.stderr}")
        cpu = float((folder / "cpu.txt").read_text())
        return Used(cpu, wall, _peak(folder / "peak.txt"), _peak(folder / "end.txt"))


def _peak(status: Path) -> float:
    line = next(each for each in status.read_text().splitlines() if each.startswith("VmHWM"))
    return int(line.split()[1]) * 1024 / 1e6


def main() -> None:
    """Print a line for each number of trials."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    first: Used | None = None
    for trials in parser.parse_args().trials:
        used = measure(trials)
        first = first or used
        print(
            f"{trials:,} trials: {used.cpu:.1f} s of CPU, {used.wall:.1f} s; the parent needs "
            f"{used.running:.1f} MB while they run ({used.running / first.running:.2f} times the first), "
            f"{used.whole:.1f} MB with the summary",
            flush=True,
        )


if __name__ == "__main__":
    main()
