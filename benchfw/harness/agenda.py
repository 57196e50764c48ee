"""What a run is to do: its trials with their keys, and which of them the store has already."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, PluginError, SuiteError, Unavailable
from benchfw.harness.calls import find_wrong_call
from benchfw.harness.environment import gather
from benchfw.harness.identity import Identity
from benchfw.harness.inputs import Inputs
from benchfw.harness.options import Options
from benchfw.measure.estimators import check_estimates
from benchfw.measure.seeding import order_seed
from benchfw.provenance import Changes, Environment
from benchfw.records import Cell, Trial
from benchfw.registry import Registry
from benchfw.search import setting_at, settle, spaces_in
from benchfw.store import Store
from benchfw.suite import Suite
from benchfw.trials import Trials

Integers: TypeAlias = NDArray[np.integer[Any]]

AT_ONCE = 500  # keys that are looked up, or words that are drawn, at a time


@dataclass(frozen=True, eq=False)
class Agenda:
    """The trials of a suite with their keys, and the store's newest trial.

    `stored` has the id of each trial in the store, 0 where it is to be run. `outdated` counts the trials that
    run again though the store has them, by what has changed that they had read.
    """

    suite: Suite
    trials: Trials
    inputs: Inputs
    identity: Identity
    environment: Environment
    stored: Integers
    outdated: Mapping[str, int] = field(default_factory=dict)
    newest: int = 0

    @property
    def pending(self) -> Integers:
        """Return the positions of the trials to run, by repetition, each in an order drawn from the seed."""
        todo = np.flatnonzero(self.stored == 0)
        ordered = todo[np.lexsort((self._draws()[todo], self.repetitions(todo)))]
        return ordered.astype(np.int32)  # held as long as the run goes on

    def _draws(self) -> NDArray[np.uint64]:
        """Return a random word for each trial, made some at a time: that takes memory."""
        seed, bits = order_seed(self.suite.seed), get_backend("numpy").bits
        draws = np.empty(len(self.trials), dtype=np.uint64)
        for start in range(0, len(draws), AT_ONCE):
            some = draws[start : start + AT_ONCE]
            some[:] = bits(seed, 0, 0, start, len(some))
        return draws

    def repetitions(self, positions: Integers) -> Integers:
        """Return the repetition of the trial at each position."""
        return positions % self.trials.repetitions

    def first_trials(self, positions: Integers) -> Integers:
        """Return for each position which of the first trials it repeats."""
        return positions // self.trials.repetitions

    def keys(self, positions: Integers) -> Iterator[str]:
        """Yield the key of the trial at each position."""
        return map(self.trials.key, positions.data)  # Python's integers, without a list of them

    def count_by_cell(self, positions: Integers) -> dict[Cell, int]:
        """Return how many of the positions are of each cell."""
        counts = np.bincount(self.first_trials(positions), minlength=len(self.trials.firsts)).tolist()
        found = Counter[Cell]()
        for first, count in zip(self.trials.firsts, counts, strict=True):
            found[first.cell] += count
        return {cell: count for cell, count in found.items() if count}


def prepare(
    suite: Suite,
    trials: Trials,
    registry: Registry,
    store: Store | None,
    options: Options,
    changes: Changes,
    before: Agenda | None = None,
) -> Agenda:
    """Give every trial its key and look it up; `changes` is noted: what was asked for beyond the suite.

    Of a further part of a run, `before` has the one before, with all that does not depend on the trials.
    """
    isolation = options.isolation_of(suite.isolation)
    if before is None:
        environment = _environment(suite, trials.firsts, registry, options)
        identity = Identity(registry, environment.backends, options.threads, isolation=isolation)
        inputs = Inputs(registry.modules)
    else:
        environment, identity, inputs = before.environment, before.identity, before.inputs
    keyed = trials.keyed(identity.stamp)
    environment = replace(
        environment,
        packages={**environment.packages, **identity.libraries},
        isolation=isolation,
        trials=len(trials),
        reference=suite.reference,
        changes=changes,
        plugins=_absolute(registry.sources),
        sources=identity.sources,
        datasets=identity.datasets,
    )
    nothing = np.zeros(len(trials), dtype=np.int64)
    agenda = Agenda(suite, keyed, inputs, identity, environment, nothing)
    if store is None or options.fresh:
        return agenda
    newest = store.newest()  # before the look: what comes between the two counts as new
    every = np.arange(len(trials))
    found, outdated = find_stored(agenda, every, store, retry_failed=options.retry_failed)
    return replace(agenda, stored=found, outdated=outdated, newest=newest)


def find_stored(
    agenda: Agenda, positions: Integers, store: Store, *, retry_failed: bool, since: float = math.inf
) -> tuple[Integers, Counter[str]]:
    """Return the ids of the trials that need not be run, 0 of others, and how often what is outdated.

    What failed need not be run either; if it is to be run again, only what was added after the trial `since`.
    """
    found, outdated = np.zeros(len(positions), dtype=np.int64), Counter[str]()
    for start in range(0, len(positions), AT_ONCE):
        keys = list(agenda.keys(positions[start : start + AT_ONCE]))
        known = store.known(keys)
        for place, key in enumerate(keys, start):
            stored = known.get(key, ())
            valid = [each for each in stored if not agenda.inputs.describe_change(each.reads)]
            best = max(valid, key=lambda each: (not each.status.faulty, each.id), default=None)
            if best is not None and (not (retry_failed and best.status.faulty) or best.id > since):
                found[place] = best.id
            elif stored and best is None:
                outdated[agenda.inputs.describe_change(stored[-1].reads)] += 1
    return found, outdated


def _environment(suite: Suite, trials: Sequence[Trial], registry: Registry, options: Options) -> Environment:
    """Return that of the machines that will run the trials."""
    if options.cluster is None:
        return replace(gather(suite.backends, options.threads), jobs=options.jobs)
    return options.cluster.inspect(trials, options.terms_of(suite, registry))


def _absolute(sources: Sequence[str]) -> tuple[str, ...]:
    """Return plugins as named, files by their full path: a replay may start from another folder."""
    return tuple(str(Path(source).resolve()) if Path(source).is_file() else source for source in sources)


def check_methods(trials: Iterable[Trial], registry: Registry, where: str) -> None:
    """Build every method once: a value that its plugin refuses is an error before anything runs.

    So is one that cannot be called as its role demands or estimates what nothing is called, and a mistake
    that a factory finds when it is asked for the files of a method or a problem.
    """
    trials = list(trials)
    specs = {("problem", trial.problem.label): trial.problem for trial in trials if trial.kind != "kernel"}
    specs |= {(trial.kind, trial.method.label): trial.method for trial in trials if trial.kind != "kernel"}
    for (kind, name), spec in specs.items():
        try:
            registry.source_files(kind, spec.table)
        except BenchfwError as fault:
            raise SuiteError(f"{where}: {kind} '{name}': {fault}") from None
    for label, trial in {(trial.kind, trial.method.label): trial for trial in trials}.items():
        if trial.kind == "kernel":
            continue
        spaces = spaces_in(trial.method.params)
        places = (0.5, 0.0, 1.0) if spaces else (0.5,)
        for place in places:
            setting = setting_at(spaces, place)
            try:
                built = registry.build(trial.kind, settle(trial.method, setting).table)
                _check_call(built, trial, where)
                break  # one that it refuses comes last in tuning, as one that breaks does
            except Unavailable:
                break  # its trials are skipped, with the reason
            except BenchfwError:
                raise
            except Exception as fault:
                if place == places[-1]:
                    said = f" with {', '.join(f'{path} = {each}' for path, each in setting.items())}"
                    name = f"{' '.join(label)}{said if spaces else ''}"
                    raise SuiteError(f"{where}: {name} cannot be built: {fault}") from fault


def check_files(trials: Iterable[Trial], registry: Registry, where: str) -> None:
    """Raise a SuiteError for a file or a folder that a problem or a method names and that is not here."""
    tables = {(kind, str(table)): table for trial in trials for kind, table in trial.tables}
    for (kind, _), table in tables.items():
        for owner, name, value in registry.files_in(kind, table):
            if not Path(value).exists():
                raise SuiteError(
                    f"{where}: {name} of {owner} is {value}, which does not exist; put it there, or change "
                    "the suite"
                )


def _check_call(method: Any, trial: Trial, where: str) -> None:
    """Raise a SuiteError for a method that cannot be called as its role demands; `prepare` gives another."""
    if hasattr(method, "prepare"):
        return
    name = f"{where}: {trial.kind} '{trial.method.label}'"
    wrong = find_wrong_call(method, trial.kind)
    if wrong is not None:
        raise SuiteError(f"{name}: {wrong.fault}; {wrong.advice}")
    if trial.kind == "estimator":
        try:
            check_estimates(method)
        except PluginError as fault:
            raise SuiteError(f"{name}: {fault}") from None
