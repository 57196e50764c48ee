"""Another revision of the repository one stands in, and suites run on both in turn, trial by trial.

Only what the repository itself provides is replaced: dependencies are those of this environment. Whatever
else the machine does falls on both sides. Every repetition has new worker processes, one a revision:
where the system happens to place a process in memory changes its speed by some per cent, and with one
process a revision that would pass for a change.
"""

from __future__ import annotations

import contextlib
import hashlib
import heapq
import importlib.metadata
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, starmap
from pathlib import Path
from typing import NamedTuple

from benchfw.errors import BenchfwError
from benchfw.harness.agenda import Agenda
from benchfw.harness.environment import total_memory
from benchfw.harness.events import Begun, Event, Finished, Listener, Waiting
from benchfw.harness.options import Options
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.provenance import Project, Run
from benchfw.records import Cell, Ending, Isolation, Outcome, Status, Trial
from benchfw.store import Store
from benchfw.suite import Suite


@dataclass(frozen=True)
class Side:
    """One of the two revisions: its name, its commit as far as known, its plugins, its packages' folders."""

    name: str
    project: Project | None
    plugins: tuple[str, ...]
    overlay: tuple[str, ...] = ()


class Turn(NamedTuple):
    """One trial to run on both sides: of which suite, at which position in it."""

    repetition: int
    suite: int
    position: int


def execute_both(
    agendas: Sequence[Agenda], sides: tuple[Side, Side], store: Store, options: Options, listen: Listener
) -> list[tuple[Run, Run]]:
    """Run all trials of the agendas on both sides; return a run a side for every suite.

    Seconds are CPU seconds, and every outcome has the peak of memory. KeyboardInterrupt goes through,
    after the workers are stopped.
    """
    runs = [tuple(_begin(store, agenda, side) for side in sides) for agenda in agendas]
    counts: Counter[Cell] = Counter()
    for agenda in agendas:
        for _ in sides:
            counts.update(agenda.count_by_cell(agenda.pending))
    with contextlib.ExitStack() as locks:
        for run in (run for both in runs for run in both):
            locks.enter_context(store.hold_run_lock(run))
        listen(Begun(runs[0][0], 0, counts, seconds=agendas[0].suite.budget.seconds))
        for turn, side, event in _events(agendas, sides, options):
            if isinstance(event, Finished):
                store.add(runs[turn.suite][side], turn.position, event.trial, event.outcome)
            listen(event)
            if options.fail_fast and isinstance(event, Finished) and event.outcome.status.faulty:
                break
        else:
            for run in (run for both in runs for run in both):
                store.finish(run)
    return [(store.run(before), store.run(after)) for before, after in runs]


def _begin(store: Store, agenda: Agenda, side: Side) -> int:
    suite = agenda.suite
    environment = replace(agenda.environment, clock="cpu", project=side.project, plugins=side.plugins)
    return store.begin(suite.name, suite.title, suite.text, environment)


def _events(
    agendas: Sequence[Agenda], sides: tuple[Side, Side], options: Options
) -> Iterator[tuple[Turn, int, Event]]:
    """Yield turn, side and event; the sides change places from one repetition to the next."""
    turns = heapq.merge(*starmap(_turns, enumerate(agendas)), key=lambda turn: turn[:2])
    absent = [agenda.environment.absent_backends for agenda in agendas]
    for repetition, group in groupby(turns, key=lambda turn: turn.repetition):
        with contextlib.ExitStack() as stack:
            executors: dict[tuple[int, Isolation, float | None], LocalExecutor] = {}
            for turn in group:
                for side in (0, 1) if repetition % 2 == 0 else (1, 0):
                    trial = _for_side(agendas[turn.suite].trials[turn.position], sides[side])
                    reason = absent[turn.suite].get(trial.backend)
                    if reason is not None:
                        yield turn, side, Finished(trial, Outcome(Status.SKIPPED, Ending.ABSENT, reason))
                        continue
                    terms = _terms(agendas[turn.suite].suite, options)
                    if (side, *terms) not in executors:
                        executor = _executor(sides[side], *terms, options)
                        executors[side, *terms] = stack.enter_context(contextlib.closing(executor))
                    for event in executors[side, *terms].run([trial]):
                        if not isinstance(event, Waiting):
                            yield turn, side, event


def _turns(suite: int, agenda: Agenda) -> Iterator[Turn]:
    pending = agenda.pending
    for position, repetition in zip(pending.data, agenda.repetitions(pending).data, strict=True):
        yield Turn(repetition, suite, position)


def _terms(suite: Suite, options: Options) -> tuple[Isolation, float | None]:
    """Return what keeps the trials of a suite apart, and the seconds after which one is ended."""
    return options.isolation_of(suite.isolation), options.timeout_of(suite.budget)


def _executor(side: Side, isolation: Isolation, timeout: float | None, options: Options) -> LocalExecutor:
    return LocalExecutor(
        side.plugins,
        threads=options.threads,
        timeout=timeout,
        memory=options.memory or total_memory() // 2,
        overlay=side.overlay,
        resources=True,
        isolation=isolation,
    )


def _for_side(trial: Trial, side: Side) -> Trial:
    """Return a trial with a key of its own: no other run may take over CPU seconds, or another revision's."""
    return replace(trial, key=hashlib.sha256(f"{side.name} {trial.key}".encode()).hexdigest())


@dataclass(frozen=True)
class Revision:
    """A commit, the folder of its files, that of its packages, and the repository that they come from."""

    commit: str
    tree: Path
    packages: Path
    repository: Path

    def sources(self, plugins: Iterable[str]) -> tuple[str, ...]:
        """Return plugins as this revision has them: a file of the repository is taken from the tree."""
        found = []
        for plugin in plugins:
            path = Path(plugin).resolve()
            if path.is_file() and path.is_relative_to(self.repository):
                path = self.tree / path.relative_to(self.repository)
                found += [str(path)] if path.is_file() else []
            else:
                found.append(plugin)
        return tuple(found)


@contextlib.contextmanager
def check_out(name: str) -> Iterator[Revision]:
    """Yield a revision; its worktree and its packages are removed in the end, also after an interruption."""
    repository = Path(_git("rev-parse", "--show-toplevel"))
    commit = _commit(name)
    with tempfile.TemporaryDirectory(prefix="benchfw-against-") as folder:
        tree, packages = Path(folder, "tree"), Path(folder, "packages")
        packages.mkdir()
        try:
            _git("worktree", "add", "--detach", str(tree), commit)
            _install(_projects(tree), packages)
            yield Revision(commit, tree, packages, repository)
        finally:
            with contextlib.suppress(BenchfwError):  # not there yet
                _git("worktree", "remove", "--force", str(tree))


def _commit(name: str) -> str:
    done = _call(["git", "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"])
    if done.returncode:
        raise BenchfwError(f"--against {name}: unknown revision; give a commit, a branch or a tag")
    return done.stdout.strip()


def _projects(tree: Path) -> list[Path]:
    """Return the folders of all projects in a tree that are installed in this environment too."""
    listed = _git(
        "-C", str(tree), "ls-files", "-z", ":(glob)**/pyproject.toml"
    )  # without -z names are quoted
    files = [tree / name for name in listed.split("\0") if name]
    return [file.parent for file in files if _is_installed(_project_name(file))]


def _project_name(file: Path) -> str:
    try:
        return str(tomllib.loads(file.read_text(encoding="utf-8"))["project"]["name"])
    except (OSError, KeyError, TypeError, ValueError):
        return ""


def _is_installed(name: str) -> bool:
    try:
        return bool(name) and importlib.metadata.distribution(name) is not None
    except importlib.metadata.PackageNotFoundError:
        return False


def _install(projects: Sequence[Path], folder: Path) -> None:
    """Install projects without their dependencies; what builds them is taken from here if it is here."""
    if not projects:
        return
    words = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--target", str(folder)]
    for isolated in (["--no-build-isolation"], []):
        done = _call([sys.executable, "-m", "pip", *words, *isolated, *map(str, projects)])
        if done.returncode == 0:
            return
    raise BenchfwError(f"--against: the revision cannot be installed: {_last_line(done.stderr)}")


def _git(*words: str) -> str:
    try:
        done = _call(["git", *words])
    except OSError as fault:
        raise BenchfwError(f"--against needs git, which could not be started ({fault})") from None
    if done.returncode:
        raise BenchfwError(f"--against: git {words[0]} failed: {_last_line(done.stderr)}")
    return done.stdout.removesuffix("\n")


def _last_line(text: str) -> str:
    return (text.strip().splitlines() or ["nothing"])[-1]


def _call(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    # in a session of its own: Ctrl-C ends this process, which then removes what these have made
    return subprocess.run(
        words,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",  # as in every file name
        check=False,
        start_new_session=True,
    )
