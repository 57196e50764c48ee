"""The page of a large run: CPU of `benchfw report`, its size, and when the first figure is drawn.

50 methods x 20 repetitions x 200 points are 200,000 records. `python suites/tracked/report_speed.py` prints
one line each; the time of the browser is wall time from the start of loading, on a quiet machine only.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from _chromium import PROGRAM, Chromium

from benchfw.records import Budget, Outcome, Record, Spec, Status, Trial
from benchfw.store import Store

METHODS, REPETITIONS, POINTS = 50, 20, 200
LIMITS = {"CPU seconds": 5.0, "megabytes": 3.0, "seconds to the first figure": 2.0}


def write_store(path: Path) -> None:
    """Write a run of that size: noisy curves of different rates, one trial in a hundred diverged."""
    rng = np.random.default_rng(1)
    steps = np.unique(np.concatenate([[0], np.geomspace(1, 1e6, 3 * POINTS).astype(int)]))[:POINTS]
    with Store(path, create=True) as store:
        run = store.begin("large", f"{METHODS} methods", "", {})
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
            store.add(run, number, trial, Outcome(status, "budget", records, 1.0, "gradients"))
        store.finish(run)


def measure(*, browser: bool = True) -> dict[str, float]:
    """Return what LIMITS is about; the browser is left out where there is none."""
    with tempfile.TemporaryDirectory() as folder:
        write_store(Path(folder, "reports", "benchfw.sqlite"))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [sys.executable, "-m", "benchfw", "report"]
        subprocess.run(words, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        page = Path(folder, "reports", "run-1", "index.html")
        found = {
            "CPU seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "megabytes": page.stat().st_size / 1e6,
        }
        if browser and PROGRAM is not None:
            found["seconds to the first figure"] = first_figure(page)
    return found


def first_figure(page: Path) -> float:
    """Return the seconds from the start of loading to the first drawn figure, in a browser just started."""
    with Chromium() as browser:
        opened = browser.open(page)
        opened.wait_for("performance.getEntriesByName('first figure').length")
        return float(opened.evaluate("performance.getEntriesByName('first figure')[0].startTime")) / 1000


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{value:.2f} {name} (at most {LIMITS[name]:g})")
