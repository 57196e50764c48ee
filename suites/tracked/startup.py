"""How fast the command line answers: CPU time of `benchfw --help` and `benchfw list`, as a ratio.

The ratio is to `python -c "import click, pluggy, numpy"`, measured in the same run, in turns, so that
the machine's drift falls on all of them alike. `python suites/tracked/startup.py` prints one line each.
"""

from __future__ import annotations

import statistics

from _timing import child_cpu_seconds

REFERENCE = ["-c", "import click, pluggy, numpy"]
COMMANDS = {"--help": ["-m", "benchfw", "--help"], "list": ["-m", "benchfw", "list"]}
ROUNDS = 15


def ratios(rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median over rounds of each command's CPU time over the reference's."""
    measured: dict[str, list[float]] = {name: [] for name in COMMANDS}
    child_cpu_seconds(REFERENCE)  # the first start fills the file cache
    for _ in range(rounds):
        reference = child_cpu_seconds(REFERENCE)
        for name, words in COMMANDS.items():
            measured[name].append(child_cpu_seconds(words) / reference)
    return {name: statistics.median(values) for name, values in measured.items()}


if __name__ == "__main__":
    for name, ratio in ratios().items():
        print(f"benchfw {name}: {ratio:.2f} times the CPU of importing click, pluggy and numpy")
