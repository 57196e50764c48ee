"""Whole trials and all kernels on a GPU and on the host: how many times faster, and how near to the limits.

`python suites/tracked/gpu_whole.py [CASE …]` prints a table a case. "trials" runs the suite gpu, whose trials
are the same on both. "kernels" runs `benchfw time`. "digits" makes the warped digits of the kernel machines'
figure2, and needs the data set mnist. The host has as many threads as OMP_NUM_THREADS says.
All need CuPy, and --rounds is the number of repetitions. `--to suites/tracked/measured` stores
what docs/performance.md shows.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from time import perf_counter
from typing import Any

from _measured import Table, Value
from _timing import run_cases
from threadpoolctl import threadpool_limits

import benchfw
from benchfw.backends import get_backend
from benchfw.data import load
from benchfw.errors import BenchfwError
from benchfw.records import Ending
from benchfw.report.text import plural
from benchfw.store.bundle import read_bundle
from benchfw_datasets.synthetic.warps import WarpedPictures

HOST, DEVICE = "numpy", "cupy"
SUITE = Path(__file__).parents[1] / "gpu.toml"
SIZES = "1e4", "1e5", "1e6"
LIMIT = "0.1"  # seconds for each size of a kernel
BATCH = 20_000  # rows, of a step in the kernel machines' figure2


def threads() -> int:
    """Return how many threads the host may use."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))


def trials(rounds: int) -> Table:
    """Return the seconds of whole trials on the host and on the GPU, medians over repetitions."""
    with tempfile.TemporaryDirectory() as folder:
        found = benchfw.run(
            SUITE,
            store=Path(folder) / "runs.sqlite",
            repetitions=rounds,
            threads=threads(),
            replay=False,
            progress=False,
        )
        _, results = read_bundle(found.save(Path(folder) / "run.zip"))
    seconds: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        if result.outcome.ending is not Ending.ITERATIONS:  # else the same work is not compared
            ended = f"{result.outcome.status}, {result.outcome.ending}: {result.outcome.reason}"
            raise BenchfwError(f"{result.trial} did not make all its steps ({ended})")
        names = result.trial.problem.label, result.trial.method.label
        seconds[names][result.trial.backend].append(result.outcome.records[-1].seconds)
    steps = results[0].trial.budget.iterations
    title = f"Seconds of {steps} steps: host with {threads()} threads, GPU; medians of {rounds} runs"
    rows = [
        (*names, *times, times[0] / times[1])
        for names, by_backend in seconds.items()
        for times in [[statistics.median(by_backend[each]) for each in (HOST, DEVICE)]]
    ]
    return print_table(Table(title, ("problem", "method", "host", "GPU", "times faster"), rows))


def kernels(rounds: int) -> Table:
    """Return the time of every kernel on the host and on the GPU, and its share of the GPU's limits."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["--threads", str(threads()), "--limit", LIMIT, "--isolation", "worker"]
        words += ["--repetitions", str(rounds)]
        words += [word for size in SIZES for word in ("--size", size)]
        words += [word for backend in (HOST, DEVICE) for word in ("--backend", backend)]
        words += ["--json", "--no-report", "--store", str(Path(folder) / "runs.sqlite")]
        command = [sys.executable, "-m", "benchfw", "time", *words]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchfwError(f"benchfw time: exit code {done.returncode}")
    averaged = f", geometric means of {rounds} runs" if rounds > 1 else ""
    title = (
        f"Every kernel at the largest size that both finished, {threads()} threads of the host, "
        f"µs a call{averaged}"
    )
    return print_table(kernel_table(title, json.loads(done.stdout)["rows"]))


def kernel_table(title: str, found: Iterable[Mapping[str, Any]]) -> Table:
    """Return the table of the rows that `benchfw time --json` prints."""
    values: dict[str, dict[int, dict[tuple[str, str], float]]] = defaultdict(lambda: defaultdict(dict))
    for row in found:
        size = int(row["problem"].removeprefix("size ").replace(",", ""))
        values[row["method"]][size][row["backend"], row["quantity"]] = row["estimate"]
    rows: list[tuple[Value, ...]] = []
    for name, by_size in sorted(values.items()):
        times = {
            size: tuple(each[backend, "seconds_per_call"] for backend in (HOST, DEVICE))
            for size, each in sorted(by_size.items())
            if all((backend, "seconds_per_call") in each for backend in (HOST, DEVICE))
        }
        if not times:
            continue
        largest = max(times)
        slow, fast = times[largest]
        share = by_size[largest].get((DEVICE, "fraction_of_limit"))
        slower = max((size for size, (host, device) in times.items() if device >= host), default=0)
        faster = next((f"{size:,}" for size in times if size > slower), "")
        limit = None if share is None else 100 * share
        rows.append((name, f"{largest:,}", 1e6 * slow, 1e6 * fast, limit, slow / fast, faster))
    columns = ("kernel", "size", "host", "GPU", "of the limit, %", "times faster", "faster from size")
    return Table(title, columns, rows)


def digits(rounds: int) -> Table:
    """Return how many warped digits a second are made on the host and on the GPU, in batches."""
    arrays = load("mnist")
    rows: list[tuple[Value, ...]] = []
    for name, batches in ((HOST, 1), (DEVICE, 50)):
        backend = get_backend(name)
        pictures = WarpedPictures(backend, arrays["x_train"], arrays["y_train"], seed=1)
        seconds = []
        with threadpool_limits(threads()):
            for round_ in range(rounds + 1):  # the first compiles kernels, and is not counted
                began = perf_counter()
                for each in range(round_ * batches, (round_ + 1) * batches):
                    pictures.rows(each * BATCH, (each + 1) * BATCH)
                backend.synchronize()
                seconds.append((perf_counter() - began) / (batches * BATCH))
        typical = statistics.median(seconds[1:])
        rows.append((name, 1 / typical, 1e6 * typical))
    host = plural(threads(), "thread")
    title = f"Warped digits, {BATCH:,} at a time: {host} of the host, GPU; medians of {rounds} runs"
    return print_table(Table(title, ("made by", "rows a second", "µs a row"), rows))


def print_table(table: Table) -> Table:
    """Print a table, and return it."""
    print(table.title)
    for row in table.rows:
        print("  ".join(f"{each:10.4g}" if isinstance(each, float) else f"{each or '':<24}" for each in row))
    return table


CASES = {"trials": trials, "kernels": kernels, "digits": digits}


if __name__ == "__main__":
    run_cases(CASES, __doc__, rounds=2)
