"""How often `benchfw compare` finds a regression between real runs of the same code: it should be seldom.

`python suites/tracked/identical_runs.py` runs a small suite 21 times with one seed, which makes 210 pairs,
and prints in how many of them some row is called regressed: at most 5 % on a quiet machine. Times differ by
the machine's own noise only; everything that is counted is equal, and a difference there would be a fault.
Pairs share runs: one that was disturbed is in 20 of them.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import combinations
from pathlib import Path

import benchfw
from benchfw.report.run_comparison import TIMES, compare_runs
from benchfw.store import Store

SUITE = """
title = "The same again"
seed = 1
repetitions = 10
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


def run_again(folder: Path, runs: int) -> Path:
    """Run the suite so many times, nothing reused; return the store."""
    suite, store = folder / "same.toml", folder / "reports" / "benchfw.sqlite"
    suite.write_text(SUITE, encoding="utf-8")
    for _ in range(runs):
        benchfw.run(suite, store=store, fresh=True)
    return store


def regressed(store: Path, runs: int) -> dict[tuple[int, int], list[str]]:
    """Return, for each pair of runs, the quantities that are called regressed."""
    with Store(store) as opened:
        sides = [(opened.run(number), opened.results(number)) for number in range(1, runs + 1)]
    found = {}
    for before, after in combinations(sides, 2):
        rows = compare_runs(before, after, floor=0.05).rows
        found[before[0].id, after[0].id] = [row.quantity for row in rows if row.change.word == "regressed"]
    return found


def main() -> None:
    """Print the share of pairs with a regression, and which pairs they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=21)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        found = regressed(run_again(Path(folder), runs), runs)
    called = {pair: names for pair, names in found.items() if names}
    print(
        f"{len(called)} of {len(found)} pairs called regressed: {len(called) / len(found):.1%} (at most 5 %)"
    )
    for pair, names in called.items():
        print(f"  runs {pair[0]} and {pair[1]}: {', '.join(sorted(set(names)))}")
    counted = [names for names in called.values() if set(names) - TIMES]
    print(f"{len(counted)} of them in something that is no time (must be 0)")


if __name__ == "__main__":
    main()
