"""What `benchfw report` needs as runs grow: CPU and wall seconds, peak memory, and the size of the page.

`python suites/tracked/report_size.py` writes stores of several shapes through the Store's own API, without
running trials, reports each in a process of its own, and prints a line each; then how the reports of larger
runs compare with those of smaller ones in the same session. `--records` adds a run of ten million records.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchfw.provenance import Environment
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial
from benchfw.store import Store

AT_ONCE = 500  # trials in a transaction


class Shape(NamedTuple):
    """The size of a run; `metrics` are measured at every look."""

    methods: int
    problems: int
    repetitions: int
    looks: int
    metrics: int = 1

    @property
    def trials(self) -> int:
        """Return the number of its trials."""
        return self.methods * self.problems * self.repetitions

    @property
    def records(self) -> int:
        """Return the number of its records."""
        return self.trials * self.looks * self.metrics


class Used(NamedTuple):
    """What a report took, in seconds and bytes."""

    cpu: float
    wall: float
    memory: int
    page: int


SHAPES = {
    "5,000 trials that do nothing": Shape(1, 1, 5_000, 2),
    "100,000 trials that do nothing": Shape(1, 1, 100_000, 2),
    "10 methods x 500 repetitions": Shape(10, 1, 500, 20),
    "10 methods x 5,000 repetitions": Shape(10, 1, 5_000, 20),
    "1,000 cells: 50 methods x 20 problems": Shape(50, 20, 3, 200, 2),
    "1,000 cells: 10 methods x 100 problems": Shape(10, 100, 3, 200, 2),
}
LARGEST = {"10 million records": Shape(10, 10, 1_000, 50, 2)}
RATIOS = (
    ("5,000 trials that do nothing", "100,000 trials that do nothing"),
    ("10 methods x 500 repetitions", "10 methods x 5,000 repetitions"),
)


def make_trials(shape: Shape) -> Iterator[tuple[int, Trial, Outcome]]:
    """Yield positions, trials and outcomes: noisy curves of different rates, one trial in 500 diverged."""
    rng = np.random.default_rng(1)
    spread = np.geomspace(1, 1e6, 3 * shape.looks).astype(int)
    steps = np.unique(np.concatenate([[0], spread]))[: shape.looks]
    count = len(steps)
    names = [f"metric {number}" for number in range(shape.metrics)]
    cells = product(range(shape.problems), range(shape.methods), range(shape.repetitions))
    for position, (problem, method, repetition) in enumerate(cells):
        noise = np.exp(rng.normal(0, 0.1, count))
        fall = np.exp(-np.arange(count) * (method + 1) / (3 * count)) * noise
        seconds = np.cumsum(np.exp(rng.normal(-9, 0.3, count)))
        columns = (steps.tolist(), seconds.tolist(), (8.0 * steps).tolist(), fall.tolist())
        records = tuple(
            Record(name, iteration, second, cost, value, cpu_seconds=second)
            for iteration, second, cost, value in zip(*columns, strict=True)
            for name in names
        )
        trial = Trial(
            "optimizer", Spec("quadratic", {"seed": problem}, f"quadratic {problem}"),
            Spec("sgd", {"step": 0.1 * (method + 1)}, f"sgd {method}"), "numpy", repetition, 1,
            Budget(iterations=int(steps[-1])), key=f"{position:064x}",
        )  # fmt: skip
        status = Status.DIVERGED if position % 500 == 499 else Status.DONE
        words = f"budget of {steps[-1]} iterations"
        yield position, trial, Outcome(status, Ending.ITERATIONS, words, records, seconds=seconds[-1])


def write_store(path: Path, shape: Shape) -> None:
    """Write one finished run."""
    with Store(path, create=True) as store:
        run = store.begin("large", "Large", "", Environment(trials=shape.trials))
        trials = make_trials(shape)
        while some := list(islice(trials, AT_ONCE)):
            store.add_all(run, some)
        store.finish(run)


def report(folder: Path) -> Used:
    """Return what the report of a folder's store takes."""
    began = perf_counter()
    with (folder / "said.txt").open("w", encoding="utf-8") as said:
        child = subprocess.Popen([sys.executable, "-m", "benchfw", "report"], cwd=folder, stdout=said)
        _, ended, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
    if child.returncode:
        raise SystemExit(f"benchfw report ended with {child.returncode}")
    wall = perf_counter() - began
    page = folder / "reports" / "run-1" / "index.html"
    return Used(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024, page.stat().st_size)


def measure(shape: Shape) -> Used:
    """Return what the report of a run of a shape takes."""
    with tempfile.TemporaryDirectory() as folder:
        write_store(Path(folder, "reports", "benchfw.sqlite"), shape)
        return report(Path(folder))


def main() -> None:
    """Print a line for each shape, and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="shapes whose name has this in it")
    parser.add_argument("--records", action="store_true", help="also ten million records")
    asked = parser.parse_args()
    shapes = {**SHAPES, **(LARGEST if asked.records else {})}
    found = {}
    for name, shape in shapes.items():
        if asked.only in name:
            found[name] = used = measure(shape)
            print(
                f"{name} ({shape.trials:,} trials, {shape.records:,} records): {used.cpu:.1f} s of CPU, "
                f"{used.wall:.1f} s, {used.memory / 1e6:.0f} MB, a page of {used.page / 1e6:.2f} MB",
                flush=True,
            )
    for small, large in RATIOS:
        if small in found and large in found:
            times, trials = found[large].cpu / found[small].cpu, shapes[large].trials / shapes[small].trials
            print(f"{large}: {times:.1f} times the CPU of {small}, for {trials:g} times the trials")


if __name__ == "__main__":
    main()
