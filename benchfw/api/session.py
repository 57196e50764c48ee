"""`benchfw.run`, `benchfw.load` and `benchfw.runs`: suites from Python."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, overload

from benchfw.api.arguments import as_bytes, as_folder, as_names, as_path, faults_in_python
from benchfw.api.planning import Planned, bring_data, plan_suite, plan_tables
from benchfw.api.result import MOST_LINES, RunResult
from benchfw.api.running import execute_planned, find_cluster
from benchfw.api.watching import watch_run
from benchfw.backends.threads import default_threads
from benchfw.errors import BenchfwError
from benchfw.harness.events import Begun, Told
from benchfw.harness.options import Options
from benchfw.provenance import DEFAULT_STORE, Changes, Run
from benchfw.report.text import plural, printable
from benchfw.store import Store


@faults_in_python()
def run(
    suite: str | Path | Mapping[str, Any],
    *,
    store: str | Path = DEFAULT_STORE,
    plugins: str | Sequence[str] = (),
    only: str | None = None,
    backends: str | Sequence[str] = (),
    repetitions: int | None = None,
    quick: bool = False,
    jobs: int = 1,
    threads: int | None = None,
    timeout: float | None = None,
    memory: int | str | None = None,
    isolation: Literal["trial", "worker"] | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    fail_fast: bool = False,
    keep: str | Path | None = None,
    replay: bool = True,
    executor: str | None = None,
    progress: bool | None = None,
) -> RunResult:
    """Run a suite, given as a dict, a path or a name, and return what it found.

    A dict holds what a suite file would: `{"problem": [{"use": "quadratic"}], "optimizer": [{"use": "gd"}]}`.
    The keywords are the options of `benchfw run`; `memory` is in bytes or a size such as "2GB", `timeout` in
    seconds, `executor` what runs trials elsewhere, NAME or NAME:ADDRESS. `progress` shows how far the run is:
    by default in a notebook and in a terminal. Trials that the store has are not run again.
    """
    options = Options(
        jobs=jobs,
        threads=default_threads() if threads is None else threads,
        timeout=timeout,
        memory=as_bytes(memory, "memory"),
        isolation=isolation,
        fresh=fresh,
        retry_failed=retry_failed,
        fail_fast=fail_fast,
        keep_in=as_folder(keep, "keep"),
        replay=replay,
    )
    names = as_names(plugins, "plugins")
    changes = Changes(only, as_names(backends, "backends"), repetitions, quick)
    if isinstance(suite, Mapping):
        planned = plan_tables(suite, names, changes)
    elif isinstance(suite, str | Path):
        planned = plan_suite(suite, names, changes)
    else:
        raise BenchfwError(f"suite must be a dict, a path or a name, got {type(suite).__name__}")
    return run_with_progress(planned, as_path(store, "store"), options, executor, progress)


def run_with_progress(
    planned: Planned, store: Path, options: Options, executor: str | None, progress: bool | None
) -> RunResult:
    """Run a planned suite, and show how far it is."""
    if progress is not None and not isinstance(progress, bool):
        raise BenchfwError(f"progress must be True, False or None, got {progress!r}")
    cluster = find_cluster(executor, planned.registry, options, _print_note)
    options = replace(options, cluster=cluster)
    bring_data(planned)
    begun: list[int] = []
    try:
        with (
            cluster or contextlib.nullcontext(),
            watch_run(planned.suite.title, progress, live=options.jobs > 0) as show,
        ):

            def listen(event: Told) -> None:
                if isinstance(event, Begun):
                    begun.append(event.run)
                show(event)

            with Store(store, create=True) as opened:
                done = execute_planned(planned, opened, options, listen)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(_describe_interruption(store, begun)) from None
    return RunResult(done, planned.registry)


def _print_note(line: str) -> None:
    print(f"benchfw: {line}", file=sys.stderr)


def _describe_interruption(store: Path, begun: Sequence[int]) -> str:
    if not begun:
        return "interrupted before anything ran"
    with Store(store) as opened:
        kept = opened.run(begun[0]).ended
    return f"interrupted; {plural(kept, 'finished trial')} kept, the same call continues from there"


@faults_in_python()
def load(run: Run | RunResult | int | str = "last", store: str | Path = DEFAULT_STORE) -> RunResult:
    """Return what a stored run found; `run` is its number, or "last" for the newest."""
    if isinstance(run, Run | RunResult):
        found = run.run if isinstance(run, RunResult) else run
        store, run = found.store, found.id
    if not isinstance(run, int | str) or isinstance(run, bool):
        raise BenchfwError(f'run must be the number of a run or "last", got {type(run).__name__}')
    with Store(as_path(store, "store")) as opened:
        return RunResult(opened.run(run))


@faults_in_python()
def runs(store: str | Path = DEFAULT_STORE) -> RunResults:
    """Return all runs of a store, the oldest first."""
    path = as_path(store, "store")
    with Store(path) as opened:
        return RunResults([RunResult(each) for each in opened.runs()], path)


class RunResults(Sequence[RunResult]):
    """The runs of a store, the oldest first."""

    def __init__(self, results: Sequence[RunResult], store: Path) -> None:
        self._results, self._store = tuple(results), store

    @overload
    def __getitem__(self, index: int) -> RunResult: ...
    @overload
    def __getitem__(self, index: slice) -> RunResults: ...
    def __getitem__(self, index: int | slice) -> RunResult | RunResults:
        if isinstance(index, slice):
            return RunResults(self._results[index], self._store)
        return self._results[index]

    def __len__(self) -> int:
        return len(self._results)

    def __repr__(self) -> str:
        if not self:
            return f"no runs in {self._store}"
        shown = self._results[-(MOST_LINES - 1) :]
        left = len(self) - len(shown)
        first = [f"… {left} earlier runs"] if left else []
        return "\n".join([*first, *("  ".join(map(printable, _run_cells(each.run))) for each in shown)])

    def _repr_html_(self) -> str:
        from benchfw.report.cell import render_runs

        return render_runs([_run_cells(each.run) for each in self._results])


def _run_cells(run: Run) -> tuple[str, ...]:
    ends = ", ".join(f"{count} {status}" for status, count in run.counts.items())
    return f"run {run.id}", run.started[:16].replace("T", " "), run.title or run.suite, run.standing or ends
