"""What a run is to do: its trials with their keys, and which of them the store has already."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchfw.backends import get_backend
from benchfw.errors import BenchfwError, SuiteError
from benchfw.harness.environment import gather
from benchfw.harness.identity import Identity
from benchfw.harness.inputs import Inputs
from benchfw.harness.options import Options
from benchfw.measure.seeding import order_seed
from benchfw.provenance import Changes, Environment
from benchfw.records import Trial
from benchfw.registry import Registry
from benchfw.store import Store
from benchfw.suite import Suite


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
        reference=suite.reference,
        changes=changes,
        plugins=_absolute(registry.sources),
        sources=identity.sources,
        datasets=identity.datasets,
    )
    agenda = Agenda(suite, stamped, Inputs(registry.modules), environment)
    if store is None or options.fresh:
        return agenda
    newest = store.newest()  # before the look: what comes between the two counts as new
    found, outdated = find_stored(agenda, range(len(trials)), store, retry_failed=options.retry_failed)
    return replace(agenda, known=found, outdated=outdated, newest=newest)


def find_stored(
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
