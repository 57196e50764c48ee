"""How fast the command line answers: CPU time of `benchfw --help` and `benchfw list`, as a ratio.

The ratio is to `python -c "import click, pluggy, numpy"`, measured in the same run, in turns, so that
the machine's drift falls on all of them alike. `python suites/tracked/startup.py` prints one line each.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys

REFERENCE = ["-c", "import click, pluggy, numpy"]
COMMANDS = {"--help": ["-m", "benchfw", "--help"], "list": ["-m", "benchfw", "list"]}
ROUNDS = 15


def cpu_seconds(words: list[str]) -> float:
    """Return the CPU time of one Python process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median over rounds of each command's CPU time over the reference's."""
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    cpu_seconds(REFERENCE)  # the first start fills the file cache
    for _ in range(rounds):
        reference = cpu_seconds(REFERENCE)
        for name, words in COMMANDS.items():
            measured[name].append(cpu_seconds(words) / reference)
    return {name: statistics.median(values) for name, values in measured.items()}


if __name__ == "__main__":
    for name, ratio in ratios().items():
        print(f"benchfw {name}: {ratio:.2f} times the CPU of importing click, pluggy and numpy")
