"""How fast the command line answers: CPU time of verbs that run nothing, as a ratio.

The ratio is to `python -c "import click, pluggy, numpy"`, measured in the same run, in turns, so that
the machine's drift falls on all of them alike. `python suites/tracked/startup.py` prints one line each; words
after it choose the commands that contain one of them.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from _timing import child_cpu_seconds

from benchfw.cli import COMPLETE_VARIABLE

REFERENCE = ["-c", "import click, pluggy, numpy"]
SHOWN = ("svrg", "quadratic", "chebyshev", "movielens-1m", "lanczos")
"""An optimizer, a problem, an estimator, a data set, a kernel."""
COMPLETED = ("benchfw ru", "benchfw list opt", "benchfw show sv", "benchfw run quick", "benchfw report ")
COMMANDS = [
    *("--help", "list", "list optimizers", "list suites", "list datasets", "list kernels"),
    *(f"show {name}" for name in SHOWN),
    "runs",
    *(f"complete {line!r}" for line in COMPLETED),
]
ROUNDS = 15


def ratios(commands: Iterable[str] = COMMANDS, rounds: int = ROUNDS) -> dict[str, float]:
    """Return the median over rounds of each command's CPU time over the reference's."""
    measured: dict[str, list[float]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        # whatever this shell says of them: all that is imported is compiled once, not in every process
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
        if any(name == "runs" or "report" in name for name in measured):
            child_cpu_seconds(["-m", "benchfw", "run", "quickstart", "--quick"], folder, compiled)
        for number in range(-1, rounds):  # the first starts fill the file cache
            reference = child_cpu_seconds(REFERENCE, folder, compiled)
            for name, found in measured.items():
                spent = _cpu_seconds(name, folder, compiled)
                found += [spent / reference] if number >= 0 else []
    return {name: statistics.median(values) for name, values in measured.items()}


def _cpu_seconds(command: str, folder: Path, variables: Mapping[str, str]) -> float:
    if not command.startswith("complete "):
        return child_cpu_seconds(["-m", "benchfw", *command.split()], folder, variables)
    line = command.removeprefix("complete ").strip("'")
    asked = {COMPLETE_VARIABLE: "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
    return child_cpu_seconds(["-m", "benchfw"], folder, {**variables, **asked})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*")
    words = parser.parse_args().words or [""]
    wanted = [each for each in COMMANDS if any(word in each for word in words)]
    for name, ratio in ratios(wanted).items():
        print(f"benchfw {name}: {ratio:.2f} times the CPU of importing click, pluggy and numpy")
