"""A drill: runs that are killed with SIGKILL at a random moment and taken up again until they are done.

`make drill` runs a suite of 40 trials a hundred times, and each time kills the parent, the worker or the
supervisor between them. In the end each store must hold exactly 40 finished trials with the records of an
undisturbed run, times apart, pass its check, and no process may be left. It prints how many kills landed
where. Only on Linux, whose /proc tells processes by their environment.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchfw.store import Store
from benchfw.store.damage import check
from benchfw.summary.exports import RECORD_COLUMNS, record_rows

TRIALS = 40
MARK = "BENCHFW_DRILL"
PATIENCE = 10.0  # seconds that processes may take to end after their parent was killed
RESUMPTIONS = 5
VARYING = {"run", "trial", "seconds", "cpu_seconds"}
TIMELESS = [RECORD_COLUMNS.index(name) for name in RECORD_COLUMNS if name not in VARYING]

SUITE = """
seed = 11
repetitions = 10
plugins = ["walk.py"]
budget = { iterations = 30 }
[[problem]]
use = "plain"
[[optimizer]]
use = "walk"
step = [0.1, 0.2, 0.3, 0.4]
"""
PLUGIN = '''
import time
from dataclasses import dataclass
from benchfw import CountedProblem, Problem, hookimpl

class Plain(CountedProblem):
    """The squared distance from nought."""
    def __init__(self, backend, rng):
        self.backend = backend
    def metrics(self, answer):
        return {"gap": float(answer @ answer)}

@dataclass(frozen=True)
class Walk:
    """A random walk that takes its time."""
    step: float = 0.1
    solves = Problem
    def run(self, problem, rng):
        answer = rng.standard_normal(5)
        while True:
            yield answer
            time.sleep(1e-3)
            problem.charge(1)
            answer = answer - self.step * answer + 0.1 * rng.standard_normal(5)

@hookimpl
def register_problems(register):
    register("plain", Plain)

@hookimpl
def register_optimizers(register):
    register("walk", Walk)
'''


class Failure(Exception):
    """Something that must hold does not."""


@dataclass(frozen=True)
class Run:
    """A suite in a folder of its own, started as often as needed."""

    folder: Path
    mark: str

    def start(self) -> subprocess.Popen[bytes]:
        """Start or resume it."""
        words = ["run", "walk.toml", "--no-report", "--json", "--retry-failed", "--events", "events"]
        with (self.folder / "errors").open("ab") as errors:
            return subprocess.Popen(
                [sys.executable, "-m", "benchfw", *words, "--store", "store.sqlite"],
                cwd=self.folder,
                env={**os.environ, MARK: self.mark},
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    @property
    def store(self) -> Path:
        """Where its trials are kept."""
        return self.folder / "store.sqlite"

    def records(self) -> list[tuple[Any, ...]]:
        """Return the records of the last run without their times."""
        with Store(self.store) as store:
            last = store.run("last")
            rows = list(record_rows(last, store.results(last.id)))
        return [tuple(row[place] for place in TIMELESS) for row in rows]

    def processes(self) -> dict[str, int]:
        """Return the running processes by their part: parent, supervisor or worker."""
        found = {}
        for path in Path("/proc").glob("[0-9]*"):
            try:
                if f"{MARK}={self.mark}".encode() not in (path / "environ").read_bytes():
                    continue
                state, above = (path / "stat").read_text().rpartition(")")[2].split()[:2]
                supervisor = b"workers.supervisor" in (path / "cmdline").read_bytes()
                child = supervisor and b"workers.supervisor" in Path("/proc", above, "cmdline").read_bytes()
            except OSError:
                continue  # ended meanwhile
            if state != "Z":
                found["worker" if child else "supervisor" if supervisor else "parent"] = int(path.name)
        return found

    def phase(self) -> str:
        """Return how far it is."""
        events = self.folder / "events"
        text = events.read_text(encoding="utf-8") if events.exists() else ""
        if '"started"' not in text:
            return "before the first trial"
        return "during a trial" if text.count('"finished"') < TRIALS else "after the last trial"


def new_run(folder: Path) -> Run:
    """Write the suite into a folder."""
    folder.mkdir()
    (folder / "walk.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "walk.toml").write_text(SUITE, encoding="utf-8")
    return Run(folder, uuid.uuid4().hex)


def killed_once(run: Run, victim: str, moment: float) -> str:
    """Start the run, kill a part of it so long after it began, resume until done; return what was hit."""
    process = run.start()
    while victim != "parent" and process.poll() is None and victim not in run.processes():
        time.sleep(0.01)
    time.sleep(moment)
    parts = run.processes()
    part = victim if victim in parts else "parent"
    phase = run.phase()
    if part in parts:
        with contextlib.suppress(ProcessLookupError):  # the process of a trial may have ended just now
            os.kill(parts[part], signal.SIGKILL)
    where = f"{part}, {phase}" if part in parts else "nobody: it was over"
    if part == "parent":
        _wait_for_silence(run)
    process.wait(60)
    for _ in range(RESUMPTIONS):
        if run.start().wait(120) == 0:
            return where
    raise Failure(f"after a kill of {where} it does not end: {(run.folder / 'errors').read_text()[-500:]}")


def _wait_for_silence(run: Run) -> None:
    deadline = time.monotonic() + PATIENCE
    while left := {name for name in run.processes() if name != "parent"}:
        if time.monotonic() > deadline:
            raise Failure(f"{PATIENCE:g} s after its parent was killed the {' and '.join(left)} still runs")
        time.sleep(0.02)


def verify(run: Run, reference: list[tuple[Any, ...]]) -> None:
    """Raise Failure unless all is as in an undisturbed run."""
    found = check(run.store)
    if found.damage:
        raise Failure(f"the store is damaged: {found.damage[0]}")
    with Store(run.store) as store:
        last = store.run("last")
        results = store.results(last.id)
        sound = [r.id for each in store.runs() for r in store.results(each.id) if not r.outcome.status.faulty]
    if last.counts != {"done": TRIALS} or len({each.trial.key for each in results}) != TRIALS:
        raise Failure(f"the last run holds {dict(last.counts)}")
    if len(set(sound)) != TRIALS:
        raise Failure(f"{len(set(sound))} trials were finished, some of them twice")
    if run.records() != reference:
        raise Failure("its records are not those of an undisturbed run")
    if run.processes():
        raise Failure(f"left behind: {run.processes()}")


def drill(kills: int, seed: int, seconds: float) -> Counter[str]:
    """Do it that often, two at a time, until the time is up; return how often each place was hit."""
    rng = random.Random(seed)
    ends = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as name:
        calm = new_run(Path(name, "calm"))
        began = time.monotonic()
        calm.start().wait(120)
        length = time.monotonic() - began
        reference = calm.records()
        verify(calm, reference)

        def once(number: int, victim: str, share: float) -> str:
            if time.monotonic() > ends:
                return "not done: the time was up"
            run = new_run(Path(name, str(number)))
            # a worker lives for about the second half of a run
            where = killed_once(run, victim, share * (length if victim == "parent" else length / 2))
            verify(run, reference)
            return where

        victims = [rng.choice(("parent", "supervisor", "worker")) for _ in range(kills)]
        shares = [rng.random() for _ in range(kills)]
        with ThreadPoolExecutor(2) as pool:
            return Counter(pool.map(once, range(kills), victims, shares))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--seconds", type=float, default=570.0, help="begin no further run after so long")
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}")
    hits = drill(arguments.kills, arguments.seed, arguments.seconds)
    for place, count in hits.most_common():
        print(f"{count:4d}  {place}")
    missed = sum(count for place, count in hits.items() if place.startswith("not done"))
    print(f"{arguments.kills - missed} of {arguments.kills} drills passed")
    sys.exit(1 if missed else 0)
