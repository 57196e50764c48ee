"""A drill of what must not pass from one trial to another: old results, and what a method leaves behind.

`make drill` runs it after the kills. Edits: a project of a plugin, helpers and data is edited at random, a
constant or a comment in one of its files or of benchfw's own, or a variable; after each edit the records must
be those of a new store, and after a comment nothing may run. Leftovers: methods that leave random state
behind run among others, whose records must be those that they have alone, under either isolation.
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import benchfw

PLUGIN = '''
import importlib, json, os
from dataclasses import dataclass
from pathlib import Path
import helper
from benchfw import CountedProblem, Problem, hookimpl
SHIFT = 1.0

class Plain(CountedProblem):
    """An answer is a number, and that is what is measured."""
    def __init__(self, backend, rng):
        self.backend = backend
    def metrics(self, answer):
        return {"found": answer}

@dataclass(frozen=True)
class Sum:
    """Adds what lies in its files."""
    solves = Problem
    def run(self, problem, rng):
        yield 0.0
        problem.charge(1)
        computed = importlib.import_module("late" + "_helper")
        table = json.loads((Path(__file__).parent / "table.json").read_text())
        yield SHIFT + helper.VALUE + computed.VALUE + table["value"] + float(os.environ.get("DRILL_VALUE", 0))

@hookimpl
def register_problems(register):
    register("plain", Plain)

@hookimpl
def register_optimizers(register):
    register("sum", Sum)
'''
FILES = {
    "plugin.py": PLUGIN,
    "helper.py": "from deeper import DEEP\nVALUE = 1.0 + DEEP\n",
    "deeper.py": "DEEP = 1.0\n",
    "late_helper.py": "VALUE = 1.0\n",
    "table.json": '{"value": 1.0}\n',
}
HEAD = """
plugins = ["{plugin}"]
repetitions = 2
budget = {{ iterations = 1 }}
[[problem]]
use = "{problem}"
"""
SUM = HEAD.format(plugin="plugin.py", problem="plain") + '[[optimizer]]\nuse = "sum"\n'
MESSY = Path(__file__).parents[2] / "tests" / "plugins" / "messy.py"
MESS = (
    "folder",
    "variable",
    "thread",
    "errors",
    "warnings",
    "recursion",
    "limit",
    "alarm",
    "patch",
    "process",
)
OWN = (
    "measure/meter.py",
    "measure/trial.py",
    "data/split.py",
    "kernels/blocks.py",
    "contract.py",
    "registry/registry.py",
)


class Failure(Exception):
    """Something that must hold does not."""


class Project:
    """A folder with a suite, its plugin, and a copy of benchfw."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.variables: dict[str, str] = {}

    def write(self, files: dict[str, str]) -> None:
        """Write files into the folder."""
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def run(self, suite: str, store: str, *words: str) -> str:
        """Run a suite; return what is printed."""
        path = os.pathsep.join([str(self.folder / "own"), str(self.folder)])
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "benchfw",
                "run",
                suite,
                "--no-report",
                "--no-replay",
                "--store",
                store,
                *words,
            ],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": path, **self.variables},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        if done.returncode:
            raise Failure(f"{suite} ended with {done.returncode}: {done.stderr[-800:]}")
        return done.stdout + done.stderr

    def found(self, store: str, method: str = "") -> list[tuple[str, ...]]:
        """Return the records of the last run without times."""
        words = [sys.executable, "-m", "benchfw", "export", "last", "--store", store]
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=60, check=True)
        rows = [row for row in csv.DictReader(done.stdout.splitlines()) if row["method"].startswith(method)]
        return [
            tuple(row[each] for each in ("method", "repetition", "iteration", "cost", "value"))
            for row in rows
        ]


def edit(project: Project, rng: random.Random) -> tuple[str, bool]:
    """Change something at random; return what, and whether it is only a comment."""
    kind = rng.choice(("constant", "constant", "comment", "own", "own comment", "variable"))
    if kind == "variable":
        project.variables["DRILL_VALUE"] = str(rng.randrange(1000))
        return "the variable DRILL_VALUE", False
    if kind.startswith("own"):
        path = project.folder / "own" / "benchfw" / rng.choice(OWN)
        line = f"# {rng.random()}" if kind == "own comment" else f"_DRILL = {rng.random()}"
        path.write_text(f"{path.read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
        return f"{kind} in {path.name}", kind == "own comment"
    names = [name for name in FILES if kind == "constant" or name.endswith(".py")]
    path = project.folder / rng.choice(names)
    text = path.read_text(encoding="utf-8")
    if kind == "comment":
        path.write_text(f"{text}# {rng.random()}\n", encoding="utf-8")
        return f"a comment in {path.name}", True
    value = f"{rng.randrange(1000)}.5"
    if path.suffix == ".json":
        path.write_text(f'{{"value": {value}}}\n', encoding="utf-8")
    else:
        name = next(each for each in ("SHIFT", "DEEP", "VALUE") if f"{each} = " in text)
        path.write_text(text.replace(f"{name} = ", f"{name} = {value} + ", 1), encoding="utf-8")
    return f"a constant in {path.name}", False


def drill_edits(folder: Path, rng: random.Random, times: int, ends: float) -> int:
    """Edit and run that often; return how often the time allowed."""
    project = Project(folder)
    project.write({**FILES, "sum.toml": SUM})
    shutil.copytree(Path(benchfw.__file__).parent, folder / "own" / "benchfw")
    project.run("sum.toml", "store.sqlite")
    for number in range(times):
        if time.monotonic() > ends:
            return number
        before = project.found("store.sqlite")
        what, only_comment = edit(project, rng)
        said = project.run("sum.toml", "store.sqlite")
        fresh = f"fresh-{number}.sqlite"
        project.run("sum.toml", fresh)
        if project.found("store.sqlite") != project.found(fresh):
            raise Failure(f"after {what} an old result was served")
        if only_comment and "nothing was run" not in said:
            raise Failure(f"after {what} trials ran again though nothing was changed: {said[-300:]}")
        if not only_comment and "nothing was run" in said and project.found(fresh) != before:
            raise Failure(f"after {what} nothing was run")
        (folder / fresh).unlink()
    return times


def drill_leftovers(folder: Path, rng: random.Random, times: int, ends: float) -> int:
    """Run methods among others that leave random state behind; return how often the time allowed."""
    project = Project(folder)
    shutil.copy(MESSY, folder)
    head = HEAD.format(plugin="messy.py", problem="point")
    # a plugin's own globals are not seen in a worker: what others count and cache is in its trials
    witnesses = {"trial": ("count", "cached", "look"), "worker": ("look",)}
    project.write({"alone.toml": head + _use(witnesses["trial"])})
    project.run("alone.toml", "alone.sqlite")
    for number in range(times):
        if time.monotonic() > ends:
            return number
        mess = rng.sample(MESS, rng.randrange(1, 6))
        isolation = rng.choice(("trial", "trial", "worker"))
        leave = "".join(f'[[optimizer]]\nuse = "leave"\nwhat = "{each}"\n' for each in mess)
        among = f"seed = {rng.randrange(99)}\n{head}{leave}{_use(witnesses[isolation])}"
        project.write({"among.toml": among})
        jobs = str(rng.randrange(1, 3))
        project.run("among.toml", "among.sqlite", "--isolation", isolation, "--jobs", jobs)
        for method in witnesses[isolation]:
            if project.found("among.sqlite", method) != project.found("alone.sqlite", method):
                raise Failure(
                    f"{method} is not what it is alone, among {', '.join(mess)} (isolation by {isolation})"
                )
    return times


def _use(methods: tuple[str, ...]) -> str:
    return f"[[optimizer]]\nuse = {list(methods)}\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=60, help="edits, and runs among leftovers")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=300.0, help="of either, at most")
    asked = parser.parse_args()
    print(f"seed {asked.seed}")
    for drill in (drill_edits, drill_leftovers):
        with tempfile.TemporaryDirectory() as name:
            generator = random.Random(asked.seed)
            done = drill(Path(name), generator, asked.times, time.monotonic() + asked.seconds)
            print(f"{drill.__name__.replace('_', ' ')}: {done} of {asked.times} passed")
