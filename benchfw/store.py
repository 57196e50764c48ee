"""The SQLite store of runs, trials and records: the only file that speaks SQL.

A trial and all its records enter in one transaction. Trials are shared between runs: a run links to
the trials it asked for, under the labels of its own suite.
"""

from __future__ import annotations

import contextlib
import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from benchfw.errors import StoreError
from benchfw.records import SCHEMA_VERSION, Budget, Outcome, Record, Result, Run, Spec, Status, Trial

P = ParamSpec("P")
T = TypeVar("T")

PATIENCE = 30.0  # seconds to wait for another process that writes
APPLICATION_ID = 0x62666777  # "bfgw": tells a store from any other SQLite file
SCHEMA = """
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT, suite TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    environment TEXT NOT NULL, started TEXT NOT NULL, finished TEXT, reused INTEGER NOT NULL DEFAULT 0);
CREATE TABLE trial (
    id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL, kind TEXT NOT NULL, problem TEXT NOT NULL,
    method TEXT NOT NULL, backend TEXT NOT NULL, repetition INTEGER NOT NULL, settings TEXT NOT NULL,
    status TEXT NOT NULL, reason TEXT NOT NULL, cost_unit TEXT NOT NULL, wall REAL NOT NULL,
    ended TEXT NOT NULL);
CREATE INDEX trial_key ON trial (key);
CREATE TABLE link (
    run INTEGER NOT NULL REFERENCES run, position INTEGER NOT NULL, trial INTEGER NOT NULL REFERENCES trial,
    problem TEXT NOT NULL, method TEXT NOT NULL, reused INTEGER NOT NULL, PRIMARY KEY (run, position)
    ) WITHOUT ROWID;
CREATE TABLE record (
    trial INTEGER NOT NULL REFERENCES trial, number INTEGER NOT NULL, metric TEXT NOT NULL,
    iteration INTEGER NOT NULL, seconds REAL NOT NULL, cost REAL, value REAL,
    PRIMARY KEY (trial, number)) WITHOUT ROWID;
"""
INSERT_TRIAL = """
INSERT INTO trial (
    key, kind, problem, method, backend, repetition, settings, status, reason, cost_unit, wall, ended
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
SELECT_TRIAL = """
SELECT trial.id, trial.kind, trial.problem, trial.method, trial.backend, trial.repetition, trial.settings,
       trial.key, trial.status, trial.reason, trial.cost_unit, trial.wall,
       link.problem, link.method, link.reused
FROM trial JOIN link ON link.trial = trial.id
"""
COUNT_ENDINGS = """
SELECT link.run, trial.status, COUNT(*) FROM link JOIN trial ON trial.id = link.trial GROUP BY 1, 2
"""


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


class Store:
    """One store file, opened; use it as a context manager."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        try:
            existed = path.exists() and path.stat().st_size > 0
            if not existed and not create:
                raise StoreError(f"no store at {path}; `benchfw run` makes one, or give --store")
            if not existed:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
            if existed:
                self._check()
            else:
                self._create()
            self._base.execute("PRAGMA journal_mode = WAL")
            self._base.execute("PRAGMA synchronous = NORMAL")
        except (sqlite3.Error, OSError) as fault:
            raise StoreError(f"{path} cannot be used as a store ({fault}); give another by --store") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was added is on disk already."""
        self._base.close()

    def _check(self) -> None:
        if self._base.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
            raise StoreError(f"{self.path} is a database, but no benchfw store; give another file by --store")
        version = self._base.execute("PRAGMA user_version").fetchone()[0]
        if version > SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has schema {version} and this benchfw reads up to {SCHEMA_VERSION}; "
                "upgrade benchfw or give another file by --store"
            )

    def _create(self) -> None:
        self._base.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION}; "
            f"{SCHEMA} COMMIT;"
        )

    @told
    def begin(self, suite: str, title: str, text: str, environment: Mapping[str, Any]) -> int:
        """Start a run and return its id."""
        values = (suite, title, text, json.dumps(environment), _now())
        cursor = self._base.execute(
            "INSERT INTO run (suite, title, text, environment, started) VALUES (?, ?, ?, ?, ?)", values
        )
        return int(cursor.lastrowid or 0)

    @told
    def finish(self, run: int) -> None:
        """Mark a run as finished."""
        self._base.execute("UPDATE run SET finished = ? WHERE id = ?", (_now(), run))

    @told
    def known(self, keys: Iterable[str]) -> dict[str, tuple[int, Status]]:
        """Return id and status of the newest trial of each key that is here, skipped ones left out."""
        wanted = set(keys)
        rows = self._base.execute(
            "SELECT key, MAX(id), status FROM trial WHERE status != ? GROUP BY key", (Status.SKIPPED,)
        )
        return {key: (number, Status(status)) for key, number, status in rows if key in wanted}

    @told
    def add(self, run: int, position: int, trial: Trial, outcome: Outcome) -> int:
        """Keep a finished trial with its records, in one transaction; return its id."""
        row = (
            trial.key, trial.kind, _dump(trial.problem.table), _dump(trial.method.table), trial.backend,
            trial.repetition, _dump(_settings(trial)), outcome.status, _storable(outcome.reason),
            outcome.cost_unit, outcome.seconds, _now(),
        )  # fmt: skip
        with self._transaction():
            cursor = self._base.execute(INSERT_TRIAL, row)
            number = int(cursor.lastrowid or 0)
            self._base.executemany(
                "INSERT INTO record VALUES (?, ?, ?, ?, ?, ?, ?)",
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
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?)",
            (
                (run, position, number, trial.problem.label, trial.method.label, reused)
                for position, trial, number, reused in links
            ),
        )

    @told
    def runs(self) -> list[Run]:
        """Return all runs, the oldest first."""
        counts: dict[int, dict[str, int]] = {}
        for run, status, number in self._base.execute(COUNT_ENDINGS):
            counts.setdefault(run, {})[status] = number
        rows = self._base.execute(
            "SELECT id, suite, title, started, finished, reused, text, environment FROM run ORDER BY id"
        )
        return [
            Run(
                id=number, suite=suite, title=title, store=self.path, started=started, finished=finished,
                counts=counts.get(number, {}), reused=reused, text=text, environment=json.loads(environment),
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
        for trial, *values in self._base.execute(
            "SELECT trial, metric, iteration, seconds, cost, value FROM record "
            "WHERE trial IN (SELECT trial FROM link WHERE run = ?) ORDER BY trial, number",
            (run,),
        ):
            records.setdefault(trial, []).append(_record(*values))
        rows = self._base.execute(f"{SELECT_TRIAL} WHERE link.run = ? ORDER BY link.position", (run,))
        return [_result(row, tuple(records.get(row[0], ()))) for row in rows]

    @told
    def result(self, trial: int) -> Result:
        """Return one trial with its records, by its id."""
        # a number may be larger than SQLite's largest
        row = self._base.execute(
            f"{SELECT_TRIAL} WHERE trial.id = ? LIMIT 1", (min(trial, 2**63 - 1),)
        ).fetchone()
        if row is None:
            raise StoreError(f"no trial {trial} in {self.path}; `benchfw export last` lists trials by number")
        records = self._base.execute(
            "SELECT metric, iteration, seconds, cost, value FROM record WHERE trial = ? ORDER BY number",
            (trial,),
        )
        return _result(row, tuple(_record(*values) for values in records))


def _settings(trial: Trial) -> dict[str, Any]:
    return {
        "seed": trial.seed,
        "budget": asdict(trial.budget),
        "target": trial.target,
        "precision": trial.precision,
        "at": trial.at,
    }


def _record(metric: str, iteration: int, seconds: float, cost: float | None, value: float | None) -> Record:
    # SQLite has no NaN: it keeps one as NULL
    nan = float("nan")
    return Record(metric, iteration, seconds, nan if cost is None else cost, nan if value is None else value)


def _result(row: tuple[Any, ...], records: tuple[Record, ...]) -> Result:
    (
        number,
        kind,
        problem,
        method,
        backend,
        repetition,
        settings,
        key,
        *ending,
        problem_label,
        method_label,
        reused,
    ) = row
    status, reason, cost_unit, wall = ending
    given = json.loads(settings)
    trial = Trial(
        kind=kind,
        problem=_spec(problem, problem_label),
        method=_spec(method, method_label),
        backend=backend,
        repetition=repetition,
        key=key,
        **{**given, "budget": Budget(**given["budget"])},
    )
    return Result(number, trial, Outcome(Status(status), reason, records, wall, cost_unit), bool(reused))


def _spec(table: str, label: str) -> Spec:
    params = {key: _frozen(value) for key, value in json.loads(table).items()}
    return Spec(params.pop("use"), params, label)


def _frozen(value: Any) -> Any:
    # JSON has no tuples, and a spec has no lists: they are sweeps
    if isinstance(value, dict):
        return {key: _frozen(each) for key, each in value.items()}
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def _storable(text: str) -> str:
    # an undecodable file name in a message has characters that no encoding has
    return text.encode(errors="replace").decode()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
