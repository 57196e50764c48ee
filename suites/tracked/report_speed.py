"""The page of a large run: CPU of `benchfw report`, its size, and when the first figure is drawn.

50 methods x 20 repetitions x 200 points are 200,000 records. `python suites/tracked/report_speed.py` prints
one line each. With `--problems` they are of 50 methods x 20 problems, 1.2 million records; there the CPU is
that of the page alone, since reading and statistics take time in proportion to the records. The seconds to
the first figure are wall time from the start of loading, which says something on a quiet machine only; the
browser's CPU until then, and that of a page with only the drawing script, are the same on a busy one. A loop
of known work says how busy it is: compare with what it takes when nothing else runs.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from _chromium import PROGRAM, Chromium
from _timing import child_cpu_seconds, cpu_seconds
from report_size import SHAPES
from report_size import write_store as write_large_store

from benchfw.provenance import Environment
from benchfw.records import Budget, Ending, Outcome, Record, Spec, Status, Trial
from benchfw.report.page import drawing_script, write_report
from benchfw.store import Store
from benchfw.summary.summarize import summarize

METHODS, REPETITIONS, POINTS = 50, 20, 200
LIMITS = {
    "CPU seconds": 5.0,
    "megabytes": 3.0,
    "seconds to the first figure": 2.0,
    "CPU seconds to the first figure": 2.0,
}
LARGE_LIMITS = {"CPU seconds of the page": 5.0, "megabytes": 5.0, "seconds to the first figure": 2.0}
SCRIPT_ALONE = f"""<!doctype html><title>empty</title>
<script src="../assets/{drawing_script([]).name}"></script>
<script>performance.mark("first figure")</script>"""


def write_store(path: Path) -> None:
    """Write a run of that size: noisy curves of different rates, one trial in a hundred diverged."""
    rng = np.random.default_rng(1)
    steps = np.unique(np.concatenate([[0], np.geomspace(1, 1e6, 3 * POINTS).astype(int)]))[:POINTS]
    with Store(path, create=True) as store:
        run = store.begin("large", f"{METHODS} methods", "", Environment())
        for number in range(METHODS * REPETITIONS):
            method, repetition = divmod(number, REPETITIONS)
            values = np.exp(-(steps / steps[-1]) * method / 3) * rng.lognormal(0, 0.1, POINTS)
            seconds = np.cumsum(rng.lognormal(-9, 0.3, POINTS))
            rows = zip(steps.tolist(), seconds.tolist(), (8.0 * steps).tolist(), values.tolist(), strict=True)
            problem, spec = Spec("quadratic", {}, "quadratic"), Spec("sgd", {}, f"sgd {method}")
            budget = Budget(iterations=10**6)
            trial = Trial("optimizer", problem, spec, "numpy", repetition, 1, budget, key=str(number))
            status = Status.DIVERGED if number % 100 == 99 else Status.DONE
            records = tuple(Record("gap", *row) for row in rows)
            store.add(run, number, trial, Outcome(status, Ending.ITERATIONS, "budget", records))
        store.finish(run)


def measure(*, browser: bool = True) -> dict[str, float]:
    """Return what LIMITS is about; the browser is left out where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        write_store(Path(folder, "reports", "benchfw.sqlite"))
        cpu = child_cpu_seconds(["-m", "benchfw", "report"], Path(folder))
        page = Path(folder, "reports", "run-1", "index.html")
        found = {"CPU seconds": cpu, "megabytes": page.stat().st_size / 1e6}
        if browser and PROGRAM is not None:
            empty = page.with_name("empty.html")
            empty.write_text(SCRIPT_ALONE, encoding="utf-8")
            _, found["CPU seconds of the script alone"] = first_figure(empty)
            wall, cpu = first_figure(page)
            found |= {"seconds to the first figure": wall, "CPU seconds to the first figure": cpu}
    return found


def measure_many_problems() -> dict[str, float]:
    """Return what LARGE_LIMITS is about."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "benchfw.sqlite")
        write_large_store(path, SHAPES["1,000 cells: 50 methods x 20 problems"])
        with Store(path) as store:
            (run,) = store.runs()
            summary = summarize(run, store.stream(run.id))
        page = Path(folder, "run-1", "index.html")
        found = {"CPU seconds of the page": cpu_seconds(lambda: write_report(summary, run, page.parent))}
        found["megabytes"] = page.stat().st_size / 1e6
        if PROGRAM is not None:
            found["seconds to the first figure"], _ = first_figure(page)
    return found


def known_work() -> int:
    """Do the same as ever: what it takes says how busy the machine is."""
    return sum(number * number % 7 for number in range(3_000_000))


def first_figure(page: Path) -> tuple[float, float]:
    """Return wall and CPU seconds from the start of a fresh browser's loading to the first figure."""
    with Chromium() as browser:
        opened = browser.open(page)
        opened.wait_for("performance.getEntriesByName('first figure').length")
        cpu = opened.cpu_seconds()
        wall = opened.evaluate("performance.getEntriesByName('first figure')[0].startTime")
        return float(wall) / 1000, cpu


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", action="store_true", help="50 methods x 20 problems")
    many = parser.parse_args().problems
    limits = LARGE_LIMITS if many else LIMITS
    found = measure_many_problems() if many else measure()
    for name, value in found.items():
        print(f"{value:.2f} {name}{f' (at most {limits[name]:g})' if name in limits else ''}")
    print(f"{cpu_seconds(known_work):.2f} CPU seconds of known work")
