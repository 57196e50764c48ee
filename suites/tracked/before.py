"""This tree beside the code before it was made smaller: what a trial, reports, a large run and start-up take.

`python suites/tracked/before.py` checks the old revision out into a folder of its own, which is removed
afterwards, and measures both in turn with the functions of the scripts beside this one: the ratio in a row is
the median over rounds, each of which has measured both. The old revision runs with its own plugins, found by
the metadata of the installed ones. `--only WORD` takes the rows that have the word in their names, `--to
suites/tracked/measured` stores the table, in which rows that were not measured stay.
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import report_size
import run_size
import startup
from _measured import Table, Value, load_table, store_table
from _timing import add_folder_option
from overhead import overhead

BEFORE = "14dbc53e"
ROOT = Path(__file__).parents[2]
SIDES = "before", "now"
SHAPES = ("10 methods x 5,000 repetitions", "1,000 cells: 50 methods x 20 problems")
COMMANDS = ("--help", "list", "runs")
TRIALS = 1_000  # that do nothing, for the cost of one
WRITE = (
    "import sys; from pathlib import Path; import report_size as r; r.write_store(Path({!r}), r.Shape(*{}))"
)

Measured = Mapping[str, float]


@contextmanager
def old_tree() -> Iterator[Path]:
    """Check the old revision out."""
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder, "tree")
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), BEFORE], check=True)
        try:
            _empty_newer_packages(tree)
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def _empty_newer_packages(tree: Path) -> None:
    """Give the old revision an empty module for each installed package that it cannot load."""
    for package in (ROOT / "plugins").iterdir():
        if not (tree / "plugins" / package.name).exists():
            (tree / f"{package.name.replace('-', '_')}.py").touch()


@contextmanager
def packages_of(tree: Path) -> Iterator[None]:
    """Let the processes that are started meanwhile import benchfw and its families from a tree."""
    known = os.environ.get("PYTHONPATH")
    plugins = sorted(path for path in (tree / "plugins").iterdir() if path.is_dir())
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (tree, *plugins, Path(__file__).parent)))
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH")
        if known is not None:
            os.environ["PYTHONPATH"] = known


def idle_trial() -> Measured:
    """Return what a trial costs that does nothing, in a process of its own."""
    return {"a trial that does nothing, ms of CPU": overhead(TRIALS, 1, "--json")[0]}


def a_report(shape: str) -> Measured:
    """Return what the report of a run of that shape takes; the tree's own store is written before."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder, "reports", "benchfw.sqlite")
        code = WRITE.format(str(store), tuple(report_size.SHAPES[shape]))
        subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)
        used = report_size.report(Path(folder))
    name = f"report, {shape.rpartition(': ')[2]}"
    return {f"{name}: s of CPU": used.cpu, f"{name}: MB": used.memory / 1e6}


def large_run(trials: int) -> Measured:
    """Return what the parent of a run of that many trials needs."""
    used, name = run_size.measure(trials), f"the parent of {trials:,} trials: MB"
    return {f"{name} while they run": used.running, f"{name} with the summary": used.whole}


def start_up(rounds: int) -> Measured:
    """Return how long commands take, in times of importing click, pluggy and numpy."""
    return {
        f"benchfw {name}, imports of numpy": ratio for name, ratio in startup.ratios(COMMANDS, rounds).items()
    }


def compare(
    measure: Callable[[], Measured], trees: Mapping[str, Path], rounds: int
) -> list[tuple[Value, ...]]:
    """Return a row for each quantity: medians of both sides, and the median ratio."""
    found: dict[str, list[Measured]] = {side: [] for side in SIDES}
    for number in range(rounds):
        for side in SIDES if number % 2 else SIDES[::-1]:
            with packages_of(trees[side]):
                found[side].append(measure())
    rows: list[tuple[Value, ...]] = []
    for name in found["now"][0]:
        before, now = ([each[name] for each in found[side]] for side in SIDES)
        ratio = statistics.median(new / old for new, old in zip(now, before, strict=True))
        rows.append((name, statistics.median(before), statistics.median(now), ratio))
        print(f"{name:<64}{rows[-1][1]:>10.3g}{rows[-1][2]:>10.3g}{ratio:>8.2f}", flush=True)
    return rows


def main() -> None:
    """Print a row for each quantity."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=100_000, help="of the run whose memory is read")
    parser.add_argument("--only", default="", help="rows whose name has this in it")
    add_folder_option(parser)
    asked = parser.parse_args()
    cases: dict[str, tuple[Callable[[], Measured], int]] = {
        "a trial that does nothing": (idle_trial, asked.rounds),
        **{f"report, {shape}": (lambda shape=shape: a_report(shape), asked.rounds) for shape in SHAPES},
        "the parent of many trials": (lambda: large_run(asked.trials), 1),
        "benchfw commands": (lambda: start_up(asked.rounds), 3),
    }
    rows: list[tuple[Value, ...]] = []
    print(f"{'quantity':<64}{'before':>10}{'now':>10}{'ratio':>8}")
    with old_tree() as tree:
        for path in (base / name for base in (tree, ROOT) for name in ("benchfw", "plugins")):
            compileall.compile_dir(path, quiet=2)  # else the first run of a tree pays for it
        for name, (measure, rounds) in cases.items():
            if asked.only in name:
                rows += compare(measure, {"before": tree, "now": ROOT}, rounds)
    if asked.to is not None:
        stored = asked.to / "before.json"
        measured = {row[0] for row in rows}
        others = load_table(stored).rows if stored.exists() else []
        rows += [tuple(row) for row in others if row[0] not in measured]
        table = Table(f"Before ({BEFORE}) and now", ("quantity", "before", "now", "ratio"), rows)
        store_table(asked.to, "before", table)


if __name__ == "__main__":
    main()
