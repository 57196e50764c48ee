"""One store file, opened.

A trial and all its records enter in one transaction. Trials are shared between runs: a run links to the
trials it asked for, under the labels of its own suite.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from benchfw.errors import StoreError
from benchfw.records import SCHEMA_VERSION, Outcome, Record, Result, Run, Status, Trial
from benchfw.store.going import is_going
from benchfw.store.rows import now, record_of, result_of, storable, trial_row
from benchfw.store.schema import (
    APPLICATION_ID,
    COUNT_ENDINGS,
    INSERT_LINK,
    INSERT_RECORD,
    INSERT_RUN,
    INSERT_TRIAL,
    MARKS,
    SCHEMA,
    SELECT_KNOWN,
    SELECT_RECORDS,
    SELECT_RUNS,
    SELECT_TRIAL,
    SELECT_TRIAL_RECORDS,
)

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 30.0  # seconds to wait for another process that writes


def told(method: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Turn what SQLite refuses, such as a locked store or a full disk, into an error of ours."""

    @functools.wraps(method)
    def guarded(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except sqlite3.Error as fault:
            raise StoreError(
                f"{self.path}: {fault}; close what else uses the store, make room, or give another by --store"
            ) from fault

    return guarded


def _connect(path: Path, *, create: bool) -> sqlite3.Connection:
    """Return an open store that is one; a new one is made in one transaction, however many do so at once."""
    base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
    with contextlib.ExitStack() as refused:
        refused.callback(base.close)
        try:
            if create:
                base.execute("BEGIN IMMEDIATE")
                if not base.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]:
                    for statement in (*MARKS, *SCHEMA.split(";")):
                        base.execute(statement)
                _check(base, path)
                base.execute("COMMIT")
                _patiently(base, "PRAGMA journal_mode = WAL")
                base.execute("PRAGMA synchronous = NORMAL")
            else:
                _check(base, path)
        except sqlite3.OperationalError:
            if create:
                raise
            # on a medium that cannot be written SQLite reads a file only if told that nobody else writes it
            base = sqlite3.connect(f"{path.resolve().as_uri()}?immutable=1", uri=True)
            refused.callback(base.close)
            _check(base, path)
        refused.pop_all()
    return base


def _check(base: sqlite3.Connection, path: Path) -> None:
    if base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreError(f"{path} is a database, but no benchfw store; give another file by --store")
    version = base.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} has schema {version} and this benchfw reads up to {SCHEMA_VERSION}; "
            "upgrade benchfw or give another file by --store"
        )


def _patiently(base: sqlite3.Connection, statement: str) -> None:
    """Execute what SQLite refuses at once, without waiting, while another process does the same."""
    ends = monotonic() + PATIENCE
    while True:
        try:
            base.execute(statement)
        except sqlite3.OperationalError:
            if monotonic() > ends:
                raise
            sleep(0.01)
        else:
            return


class Store:
    """One store file, opened; use it as a context manager."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        try:
            if not create and not (path.exists() and path.stat().st_size):
                raise StoreError(f"no store at {path}; `benchfw run` makes one, or give --store")
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._base = _connect(path, create=create)
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(f"{path} cannot be used as a store ({fault}); give another by --store") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was added is on disk already."""
        self._base.close()

    @told
    def begin(self, suite: str, title: str, text: str, environment: Mapping[str, Any]) -> int:
        """Start a run and return its id."""
        values = (*map(storable, (suite, title, text)), json.dumps(environment), now())
        cursor = self._base.execute(INSERT_RUN, values)
        return int(cursor.lastrowid or 0)

    @told
    def finish(self, run: int) -> None:
        """Mark a run as finished."""
        self._base.execute("UPDATE run SET finished = ? WHERE id = ?", (now(), run))

    @told
    def known(self, keys: Iterable[str]) -> dict[str, tuple[int, Status]]:
        """Return id and status of the newest trial of each key that is here, a sound one before a faulty one.

        Skipped ones do not count.
        """
        wanted = set(keys)
        found: dict[str, tuple[int, Status]] = {}
        for key, number, name in self._base.execute(SELECT_KNOWN, (Status.SKIPPED,)):
            status = Status(name)
            if key in wanted and not (status.faulty and key in found and not found[key][1].faulty):
                found[key] = number, status
        return found

    @told
    def add(self, run: int, position: int, trial: Trial, outcome: Outcome) -> int:
        """Keep a finished trial with its records, in one transaction; return its id."""
        with self._transaction():
            cursor = self._base.execute(INSERT_TRIAL, trial_row(trial, outcome))
            number = int(cursor.lastrowid or 0)
            self._base.executemany(
                INSERT_RECORD,
                (
                    (number, index, each.metric, each.iteration, each.seconds, each.cost, each.value)
                    for index, each in enumerate(outcome.records)
                ),
            )
            self._link(run, [(position, trial, number, False)])
        return number

    @told
    def reuse(self, run: int, found: Sequence[tuple[int, Trial, int]]) -> None:
        """Link a run to trials that were here before: (position, trial, id)."""
        with self._transaction():
            self._link(run, [(position, trial, number, True) for position, trial, number in found])
            self._base.execute("UPDATE run SET reused = ? WHERE id = ?", (len(found), run))

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                self._base.execute("ROLLBACK")
            raise

    def _link(self, run: int, links: Iterable[tuple[int, Trial, int, bool]]) -> None:
        self._base.executemany(
            INSERT_LINK,
            (
                (run, position, number, storable(trial.problem.label), storable(trial.method.label), reused)
                for position, trial, number, reused in links
            ),
        )

    @told
    def runs(self) -> list[Run]:
        """Return all runs, the oldest first."""
        counts: dict[int, dict[str, int]] = {}
        for run, status, number in self._base.execute(COUNT_ENDINGS):
            counts.setdefault(run, {})[status] = number
        rows = self._base.execute(SELECT_RUNS)
        return [
            Run(
                id=number, suite=suite, title=title, store=self.path, started=started, finished=finished,
                going=not finished and is_going(self.path, number), counts=counts.get(number, {}),
                reused=reused, text=text, environment=json.loads(environment),
            )
            for number, suite, title, started, finished, reused, text, environment in rows
        ]  # fmt: skip

    def run(self, name: str | int) -> Run:
        """Return one run by its id, or the newest for "last"."""
        runs = {run.id: run for run in self.runs()}
        if not runs:
            raise StoreError(f"{self.path} holds no run yet; start one with `benchfw run quickstart`")
        if name == "last":
            return runs[max(runs)]
        if not str(name).isdecimal() or int(name) not in runs:
            raise StoreError(
                f"no run '{name}' in {self.path}; `benchfw runs` lists them, 'last' is the newest"
            )
        return runs[int(name)]

    @told
    def run_of(self, trial: int) -> Run:
        """Return the run that ran a trial."""
        row = self._base.execute("SELECT MIN(run) FROM link WHERE trial = ?", (trial,)).fetchone()
        return self.run(row[0])

    @told
    def results(self, run: int) -> list[Result]:
        """Return the trials of a run with their records, in the order of its suite."""
        records: dict[int, list[Record]] = {}
        for trial, *values in self._base.execute(SELECT_RECORDS, (run,)):
            records.setdefault(trial, []).append(record_of(*values))
        rows = self._base.execute(f"{SELECT_TRIAL} WHERE link.run = ? ORDER BY link.position", (run,))
        return [result_of(row, tuple(records.get(row[0], ()))) for row in rows]

    @told
    def result(self, trial: int) -> Result:
        """Return one trial with its records, by its id."""
        # a number may be larger than SQLite's largest
        row = self._base.execute(
            f"{SELECT_TRIAL} WHERE trial.id = ? LIMIT 1", (min(trial, 2**63 - 1),)
        ).fetchone()
        if row is None:
            raise StoreError(f"no trial {trial} in {self.path}; `benchfw export last` lists trials by number")
        records = self._base.execute(SELECT_TRIAL_RECORDS, (trial,))
        return result_of(row, tuple(record_of(*values) for values in records))
