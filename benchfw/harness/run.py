"""Runs a suite: plans, leaves out what the store already has, executes the rest, keeps every outcome."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, SuiteError
from benchfw.harness.environment import default_threads, gather, total_memory
from benchfw.harness.executors.events import Event, Executor, Finished
from benchfw.harness.executors.local import LocalExecutor
from benchfw.harness.identity import Identity
from benchfw.harness.seeding import order_seed
from benchfw.loading import fault_text
from benchfw.parameters import fits
from benchfw.records import Outcome, Run, Status, Trial
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.suite import Suite

PATIENCE = 10.0  # a trial may take this many times its budget of seconds, metrics and set-up included
GRACE = 60.0


@dataclass(frozen=True)
class Options:
    """How to run, as against what to run."""

    jobs: int = 1
    threads: int = field(default_factory=default_threads)
    timeout: float | None = None
    memory: int | None = None
    fresh: bool = False
    retry_failed: bool = False
    fail_fast: bool = False

    def __post_init__(self) -> None:
        limits = (("jobs", self.jobs, 1024), ("threads", self.threads, 1024), ("memory", self.memory, 2**60))
        for name, value, most in limits:
            if value is not None and (not isinstance(value, int) or not 1 <= value <= most):
                raise BenchfwError(f"{name} must be a whole number from 1 to {most:,}, got {value!r}")
        if self.timeout is not None and not (fits(self.timeout, float) and 0 < self.timeout < math.inf):
            raise BenchfwError(f"timeout must be a positive number of seconds, got {self.timeout!r}")


@dataclass(frozen=True)
class Begun:
    """The first event of a run: what is to do, and what is in the store already."""

    run: int
    total: int
    reused: int


Listener = Callable[[Begun | Event], None]


@dataclass(frozen=True)
class Agenda:
    """The trials of a suite with their keys, and the ids of those that the store already has."""

    suite: Suite
    trials: Sequence[Trial]
    known: Mapping[int, int]
    environment: Mapping[str, Any]

    @property
    def pending(self) -> list[int]:
        """Return the positions of the trials to run, by repetition, each in an order drawn from the seed."""
        draws = get_backend("numpy").rng(order_seed(self.suite.seed)).bits(len(self.trials))
        todo = [position for position in range(len(self.trials)) if position not in self.known]
        return sorted(todo, key=lambda position: (self.trials[position].repetition, int(draws[position])))


def prepare(
    suite: Suite, trials: Sequence[Trial], registry: Registry, store: Store | None, options: Options
) -> Agenda:
    """Give every trial its key and look it up."""
    environment = {**gather(suite.backends, options.threads), "plugins": _absolute(registry.sources)}
    identity = Identity(registry, environment["backends"], options.threads)
    stamped = [identity.stamp(trial) for trial in trials]
    known = store.known(trial.key for trial in stamped) if store and not options.fresh else {}
    usable = {
        position: known[trial.key][0]
        for position, trial in enumerate(stamped)
        if trial.key in known and not (options.retry_failed and known[trial.key][1].faulty)
    }
    return Agenda(suite, stamped, usable, environment)


def _absolute(sources: Sequence[str]) -> list[str]:
    """Return plugins as named, files by their full path: a replay may start from another folder."""
    return [str(Path(source).resolve()) if Path(source).is_file() else source for source in sources]


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
    store.reuse(
        run, [(position, agenda.trials[position], number) for position, number in agenda.known.items()]
    )
    listen(Begun(run, len(agenda.trials), len(agenda.known)))
    positions = {agenda.trials[position].key: position for position in agenda.pending}
    executor = _executor(registry, suite, options)
    stopped = False
    try:
        for event in _events(agenda, executor):
            if isinstance(event, Finished):
                store.add(run, positions[event.trial.key], event.trial, event.outcome)
            listen(event)
            _tell_plugins(registry, event)
            stopped = options.fail_fast and isinstance(event, Finished) and event.outcome.status.faulty
            if stopped:
                break
    finally:
        executor.close()
    if not stopped:
        store.finish(run)
    finished = store.run(run)
    _call(registry, "run_finished", run=finished)
    return finished


def _tell_plugins(registry: Registry, event: Event) -> None:
    if isinstance(event, Finished):
        _call(registry, "trial_finished", trial=event.trial, status=event.outcome.status)
    else:
        _call(registry, "trial_started", trial=event.trial)


def _call(registry: Registry, hook: str, **told: Any) -> None:
    """Call a hook; a plugin that raises in it is named, and loses nothing but its own work."""
    try:
        getattr(registry.hook, hook)(**told)
    except (Exception, SystemExit) as fault:  # noqa: BLE001 - a stranger's hook may raise anything
        registry.note(f"a plugin's {hook} raised {fault_text(fault)}")


def _events(agenda: Agenda, executor: Executor) -> Iterator[Event]:
    """Yield the events of all pending trials; those whose backend is absent are skipped at once."""
    absent = absent_backends(agenda)
    trials = [agenda.trials[position] for position in agenda.pending]
    for trial in trials:
        if trial.backend in absent:
            yield Finished(trial, Outcome(Status.SKIPPED, absent[trial.backend]))
    yield from executor.run(trial for trial in trials if trial.backend not in absent)


def absent_backends(agenda: Agenda) -> dict[str, str]:
    """Return why a backend is not here, for those that are not."""
    facts = agenda.environment["backends"]
    return {name: each["unavailable"] for name, each in facts.items() if "unavailable" in each}


def timeout_of(suite: Suite, options: Options) -> float | None:
    """Return the seconds after which a trial is ended: as asked, or from the suite's budget of seconds."""
    if options.timeout is None and suite.budget.seconds is not None:
        return PATIENCE * suite.budget.seconds + GRACE
    return options.timeout


def _executor(registry: Registry, suite: Suite, options: Options) -> Executor:
    memory = options.memory if options.memory is not None else total_memory() // options.jobs
    return LocalExecutor(
        registry.sources,
        jobs=options.jobs,
        threads=options.threads,
        timeout=timeout_of(suite, options),
        memory=memory,
    )
