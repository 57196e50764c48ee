"""Runs what is on an agenda and keeps every outcome."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from time import monotonic, sleep
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from benchfw.claims import Claim
from benchfw.claims.check import find_cells
from benchfw.errors import StoreError
from benchfw.harness.agenda import Agenda, Integers, find_stored
from benchfw.harness.events import (
    Awaited,
    Begun,
    Event,
    Executor,
    Finished,
    Listener,
    Phase,
    Replaying,
    TakenOver,
    Waiting,
)
from benchfw.harness.executors import count_at_once, make_executor
from benchfw.harness.inputs import complete_reads
from benchfw.harness.metrics import MetricCheck
from benchfw.harness.noise import NoiseMeter
from benchfw.harness.options import Options
from benchfw.harness.replays import MEASURED, choose_replays, replay
from benchfw.loading import fault_text
from benchfw.provenance import Run
from benchfw.records import Ending, Outcome, Status, Trial
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.store.rows import moment
from benchfw.trials import Chosen

COMMIT_SECONDS = 0.1  # of trials that enter the store together: to bring each to the disk alone takes longer
POLL_SECONDS = 0.2  # between looks at what another run has finished


class Batch:
    """Events whose trials are not in the store yet: short trials enter it together, in one transaction.

    An event is heard of only when what it tells is on disk, and in the order in which all happened.
    """

    def __init__(self, hear: Callable[[Event], None], keep: Callable[[Sequence[Finished]], None]) -> None:
        self._hear, self._keep = hear, keep
        self._events: list[Event] = []
        self._flushed = -math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        # after an interruption in the middle of a commit the trials may be in the store already
        with contextlib.nullcontext() if kind is None else contextlib.suppress(StoreError):
            self.flush()

    def add(self, event: Event | Waiting) -> None:
        """Take an event; keep all that came after a fault or a while, or when nothing else happens."""
        if not isinstance(event, Waiting):
            self._events.append(event)
        fault = isinstance(event, Finished) and event.outcome.status.faulty
        if fault or isinstance(event, Waiting) or monotonic() - self._flushed > COMMIT_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Keep what has come, then tell of it."""
        finished = [event for event in self._events if isinstance(event, Finished)]
        if finished:
            self._keep(finished)
            self._flushed = monotonic()
        events, self._events = self._events, []
        for event in events:
            self._hear(event)


class _FirstFault(Exception):
    """A trial broke, and that was to end the run."""


def execute(agenda: Agenda, registry: Registry, store: Store, options: Options, listen: Listener) -> Run:
    """Run what is pending, store every outcome as it comes, and return the run.

    KeyboardInterrupt goes through, after the workers are stopped; what was finished stays in the store.
    """
    with open_run(agenda, registry, store, options, listen) as going:
        going.perform(agenda)
    return going.finished


class GoingRun:
    """A run that was begun and has not ended; its trials are performed in one or several parts."""

    def __init__(
        self,
        run: int,
        registry: Registry,
        store: Store,
        options: Options,
        listen: Listener,
        metrics: MetricCheck,
    ) -> None:
        self.run, self._registry, self._store = run, registry, store
        self._options, self._listen, self._metrics = options, listen, metrics
        self._meter: NoiseMeter | None = None
        self._workers: tuple[object, Executor] | None = None
        """What the executor was made for, and the executor: the parts of a run share it where they can."""
        self.broken = False
        """Whether a trial broke, and that was to end the run."""

    @property
    def finished(self) -> Run:
        """The run as the store has it now."""
        return self._store.run(self.run)

    def perform(self, agenda: Agenda, first: int = 0, phase: Phase = "verdict") -> Integers:
        """Run what is pending of an agenda, whose positions in the run begin at `first`.

        Return the id of each trial in the store, whichever run made it; 0 where a fault came first.
        """
        store, options = self._store, self._options
        known, pending, added = np.flatnonzero(agenda.stored), agenda.pending, np.zeros_like(agenda.stored)

        def take_over(positions: Integers, numbers: Integers) -> None:
            added[positions] = numbers
            self._metrics.check_stored(replace(agenda, stored=added), store)
            store.reuse(self.run, _links(agenda, positions, numbers, first))

        take_over(known, agenda.stored[known])
        counts, seconds = agenda.count_by_cell(pending), agenda.suite.budget.seconds
        at_once = count_at_once(options)
        self._listen(Begun(self.run, len(known), counts, at_once, agenda.outdated, seconds, phase))
        # elsewhere is another machine, and with several jobs there is always a trial that would be disturbed
        if len(pending) and options.cluster is None and self._meter is None:
            self._meter = NoiseMeter()

        def keep(finished: Sequence[Finished]) -> None:
            positions = [agenda.trials.position(each.trial) for each in finished]
            outcomes = [complete_reads(each.outcome, self._registry.modules) for each in finished]
            trials = [each.trial for each in finished]
            places = [first + each for each in positions]
            added[positions] = store.add_all(self.run, list(zip(places, trials, outcomes, strict=True)))

        try:
            self._run_pending(agenda, pending, take_over, keep)
            if phase == "verdict":
                self.close()  # a replay has workers of its own
                _replay(agenda, added, self._registry, store, options, self._listen)
        except _FirstFault:
            self.broken = True
        return added

    def note_verdict(self, verdict: Agenda, trials: int) -> None:
        """Note what tuning has led to: so many trials in all, and how many had ended before each claim."""
        noted = self._store.run(self.run).environment
        claims = [
            {**each, "seen": _count_seen(claim, verdict, each["registered"], self._store)}
            for claim, each in zip(verdict.suite.claims, noted.claims, strict=True)
        ]
        self._store.note_environment(self.run, replace(noted, trials=trials, claims=tuple(claims)))

    def _run_pending(
        self,
        agenda: Agenda,
        pending: Integers,
        take_over: Callable[[Integers, Integers], None],
        keep: Callable[[Sequence[Finished]], None],
    ) -> None:
        options, meter = self._options, self._meter
        executor = self._executor_for(agenda)
        with Batch(self._hear, keep) as batch:
            rounds = _rounds(agenda, pending, self.run, self._store, options, self._listen, take_over)
            for event in chain.from_iterable(_events(agenda, each, executor) for each in rounds):
                batch.add(event)
                idle = options.jobs <= 1 and isinstance(event, Finished)
                if meter and idle and (noise := meter.look()):
                    self._store.note_noise(self.run, noise)

    def _executor_for(self, agenda: Agenda) -> Executor:
        """Return an executor: that of the part before, if its limit and backends are the same."""
        wanted = agenda.suite.budget.seconds, {first.backend for first in agenda.trials.firsts}
        if self._workers is None or self._workers[0] != wanted:
            self.close()
            self._workers = wanted, make_executor(agenda, self._registry, self._options)
        return self._workers[1]

    def close(self) -> None:
        """Stop the workers."""
        if self._workers is not None:
            self._workers[1].close()
            self._workers = None

    def _hear(self, event: Event) -> None:
        self._listen(event)
        _tell_plugins(self._registry, event)
        if isinstance(event, Finished):
            self._metrics.check(event.trial, event.outcome)
        # settings that break are part of tuning
        fault = isinstance(event, Finished) and event.outcome.status.faulty and not event.trial.tuning
        if self._options.fail_fast and fault:
            raise _FirstFault

    def finish(self) -> None:
        """Mark the run as finished."""
        self._store.finish(self.run, self._meter.finish() if self._meter else None)


@contextlib.contextmanager
def open_run(
    agenda: Agenda, registry: Registry, store: Store, options: Options, listen: Listener
) -> Iterator[GoingRun]:
    """Begin a run of an agenda's suite; without a fault or an interruption, finish it at the end."""
    suite = agenda.suite
    metrics = MetricCheck(suite, agenda.trials.firsts, registry.backends.names)
    metrics.check_stored(agenda, store)
    environment = replace(agenda.environment, claims=tuple(_register(agenda, store)))
    run = store.begin(suite.name, suite.title, suite.text, environment)
    with store.hold_run_lock(run):
        going = GoingRun(run, registry, store, options, listen, metrics)
        with contextlib.closing(going):
            yield going
        if not going.broken:
            going.finish()
    _call(registry, "run_finished", run=going.finished)


def _register(agenda: Agenda, store: Store) -> Iterator[dict[str, Any]]:
    """Yield the claims as a run records them: each with when it was first part of a run that is known.

    A claim in the same words about other methods or problems is another one; and trials that run again had
    been seen before it.
    """
    quick, backends = agenda.environment.changes.quick, agenda.environment.backends
    firsts = agenda.trials.firsts
    for each in agenda.suite.claims:
        cells = set(find_cells(each, (first.cell for first in firsts), backends))
        about = sorted({_identify(first) for first in firsts if first.cell in cells})
        known = store.first_registered(each.digest, about, quick=quick)
        registered = min(filter(None, [each.registered, known, moment()]))
        yield {
            "hash": each.digest,
            "registered": registered,
            "table": dict(each.table),
            "about": about,
            "left_out": list(each.left_out),
            "seen": _count_seen(each, agenda, registered, store),
        }


def _count_seen(claim: Claim, agenda: Agenda, registered: str, store: Store) -> int:
    """Return how many trials of an agenda that a claim is about had ended before it was registered."""
    firsts = agenda.trials.firsts
    cells = set(find_cells(claim, (first.cell for first in firsts), agenda.environment.backends))
    every = np.arange(len(agenda.trials))
    mine = np.array([first.cell in cells for first in firsts], dtype=np.bool_)
    positions = every[mine[agenda.first_trials(every)]] if len(every) else every
    return store.count_seen(agenda.keys(positions), registered)


def _identify(trial: Trial) -> str:
    """Return the start of a hash of a trial's problem and method, as the suite names and describes them."""
    specs = [(each.label, each.sorted_text) for each in (trial.problem, trial.method)]
    return hashlib.sha256(json.dumps(specs).encode()).hexdigest()[:16]


def _replay(
    agenda: Agenda, added: Integers, registry: Registry, store: Store, options: Options, listen: Listener
) -> None:
    """Run a sample of the trials a second time, elsewhere, and note whether they came out the same."""
    if not options.replay or agenda.environment.isolation == "none":
        return

    def find_number(trial: Trial) -> int:
        return int(added[agenda.trials.position(trial)])

    def find_outcome(trial: Trial) -> Outcome:
        return store.result(find_number(trial)).outcome

    def ran_once(position: int) -> bool:
        outcome = store.result(int(added[position])).outcome
        return outcome.replay is None and outcome.status in MEASURED

    wanted = [each for each in choose_replays(agenda.trials) if added[each] and ran_once(each)]
    if wanted:
        listen(Replaying(len(wanted)))
        make = functools.partial(make_executor, agenda, registry, options, again=True)
        for trial, difference in replay(Chosen(agenda.trials, wanted), find_outcome, make):
            store.note_replay(find_number(trial), difference)


def _rounds(
    agenda: Agenda,
    waiting: Integers,
    run: int,
    store: Store,
    options: Options,
    listen: Listener,
    take_over: Callable[[Integers, Integers], None],
) -> Iterator[Integers]:
    """Yield positions to run until none is waiting; what another run is at is waited for and taken over.

    Before each wait there is an empty round, in which what has ended is kept.
    """
    announced = False
    if options.fresh:
        yield waiting
        return
    while len(waiting):
        theirs = store.reserve(run, agenda.keys(waiting))
        taken = np.fromiter((key in theirs for key in agenda.keys(waiting)), np.bool_, len(waiting))
        free, waiting = _split(waiting, taken)
        if len(free):
            # ended between the first look and the reservation
            if store.newest() > agenda.newest:
                found, _ = find_stored(
                    agenda, free, store, retry_failed=options.retry_failed, since=agenda.newest
                )
                theirs_by_now, free = free[found > 0], free[found == 0]
                take_over(theirs_by_now, found[found > 0])
                if len(theirs_by_now):
                    listen(TakenOver(agenda.count_by_cell(theirs_by_now)))
            yield free
        elif len(waiting):
            yield free
            if not announced:
                listen(Awaited(len(waiting), tuple(sorted(set(theirs.values())))))
            announced = True
            sleep(POLL_SECONDS)


def _split(positions: Integers, chosen: NDArray[np.bool_]) -> tuple[Integers, Integers]:
    """Return the positions that were not chosen and those that were; without a copy where none was."""
    return (positions[~chosen], positions[chosen]) if np.any(chosen) else (positions, positions[:0])


def _links(
    agenda: Agenda, positions: Integers, numbers: Integers, first: int
) -> Iterator[tuple[int, Trial, int]]:
    for position, number in zip(positions.data, numbers.data, strict=True):
        yield first + position, agenda.trials[position], number


def _tell_plugins(registry: Registry, event: Event) -> None:
    if isinstance(event, Finished):
        _call(registry, "trial_finished", trial=event.trial, status=event.outcome.status)
    else:
        _call(registry, "trial_started", trial=event.trial)


def _call(registry: Registry, hook: str, **arguments: Any) -> None:
    """Call a hook; a plugin that raises in it is named, and only its own work is lost."""
    caller = getattr(registry.hook, hook)
    if not caller.get_hookimpls():
        return
    try:
        caller(**arguments)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's hook may raise anything
        registry.note(f"a plugin's {hook} raised {fault_text(fault)}")


def _events(agenda: Agenda, positions: Integers, executor: Executor) -> Iterator[Event | Waiting]:
    """Yield the events of trials; those whose backend is absent are skipped at once.

    Of no trials there is one event: nothing happens.
    """
    if not len(positions):
        yield Waiting()
        return
    absent = agenda.environment.absent_backends
    lacking = np.array([first.backend in absent for first in agenda.trials.firsts])
    able, skipped = _split(positions, lacking[agenda.first_trials(positions)])
    for trial in Chosen(agenda.trials, skipped.data):
        yield Finished(trial, Outcome(Status.SKIPPED, Ending.ABSENT, absent[trial.backend]))
    yield from executor.run(Chosen(agenda.trials, able.data))
