"""CPU times of calls, by one thread, all in turn, so that drift falls on all of them; and of processes.

`refusals` is for what a script needs and does not find: a data set, a device, another library.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from time import process_time

from _measured import Table, store_table

from benchfw.errors import BenchfwError, nearest


def with_one_thread() -> None:
    """Start the script anew where libraries may take more threads than one: they look when imported."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if any(os.environ.get(name) != "1" for name in threads):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **threads})


@contextlib.contextmanager
def refusals(advice: str = "") -> Iterator[None]:
    """End the script with one sentence, and exit code 2, where something that it needs is not here."""
    try:
        yield
    except (BenchfwError, ImportError) as fault:
        print(f"{Path(sys.argv[0]).name}: {fault}{advice and f'; {advice}'}", file=sys.stderr)
        sys.exit(2)


def run_cases(cases: Mapping[str, Callable[[int], Table]], description: str | None, rounds: int) -> None:
    """Run the cases that the command line names, or all, with so many rounds unless it gives a number.

    All need a GPU. With --to a case's table is stored as well, as SCRIPT-CASE.json.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"one of {', '.join(cases)}")
    parser.add_argument("--rounds", type=int, default=rounds)
    add_folder_option(parser)
    arguments = parser.parse_args()
    for name in arguments.cases:
        if name not in cases:
            parser.error(f"no case '{name}'{nearest(name, cases)}")
    with refusals():
        for name in arguments.cases or cases:
            table = cases[name](arguments.rounds)
            if arguments.to is not None:
                store_table(arguments.to, f"{Path(sys.argv[0]).stem}-{name}", table, on_gpu=True)


def add_folder_option(parser: argparse.ArgumentParser) -> None:
    """Add --to FOLDER, which is None where it is not given."""
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="where tables are stored as JSON as well")


def cpu_seconds(call: Callable[[], object]) -> float:
    """Return the CPU time of a call."""
    began = process_time()
    call()
    return process_time() - began


def child_cpu_seconds(
    words: list[str], folder: Path | None = None, variables: Mapping[str, str] | None = None
) -> float:
    """Return the CPU time of one Python process and of those that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, **(variables or {})}
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def medians(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median CPU time of each call; once to warm up, then in turn."""
    for call in calls.values():
        call()
    times = [{name: cpu_seconds(call) for name, call in calls.items()} for _ in range(rounds)]
    return {name: statistics.median(each[name] for each in times) for name in calls}
