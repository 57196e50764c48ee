"""How often `benchfw compare` finds a regression between real runs of the same code: it should be seldom.

`python suites/tracked/identical_runs.py` runs a small suite with 40 repetitions and takes 200 times two runs
out of it, ten other repetitions each, so that what disturbs the machine falls on both alike. It prints in how
many of these pairs some row is called regressed: at most 5 %.

With `--apart 21` it runs the suite so many times one after another and compares all pairs: on a quiet machine
the same; on a busy one some run is truly slower than another, and `compare` says so.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np

import benchfw
from benchfw.provenance import Run
from benchfw.records import Result
from benchfw.store import Store
from benchfw.summary.compare import compare_runs

Side = tuple[Run, list[Result]]

REPETITIONS = 10
SUITE = """
title = "The same again"
seed = 1
budget = { iterations = 300 }
target = { gap = 1e-2 }

[[problem]]
use = "logistic-regression"
samples = 1_000
features = 50

[[optimizer]]
use = ["gd", "nesterov", "saga"]

[[estimator]]
use = "minibatch"
size = [32, 256]
"""


def run_suite(folder: Path, repetitions: int) -> Side:
    """Run the suite, nothing reused; return the run and its results."""
    suite, store = folder / "same.toml", folder / "reports" / "benchfw.sqlite"
    suite.write_text(SUITE, encoding="utf-8")
    run = benchfw.run(suite, store=store, fresh=True, repetitions=repetitions).run
    with Store(store) as opened:
        return run, opened.results(run.id)


def drawn_pairs(whole: Side, pairs: int) -> Iterator[tuple[Side, Side]]:
    """Yield pairs of runs that share no repetition, and so no seed."""
    run, results = whole
    rng = np.random.default_rng(3)
    for _ in range(pairs):
        order = rng.permutation(4 * REPETITIONS)
        yield (
            _part(run, results, order[:REPETITIONS], seed=1),
            _part(run, results, order[REPETITIONS : 2 * REPETITIONS], seed=2),
        )


def _part(run: Run, results: list[Result], repetitions: np.ndarray, seed: int) -> Side:
    numbers = {int(repetition): number for number, repetition in enumerate(repetitions)}
    return run, [
        replace(each, trial=replace(each.trial, repetition=numbers[each.trial.repetition], seed=seed))
        for each in results
        if each.trial.repetition in numbers
    ]


def main() -> None:
    """Print the share of pairs with a regression, and in which quantities."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--apart", type=int, metavar="RUNS", help="Compare whole runs, one after another.")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.apart:
            pairs = list(combinations([run_suite(folder, REPETITIONS) for _ in range(asked.apart)], 2))
        else:
            pairs = list(drawn_pairs(run_suite(folder, 4 * REPETITIONS), asked.pairs))
    called: Counter[str] = Counter()
    regressed = 0
    for before, after in pairs:
        rows = compare_runs(before, after, floor=0.05).rows
        found = {row.quantity for row in rows if row.change.word == "regressed"}
        regressed += bool(found)
        called.update(found)
    print(f"{regressed} of {len(pairs)} pairs called regressed: {regressed / len(pairs):.1%} (at most 5 %)")
    for quantity, count in called.most_common():
        print(f"  {quantity} in {count}")


if __name__ == "__main__":
    main()
