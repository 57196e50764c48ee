"""One store file, opened.

A trial and all its records enter in one transaction. Trials are shared between runs: a run links to the
trials it asked for, under the labels of its own suite.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count, groupby, islice
from operator import itemgetter
from pathlib import Path
from time import monotonic
from typing import Concatenate, ParamSpec, Self, TypeVar

from benchfw.errors import StoreError
from benchfw.names import names_a_file
from benchfw.provenance import Environment, Noise, Run
from benchfw.records import (
    LONGEST_NAME,
    OBJECTIVE,
    Ending,
    Outcome,
    Result,
    Spec,
    Status,
    Stored,
    Trial,
    shorten,
)
from benchfw.store import reservations
from benchfw.store.checks import check_noun
from benchfw.store.connection import (
    DAMAGED,
    REFUSALS,
    Place,
    bound_work,
    check_place,
    connect,
    explain_refusal,
    real_path,
)
from benchfw.store.rows import (
    GARBLED,
    Damaged,
    Row,
    check_digest,
    digest_of,
    digest_of_trial,
    moment,
    now,
    reads_of,
    result_of,
    run_of,
    sealed_rows,
    spec_of,
    storable,
)
from benchfw.store.schema import (
    COUNT_ENDINGS,
    COUNT_SEEN,
    INSERT_LINK,
    INSERT_RECORD,
    INSERT_RUN,
    INSERT_TRIAL,
    LINK_COLUMNS,
    NOTE_ENVIRONMENT,
    NOTE_NOISE,
    REPLAY_COLUMN,
    SEAL_REPLAY,
    SEAL_RUN,
    SELECT_CLAIMS,
    SELECT_EARLIER_NOISE,
    SELECT_FIRST_LINK,
    SELECT_KNOWN,
    SELECT_LINKED,
    SELECT_LINKED_RECORDS,
    SELECT_RUN,
    SELECT_RUNS,
    SELECT_SAME_PROBLEM,
    SELECT_SPECS,
    SELECT_TRIAL,
    SELECT_TRIAL_RECORDS,
)

MOST_RECORDS, MOST_RESULTS = 20_000, 500  # that are read at a time
LINK_END = 2 + LINK_COLUMNS.count(",")  # where the columns of a link end, after its digest
LOOK_SECONDS = 1.0  # between looks at whether the file and the locks are in their places

P = ParamSpec("P")
T = TypeVar("T")


def explain_sqlite_errors(method: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Name the store where it is damaged, or where SQLite refuses: it is locked, or the disk is full."""

    @functools.wraps(method)
    def guarded(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(self, *args, **kwargs)
        except Damaged as fault:
            raise StoreError(f"{self.path}: {fault}; {DAMAGED}") from fault
        except (*REFUSALS, OSError) as fault:
            self.check_place()  # the reason, where it is so
            raise explain_refusal(self.path, fault) from fault

    return guarded


def explain_bad_rows(method: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """Do as `explain_sqlite_errors`, also where a row is not what a store writes, or reading does not end."""

    @functools.wraps(method)
    def guarded(self: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._explain_garbled(), bound_work(self._base, self._file):
            return method(self, *args, **kwargs)

    return explain_sqlite_errors(guarded)


class Store:
    """One store file, opened; use it as a context manager."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._locks: dict[int, reservations.RunLock] = {}
        self._place: Place | None = None
        self._looked = monotonic()
        try:
            check_place(path, write=create)
            if not create and not (path.exists() and path.stat().st_size):
                raise StoreError(f"no store at {path}; `benchfw run` makes one, or give --store")
            if create:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._base = connect(path, create=create)
            self._file = real_path(path)
            if create:
                self._place = Place(self._file)
        except (*REFUSALS, OSError) as fault:
            raise explain_refusal(path, fault) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was added is on disk already."""
        self._base.close()

    @explain_sqlite_errors
    def begin(self, suite: str, title: str, text: str, environment: Environment) -> int:
        """Start a run and return its id."""
        try:
            check_noun(environment)  # what cannot be read back is not written
            values = (*map(storable, (suite, title, text)), json.dumps(environment.to_json()), now())
        except (ValueError, TypeError) as fault:
            raise StoreError(f"the run cannot be stored: {fault}") from None
        with self._transaction():
            run = int(self._base.execute(INSERT_RUN, values).lastrowid or 0)
            self._seal(run)
        return run

    @explain_sqlite_errors
    def add_run(
        self, suite: str, title: str, environment: Environment, trials: Iterable[tuple[Trial, Outcome]]
    ) -> int:
        """Keep a run that has ended with all its trials, or nothing of it; return its id."""
        with self._transaction():
            run = self.begin(suite, title, "", environment)
            self.add_all(run, [(position, *each) for position, each in enumerate(trials)])
            self.finish(run)
        return run

    @explain_bad_rows
    def first_registered(self, claim: str, about: Collection[str] = (), *, quick: bool = False) -> str:
        """Return when a claim, by its hash, was first part of a run here; nothing if it never was.

        What came before a run of the same size counts for nothing if that run was `about` something that is
        no longer what it was: a method that has other parameters now, a problem that was taken away.
        """
        found: list[str] = []
        changed = False
        for (text,) in self._base.execute(SELECT_CLAIMS, (f'%"{claim}"%',)):
            environment = json.loads(text)
            same_size = bool(environment["changes"].get("quick")) == quick
            for each in environment["claims"]:
                if each["hash"] == claim and same_size and not set(each.get("about", ())) <= set(about):
                    found, changed = [], True
                elif each["hash"] == claim and (same_size or not changed):
                    found.append(each["registered"])
        return min(found, default="")

    @explain_sqlite_errors
    def count_seen(self, keys: Iterable[str], moment: str) -> int:
        """Return of how many keys a trial had ended before a moment, in whichever run."""
        return sum(int(count) for (count,) in self._look_up(COUNT_SEEN, (Status.SKIPPED, moment), keys))

    @explain_bad_rows
    def note_environment(self, run: int, environment: Environment) -> None:
        """Keep what is known by now of how a run is made, in the place of what was known when it began."""
        with self._transaction():
            self._base.execute(NOTE_ENVIRONMENT, (json.dumps(environment.to_json()), run))
            self._seal(run)

    @explain_bad_rows
    def finish(self, run: int, noise: Noise | None = None) -> None:
        """Mark a run as finished, and keep how noisy the machine was meanwhile."""
        with self._transaction():
            self._base.execute("UPDATE run SET finished = ? WHERE id = ?", (now(), run))
            self._write_noise(run, noise or Noise())

    @explain_bad_rows
    def note_noise(self, run: int, noise: Noise) -> None:
        """Keep how noisy the machine was during a run, and during those that measured its reused trials."""
        with self._transaction():
            self._write_noise(run, noise)

    def _write_noise(self, run: int, noise: Noise) -> None:
        rows = self._base.execute(SELECT_EARLIER_NOISE, (run,)).fetchall()
        earlier = [Noise.from_json(json.loads(row[0])) for row in rows]
        bursts = tuple(sorted({burst for each in (*earlier, noise) for burst in each.bursts}))
        found = replace(noise, bursts=bursts)
        self._base.execute(NOTE_NOISE, (json.dumps(found.to_json()), run))
        self._seal(run)

    @contextlib.contextmanager
    def hold_run_lock(self, run: int) -> Iterator[None]:
        """Let other processes know that this run goes on; its reservations end with it."""
        self._lock(run)
        try:
            yield
        finally:
            if self._is_in_place():
                with contextlib.suppress(sqlite3.Error):  # on a full disk: void all the same
                    self._base.execute("DELETE FROM reservation WHERE run = ?", (run,))
            self._locks.pop(run).release()
            self.check_place()

    @explain_sqlite_errors
    def _lock(self, run: int) -> None:
        self._locks[run] = reservations.RunLock(self._file, run)

    @explain_sqlite_errors
    def reserve(self, run: int, keys: Iterable[str]) -> dict[str, int]:
        """Reserve trials for a run; return the keys that other runs have reserved, with that run."""
        with self._transaction():
            return reservations.reserve(self._base, self._file, run, keys)

    @explain_bad_rows
    def newest(self) -> int:
        """Return the id of the newest trial, 0 if there is none."""
        return int(self._base.execute("SELECT COALESCE(MAX(id), 0) FROM trial").fetchone()[0])

    @explain_sqlite_errors
    def known(self, keys: Iterable[str]) -> dict[str, list[Stored]]:
        """Return the trials of each key that is here, the oldest first; skipped ones do not count."""
        found: dict[str, list[Stored]] = {}
        with self._explain_garbled():
            for key, number, status, reads in self._look_up(SELECT_KNOWN, (Status.SKIPPED,), keys):
                found.setdefault(key, []).append(Stored(number, Status(status), reads_of(reads)))
        return found

    def _look_up(self, select: str, values: tuple[str, ...], keys: Iterable[str]) -> Iterator[Row]:
        """Yield what is found of keys, some at a time.

        Each time the work has a bound of its own: that goes by the size of the store, and there may be more
        keys than it has trials.
        """
        wanted = iter(keys)
        while some := list(islice(wanted, MOST_RESULTS)):
            with bound_work(self._base, self._file):
                rows = self._base.execute(
                    select.format(", ".join("?" * len(some))), (*values, *some)
                ).fetchall()
            yield from rows

    def add(self, run: int, position: int, trial: Trial, outcome: Outcome) -> int:
        """Keep a finished trial with its records; return its id."""
        return self.add_all(run, [(position, trial, outcome)])[0]

    @explain_sqlite_errors
    def add_all(self, run: int, finished: Sequence[tuple[int, Trial, Outcome]]) -> list[int]:
        """Keep finished trials with their records, in one transaction; return their ids."""
        ended = moment()
        rows = [sealed_rows(trial, outcome, ended) for _, trial, outcome in finished]
        keys = [(trial.key, run) for _, trial, _ in finished]
        with self._transaction():
            numbers = [int(self._base.execute(INSERT_TRIAL, row).lastrowid or 0) for row, _ in rows]
            self._base.executemany(
                INSERT_RECORD,
                (
                    (number, index, *record)
                    for number, (_, records) in zip(numbers, rows, strict=True)
                    for index, record in enumerate(records)
                ),
            )
            links = zip(finished, numbers, strict=True)
            self._link(run, ((position, trial, number, False) for (position, trial, _), number in links))
            self._base.executemany("DELETE FROM reservation WHERE key = ? AND run = ?", keys)
        return numbers

    @explain_bad_rows
    def note_replay(self, trial: int, difference: str) -> None:
        """Keep what differed when a trial ran a second time; nothing if all was the same."""
        with self._transaction():
            digest, *row = self._base.execute(SELECT_TRIAL, (trial,)).fetchone()
            records = [tuple(each) for each in self._base.execute(SELECT_TRIAL_RECORDS, (trial,))]
            # what is damaged is not sealed anew
            check_digest(f"trial {trial}", digest, digest_of_trial(tuple(row), records))
            row[REPLAY_COLUMN] = storable(shorten(difference))
            self._base.execute(SEAL_REPLAY, (row[REPLAY_COLUMN], digest_of_trial(tuple(row), records), trial))

    @explain_sqlite_errors
    def reuse(self, run: int, found: Iterable[tuple[int, Trial, int]]) -> None:
        """Link a run to trials that were here before: (position, trial, id)."""
        waiting = iter(found)
        with self._transaction():
            while some := list(islice(waiting, MOST_RESULTS)):
                self._link(run, ((position, trial, number, True) for position, trial, number in some))
                self._base.execute("UPDATE run SET reused = reused + ? WHERE id = ?", (len(some), run))
                keys = [(trial.key, run) for _, trial, _ in some]
                self._base.executemany("DELETE FROM reservation WHERE key = ? AND run = ?", keys)
            self._seal(run)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        if self._base.in_transaction:  # that of a caller, who ends it
            yield
            return
        self._base.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._base.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):  # SQLite may have rolled back by itself
                self._base.execute("ROLLBACK")
            raise
        if monotonic() - self._looked > LOOK_SECONDS:
            self._looked = monotonic()
            self.check_place()
            for lock in self._locks.values():
                lock.hold()

    def _is_in_place(self) -> bool:
        return self._place is not None and self._place.is_ours()

    def check_place(self) -> None:
        """Raise StoreError, once, if the file was taken away; what it held is copied to another."""
        if self._place is None or self._is_in_place():
            return
        rescued, self._place = self._place.rescue(self._base), None
        what = f"{self.path} was deleted, moved or replaced while it was in use"
        if rescued is None:
            raise StoreError(f"{what}; what it held could not be copied to another file and is lost with it")
        raise StoreError(
            f"{what}; all that it held is in {rescued}: move that to {self.path}, "
            "and the same command continues from there"
        )

    def _seal(self, run: int) -> None:
        row = self._base.execute(SELECT_RUN, (run,)).fetchone()
        if row is None:
            raise Damaged(f"run {run} is missing")
        self._base.execute(SEAL_RUN, (digest_of(row[1:]), run))

    def _link(self, run: int, links: Iterable[tuple[int, Trial, int, bool]]) -> None:
        rows = (
            (run, position, number, storable(trial.problem.label), storable(trial.method.label), int(reused))
            for position, trial, number, reused in links
        )
        self._base.executemany(INSERT_LINK, ((*row, digest_of(row)) for row in rows))

    @explain_bad_rows
    def runs(self) -> list[Run]:
        """Return all runs, the oldest first."""
        counts: dict[tuple[int, int], dict[str, int]] = {}
        for run, tuning, status, number in self._base.execute(COUNT_ENDINGS):
            counts.setdefault((run, tuning), {})[status] = number
        found: dict[int, Run] = {}
        for digest, *row in self._base.execute(SELECT_RUNS):
            number, finished = row[0], row[6]
            if number in found:
                raise Damaged(f"run {number} is there twice")
            going = not finished and reservations.is_running(self._file, number)
            ended = [counts.get((number, tuning), {}) for tuning in (0, 1)]
            found[number] = run_of(self.path, digest, tuple(row), *ended, going=going)
        return list(found.values())

    def run(self, name: str | int) -> Run:
        """Return one run by its id, or the newest for "last"."""
        runs = {run.id: run for run in self.runs()}
        if not runs:
            raise StoreError(f"{self.path} holds no run yet; start one with `benchfw run quickstart`")
        if name == "last":
            return runs[max(runs)]
        found = next((run for run in runs.values() if str(run.id) == str(name)), None)
        if found is None:
            file = f"{name} is a file: give it as --store, and " if names_a_file(str(name)) else ""
            raise StoreError(
                f"no run '{name}' in {self.path}; {file}`benchfw runs` lists them, 'last' is the newest"
            )
        return found

    @explain_bad_rows
    def run_of(self, trial: int) -> Run:
        """Return the run that ran a trial."""
        row = self._base.execute("SELECT MIN(run) FROM link WHERE trial = ?", (trial,)).fetchone()
        return self.run(row[0])

    @contextlib.contextmanager
    def _explain_garbled(self) -> Iterator[None]:
        try:
            yield
        except GARBLED as fault:
            what = shorten(str(fault), LONGEST_NAME)
            raise StoreError(f"{self.path} has a row that is not benchfw's ({what}); {DAMAGED}") from fault

    @explain_bad_rows
    def specs(self, run: int) -> list[tuple[Spec, Spec]]:
        """Return each problem with each method that a run has trials of, in the order of its suite."""
        rows = self._base.execute(SELECT_SPECS, (run,)).fetchall()
        found = {(problem, method): names for problem, method, *names in rows}
        return [(spec_of(problem, a), spec_of(method, b)) for (problem, method), (a, b) in found.items()]

    def results(self, run: int) -> list[Result]:
        """Return the trials of a run with their records, in the order of its suite."""
        return list(self.stream(run))

    def stream(self, run: int) -> Iterator[Result]:
        """Yield the trials of a run with their records, in the order of its suite, reading some at a time.

        Nothing is locked between them, so that a run may go on; what it adds is yielded if it comes later.
        """
        calls, last = count(), -1
        while some := self._read_some(run, last, calls):
            yield from (result for _, result in some)
            last = some[-1][0]

    @explain_sqlite_errors
    def _read_some(self, run: int, last: int, calls: Iterator[int]) -> list[tuple[int, Result]]:
        """Return the next results after a position, each with its own, until they have enough records."""
        found: list[tuple[int, Result]] = []
        records_read = 0
        with self._explain_garbled(), bound_work(self._base, self._file, calls=calls):
            rows = self._base.execute(SELECT_LINKED, (run, last))
            measured = self._base.execute(SELECT_LINKED_RECORDS, (run, last))
            by_position = groupby(measured, itemgetter(0))
            following = next(by_position, None)
            for row in rows:
                sealed, link, digest, trial = row[0], row[1:LINK_END], row[LINK_END], row[LINK_END + 1 :]
                position, number = link[1:3]
                check_digest(f"position {position} of run {run}", sealed, digest_of(link))
                if digest is None:
                    raise Damaged(f"trial {number} of run {run} is missing")
                if position <= last:
                    raise Damaged(f"position {position} of run {run} is there twice")
                records = []
                if following is not None and following[0] == position:
                    records = [each[1:] for each in following[1]]
                    following = next(by_position, None)
                found.append((position, result_of(number, digest, trial, records, link)))
                last = position
                records_read += len(records)
                if records_read >= MOST_RECORDS or len(found) >= MOST_RESULTS:
                    break
            rows.close()
            measured.close()
        return found

    def best_known(self, trial: Trial) -> dict[int, float]:
        """Return the best objective of this trial's problem and seed in any trial here, by repetition.

        Trials whose records are untrue do not count.
        """
        found: dict[int, float] = {}
        for result in map(self.result, self._find_same_problem(trial)):
            if result.outcome.ending is Ending.UNTRUE:
                continue
            for each in result.outcome.records:
                if each.metric == OBJECTIVE and each.role != "bound" and math.isfinite(each.value):
                    choose = max if each.role == "gain" else min
                    known = found.setdefault(result.trial.repetition, each.value)
                    found[result.trial.repetition] = choose(each.value, known)
        return found

    @explain_bad_rows
    def _find_same_problem(self, trial: Trial) -> list[int]:
        same = trial.problem_key, trial.seed, trial.tuning
        return [number for (number,) in self._base.execute(SELECT_SAME_PROBLEM, same)]

    @explain_bad_rows
    def result(self, trial: int) -> Result:
        """Return one trial with its records, by its id."""
        number = min(trial, 2**63 - 1)  # a number may be larger than SQLite's largest
        row = self._base.execute(SELECT_TRIAL, (number,)).fetchone()
        link = self._base.execute(SELECT_FIRST_LINK, (number,)).fetchone()
        if row is None or link is None:
            raise StoreError(f"no trial {trial} in {self.path}; `benchfw export last` lists trials by number")
        check_digest(f"the link to trial {trial}", link[0], digest_of(link[1:]))
        records = list(self._base.execute(SELECT_TRIAL_RECORDS, (number,)))
        return result_of(trial, row[0], row[1:], records, link[1:])
