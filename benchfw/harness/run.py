"""Runs a suite: plans, leaves out what the store already has, executes the rest, keeps every outcome."""

from __future__ import annotations

import contextlib
import functools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from time import sleep
from typing import Any

from benchfw.backends import get_backend, is_on_device
from benchfw.errors import BenchfwError, SuiteError
from benchfw.harness.devices import find_devices
from benchfw.harness.environment import gather, total_memory
from benchfw.harness.events import Awaited, Begun, Event, Executor, Finished, Listener, Replaying
from benchfw.harness.identity import Identity
from benchfw.harness.inputs import Inputs, complete_reads
from benchfw.harness.noise import NoiseMeter
from benchfw.harness.options import Options
from benchfw.harness.replays import MEASURED, choose_replays, replay
from benchfw.harness.workers.executor import LocalExecutor
from benchfw.harness.workers.inline import InlineExecutor
from benchfw.loading import fault_text
from benchfw.measure.seeding import order_seed
from benchfw.records import Changes, Ending, Environment, Outcome, Run, Status, Trial
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.suite import Suite

POLL_SECONDS = 0.2  # between looks at what another run has finished


@dataclass(frozen=True)
class Agenda:
    """The trials of a suite with their keys, the ids of those that the store has, and its newest trial.

    `outdated` says of trials that the store has too why they run again all the same: what they had read has
    changed.
    """

    suite: Suite
    trials: Sequence[Trial]
    inputs: Inputs
    environment: Environment
    known: Mapping[int, int] = field(default_factory=dict)
    outdated: Mapping[int, str] = field(default_factory=dict)
    newest: int = 0

    @functools.cached_property
    def position(self) -> dict[str, int]:
        """Return the place of each trial in the suite, by its key."""
        return {trial.key: position for position, trial in enumerate(self.trials)}

    @property
    def pending(self) -> list[int]:
        """Return the positions of the trials to run, by repetition, each in an order drawn from the seed."""
        draws = get_backend("numpy").rng(order_seed(self.suite.seed)).bits(len(self.trials))
        todo = [position for position in range(len(self.trials)) if position not in self.known]
        return sorted(todo, key=lambda position: (self.trials[position].repetition, int(draws[position])))


def prepare(
    suite: Suite,
    trials: Sequence[Trial],
    registry: Registry,
    store: Store | None,
    options: Options,
    changes: Changes,
) -> Agenda:
    """Give every trial its key and look it up; `changes` is noted: what was asked for beyond the suite."""
    environment = _environment(suite, trials, registry, options)
    isolation = options.isolation_of(suite.isolation)
    identity = Identity(registry, environment.backends, options.threads, isolation=isolation)
    stamped = [identity.stamp(trial) for trial in trials]
    environment = replace(
        environment,
        packages={**environment.packages, **identity.libraries},
        isolation=isolation,
        trials=len(trials),
        changes=changes,
        plugins=_absolute(registry.sources),
        sources=identity.sources,
        datasets=identity.datasets,
    )
    agenda = Agenda(suite, stamped, Inputs(registry.modules), environment)
    if store is None or options.fresh:
        return agenda
    newest = store.newest()  # before the look: what comes between the two counts as new
    found, outdated = _find_stored(agenda, range(len(trials)), store, retry_failed=options.retry_failed)
    return replace(agenda, known=found, outdated=outdated, newest=newest)


def _find_stored(
    agenda: Agenda, positions: Iterable[int], store: Store, *, retry_failed: bool, since: float = math.inf
) -> tuple[dict[int, int], dict[int, str]]:
    """Return the ids of the trials that need not be run, and of others why what the store has is outdated.

    What failed need not be run either; if it is to be run again, only what was added after the trial `since`.
    """
    keys = {position: agenda.trials[position].key for position in positions}
    known = store.known(keys.values())
    found, outdated = {}, {}
    for position, key in keys.items():
        stored = known.get(key, ())
        valid = [each for each in stored if not agenda.inputs.describe_change(each.reads)]
        best = max(valid, key=lambda each: (not each.status.faulty, each.id), default=None)
        if best is not None and (not (retry_failed and best.status.faulty) or best.id > since):
            found[position] = best.id
        elif stored and best is None:
            outdated[position] = agenda.inputs.describe_change(stored[-1].reads)
    return found, outdated


def _environment(suite: Suite, trials: Sequence[Trial], registry: Registry, options: Options) -> Environment:
    """Return that of the machine that will run the trials; workers unlike this client are refused."""
    if options.cluster is None:
        return replace(gather(suite.backends, options.threads), jobs=options.jobs)
    from benchfw.harness.dask.survey import survey_request, versions

    request = survey_request(trials, registry, suite.backends, options.threads)
    return options.cluster.inspect(request, versions(registry, request))


def _absolute(sources: Sequence[str]) -> tuple[str, ...]:
    """Return plugins as named, files by their full path: a replay may start from another folder."""
    return tuple(str(Path(source).resolve()) if Path(source).is_file() else source for source in sources)


def check_methods(trials: Sequence[Trial], registry: Registry, where: str) -> None:
    """Build every method once: a value that its plugin refuses is an error before anything runs."""
    for label, trial in {(trial.kind, trial.method.label): trial for trial in trials}.items():
        if trial.kind == "kernel":
            continue
        try:
            registry.build(trial.kind, trial.method.table)
        except BenchfwError:
            raise
        except Exception as fault:
            raise SuiteError(f"{where}: {' '.join(label)} cannot be built: {fault}") from fault


def execute(agenda: Agenda, registry: Registry, store: Store, options: Options, listen: Listener) -> Run:
    """Run what is pending, store every outcome as it comes, and return the run.

    KeyboardInterrupt goes through, after the workers are stopped; what was finished stays in the store.
    """
    suite = agenda.suite
    run = store.begin(suite.name, suite.title, suite.text, agenda.environment)
    with store.hold_run_lock(run):
        store.reuse(run, _links(agenda, agenda.known))
        pending = [agenda.trials[position] for position in agenda.pending]
        outdated = Counter(agenda.outdated.values())
        listen(Begun(run, len(agenda.known), pending, _at_once(options), outdated))
        added = {agenda.trials[position].key: number for position, number in agenda.known.items()}
        # elsewhere is another machine, and with several jobs there is always a trial that would be disturbed
        meter = NoiseMeter() if pending and options.cluster is None else None
        complete = True
        with contextlib.closing(_executor(agenda, registry, options)) as executor:
            rounds = _rounds(agenda, run, store, options, listen)
            for event in chain.from_iterable(_events(agenda, each, executor) for each in rounds):
                if isinstance(event, Finished):
                    outcome = complete_reads(event.outcome, registry.modules)
                    number = store.add(run, agenda.position[event.trial.key], event.trial, outcome)
                    added[event.trial.key] = number
                listen(event)
                _tell_plugins(registry, event)
                if options.fail_fast and isinstance(event, Finished) and event.outcome.status.faulty:
                    complete = False
                    break
                if meter and options.jobs <= 1 and isinstance(event, Finished) and (noise := meter.look()):
                    store.note_noise(run, noise)
        if complete:
            _replay(agenda, added, registry, store, options, listen)
            store.finish(run, meter.finish() if meter else None)
    finished = store.run(run)
    _call(registry, "run_finished", run=finished)
    return finished


def _replay(
    agenda: Agenda,
    known: Mapping[str, int],
    registry: Registry,
    store: Store,
    options: Options,
    listen: Listener,
) -> None:
    """Run a sample of the trials a second time, elsewhere, and note whether they came out the same."""
    if not options.replay or agenda.environment.isolation == "none":
        return
    wanted = choose_replays(agenda.trials) & known.keys()
    results = [store.result(known[key]) for key in sorted(wanted)]
    measured = {
        each.trial.key: (each.trial, each.outcome)
        for each in results
        if each.outcome.replay is None and each.outcome.status in MEASURED
    }
    if measured:
        listen(Replaying(len(measured)))
        make = functools.partial(_executor, agenda, registry, options, again=True)
        for key, difference in replay(measured, make, is_on_device):
            store.note_replay(known[key], difference)


def _at_once(options: Options) -> int:
    return max(1, options.jobs) if options.cluster is None else options.cluster.capacity


def _rounds(
    agenda: Agenda, run: int, store: Store, options: Options, listen: Listener
) -> Iterator[Sequence[int]]:
    """Yield positions to run until none is pending; what another run is at is waited for and taken over."""
    waiting, announced = agenda.pending, False
    if options.fresh:
        yield waiting
        return
    while waiting:
        theirs = store.reserve(run, [agenda.trials[position].key for position in waiting])
        free = [position for position in waiting if agenda.trials[position].key not in theirs]
        waiting = [position for position in waiting if agenda.trials[position].key in theirs]
        # ended between the first look and the reservation
        if free:
            found, _ = _find_stored(
                agenda, free, store, retry_failed=options.retry_failed, since=agenda.newest
            )
            store.reuse(run, _links(agenda, found))
            yield [position for position in free if position not in found]
        elif waiting:
            if not announced:
                listen(Awaited(len(waiting), tuple(sorted(set(theirs.values())))))
            announced = True
            sleep(POLL_SECONDS)


def _links(agenda: Agenda, found: Mapping[int, int]) -> list[tuple[int, Trial, int]]:
    return [(position, agenda.trials[position], number) for position, number in found.items()]


def _tell_plugins(registry: Registry, event: Event) -> None:
    if isinstance(event, Finished):
        _call(registry, "trial_finished", trial=event.trial, status=event.outcome.status)
    else:
        _call(registry, "trial_started", trial=event.trial)


def _call(registry: Registry, hook: str, **arguments: Any) -> None:
    """Call a hook; a plugin that raises in it is named, and loses nothing but its own work."""
    try:
        getattr(registry.hook, hook)(**arguments)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's hook may raise anything
        registry.note(f"a plugin's {hook} raised {fault_text(fault)}")


def _events(agenda: Agenda, positions: Sequence[int], executor: Executor) -> Iterator[Event]:
    """Yield the events of trials; those whose backend is absent are skipped at once."""
    absent = agenda.environment.absent_backends
    trials = [agenda.trials[position] for position in positions]
    for trial in trials:
        if trial.backend in absent:
            yield Finished(trial, Outcome(Status.SKIPPED, Ending.ABSENT, absent[trial.backend]))
    yield from executor.run(trial for trial in trials if trial.backend not in absent)


def _executor(agenda: Agenda, registry: Registry, options: Options, *, again: bool = False) -> Executor:
    if options.jobs == 0:
        return InlineExecutor(registry, threads=options.threads)
    timeout = options.timeout_of(agenda.suite.budget)
    if options.cluster is not None:
        from benchfw.harness.dask.executor import DaskExecutor
        from benchfw.harness.dask.packing import pack
        from benchfw.harness.dask.worker import WorkerTerms

        isolation = agenda.environment.isolation
        terms = WorkerTerms(pack(registry.sources), options.threads, timeout, options.memory, isolation)
        return DaskExecutor(options.cluster, terms, registry.note)
    memory = options.memory if options.memory is not None else total_memory() // options.jobs
    return LocalExecutor(
        registry.sources,
        jobs=options.jobs,
        threads=options.threads,
        timeout=timeout,
        memory=memory,
        devices=find_devices(dict.fromkeys(trial.backend for trial in agenda.trials)),
        device_memory=options.memory,
        isolation=agenda.environment.isolation,
        note=registry.note,
        other_hashes=again,
    )
