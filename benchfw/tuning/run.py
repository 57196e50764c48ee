"""Runs a suite whose methods are tuned: first the trials that choose their settings, then the verdict's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from benchfw.errors import BenchfwError, PluginError
from benchfw.harness.agenda import Agenda, Integers, prepare
from benchfw.harness.events import Listener, Phase
from benchfw.harness.options import Options
from benchfw.harness.run import GoingRun, open_run
from benchfw.loading import fault_text
from benchfw.measure.seeding import tuner_seed
from benchfw.plan import count_tuning_trials, tuning_of
from benchfw.provenance import Changes, Run
from benchfw.records import Cell, Trial
from benchfw.registry import Registry
from benchfw.search import ONE_SETTING, Tuning, setting_at, settle, spaces_in
from benchfw.store import Store
from benchfw.suite import Suite
from benchfw.summary.attempts import Aim, attempt_of, choose, choose_across
from benchfw.summary.histories import Reader
from benchfw.trials import Trials
from benchfw.tuning.searches import Search
from benchfw.tuning.tuners import Setting, Tuner

Asked: TypeAlias = Sequence[tuple[Search, Setting]]
"""Settings that tuners propose, each with the search that asked for it."""


@dataclass(frozen=True)
class TunedSuite:
    """What to run: a suite, its trials with search spaces in them, and how."""

    suite: Suite
    trials: Trials
    registry: Registry
    changes: Changes
    options: Options

    @property
    def tuning(self) -> Tuning:
        """The allowance."""
        return tuning_of(self.suite)

    @property
    def is_sequence(self) -> bool:
        """Whether the settings that are tried do not depend on results."""
        tuner = self.registry.get("tuner", self.tuning.tuner).factory
        return bool(getattr(tuner, "is_sequence", False))

    def trials_of(self, asked: Asked) -> Trials:
        """Return the trials of what tuners propose."""
        return Trials([search.trial(setting) for search, setting in asked], self.tuning.repetitions)

    def prepare(self, trials: Trials, store: Store | None, before: Agenda | None = None) -> Agenda:
        """Return what is to do of some trials; `before` is the agenda of another part of the run."""
        budget = self.tuning.budget if any(first.tuning for first in trials.firsts) else None
        suite = replace(self.suite, budget=budget) if budget else self.suite
        return prepare(suite, trials, self.registry, store, self.options, self.changes, before)


def is_tuned(trials: Trials) -> bool:
    """Return whether any method of the trials has something to tune."""
    return any(spaces_in(first.method.params) for first in trials.firsts)


def execute_tuned(planned: TunedSuite, store: Store, listen: Listener) -> Run:
    """Tune, then run the verdict's trials, in one run; return it."""
    middle = at_middle(planned)
    agenda = planned.prepare(middle, None)
    environment = replace(
        agenda.environment,
        trials=_count_trials(planned, middle),
        tuning=describe_tuning(planned),
    )
    agenda = replace(agenda, environment=environment)
    searches = list(_searches(planned))
    for search in searches:
        search.ask()  # a tuner that cannot begin is an error before there is a run
    with open_run(agenda, planned.registry, store, planned.options, listen) as going:
        _tune(planned, searches, agenda, going, store)
        verdict = planned.prepare(_verdict(planned, searches), store, agenda)
        tried = sum(len(search.attempts) for search in searches) * planned.tuning.repetitions
        going.note_verdict(verdict, tried + len(verdict.trials))
        going.perform(verdict)
    return going.finished


def _count_trials(planned: TunedSuite, verdict: Trials) -> int:
    """Return how many trials a run has at most, 0 where that depends on what tuning finds."""
    if not planned.is_sequence:
        return 0
    return len(verdict) + count_tuning_trials(
        planned.suite, [first.method for first in planned.trials.firsts]
    )


class Ahead(NamedTuple):
    """Trials of one cell in one phase of a run that is planned, and how many of them the store has.

    `stored` is None for those whose settings depend on what tuning finds.
    """

    cell: Cell
    phase: Phase
    trials: int
    stored: int | None


def look_ahead(planned: TunedSuite, store: Store | None) -> list[Ahead]:
    """Return what a run would do, without running anything: tuning as far as it is known, the verdict."""
    middle = at_middle(planned)
    agenda = planned.prepare(middle, store)
    tuning = [_look_at_tuning(planned, search, store, agenda) for search in _searches(planned)]
    counts = np.count_nonzero(agenda.stored.reshape(-1, middle.repetitions), axis=1).tolist()
    settled = {first.cell for first in planned.trials.firsts if not spaces_in(first.method.params)}
    verdict = [
        Ahead(first.cell, "verdict", middle.repetitions, stored if first.cell in settled else None)
        for first, stored in zip(middle.firsts, counts, strict=True)
    ]
    return [*tuning, *verdict]


def _look_at_tuning(planned: TunedSuite, search: Search, store: Store | None, agenda: Agenda) -> Ahead:
    """Follow a search as far as the store has its trials."""
    repetitions = planned.tuning.repetitions
    trials = stored = 0
    while settings := search.ask():
        asked = [(search, setting) for setting in settings]
        numbers = planned.prepare(planned.trials_of(asked), store, agenda).stored
        trials, stored = trials + len(numbers), stored + int(np.count_nonzero(numbers))
        if store is None or not numbers.all():
            # what else is tried depends on results, or is nothing
            trials = trials if planned.is_sequence else planned.tuning.trials * repetitions
            break
        _tell(asked, numbers, repetitions, store)
    return Ahead(search.first.cell, "tuning", trials, stored)


def describe_tuning(planned: TunedSuite) -> dict[str, Any]:
    """Return the allowance and the search spaces, as the store keeps them."""
    tuning = {name: value for name, value in vars(planned.tuning).items() if value not in (None, "")}
    if planned.tuning.budget is not None:
        tuning["budget"] = {name: limit for name, limit in vars(planned.tuning.budget).items() if limit}
    spaces = {
        first.method.label: {path: space.table for path, space in spaces_in(first.method.params).items()}
        for first in planned.trials.firsts
    }
    return {**tuning, "spaces": {label: tables for label, tables in spaces.items() if tables}}


def at_middle(planned: TunedSuite) -> Trials:
    """Return the verdict's trials with every parameter in the middle of its space, for a look ahead."""

    def middle(first: Trial) -> Setting:
        return setting_at(spaces_in(first.method.params), 0.5)

    return _settled(planned, middle, middle)


def _tune(
    planned: TunedSuite, searches: Sequence[Search], verdict: Agenda, going: GoingRun, store: Store
) -> None:
    """Run what tuners propose until they propose nothing.

    Positions in the run are those after the verdict's. No fault ends the run here: settings may break.
    """
    position = len(verdict.trials)
    while asked := [(search, setting) for search in searches for setting in search.ask()]:
        trials = planned.trials_of(asked)
        numbers = going.perform(planned.prepare(trials, store, verdict), position, "tuning")
        _tell(asked, numbers, planned.tuning.repetitions, store)
        position += len(trials)


def _make_tuner(planned: TunedSuite) -> Tuner:
    name = planned.tuning.tuner
    try:
        made: Tuner = planned.registry.get("tuner", name).factory()
    except BenchfwError:
        raise
    except Exception as fault:
        raise PluginError(f"tuner '{name}' cannot be made: it raised {fault_text(fault)}") from fault
    return made


def _searches(planned: TunedSuite) -> Iterator[Search]:
    tuner = _make_tuner(planned)
    aim = Aim.of(planned.tuning.metric, planned.suite.target)
    for first in planned.trials.firsts:
        if spaces := spaces_in(first.method.params):
            # of the spaces alone: methods with equal ones try the same settings, on every problem
            text = json.dumps({path: space.table for path, space in spaces.items()}, sort_keys=True)
            yield Search(first, tuner, tuner_seed(planned.suite.seed, text), planned.tuning, aim)


def _tell(asked: Asked, numbers: Integers, repetitions: int, store: Store) -> None:
    reader = Reader()
    for place, (search, setting) in enumerate(asked):
        some = numbers[place * repetitions : (place + 1) * repetitions].tolist()
        runs = [search.aim.measure_gap(reader.read(store.result(number))) for number in some]
        search.tell(attempt_of(setting, runs, search.aim))


def _verdict(planned: TunedSuite, searches: Sequence[Search]) -> Trials:
    """Return the verdict's trials with the settings that were chosen."""
    by_cell = {search.first.cell: search.attempts for search in searches}

    def chosen(first: Trial) -> Setting:
        attempts = by_cell[first.cell]
        return attempts[choose(attempts)].setting

    def chosen_across(first: Trial) -> Setting:
        problems = [
            attempts
            for cell, attempts in by_cell.items()
            if cell._replace(problem=first.cell.problem) == first.cell
        ]
        return problems[0][choose_across(problems)].setting

    return _settled(planned, chosen, chosen_across)


def _settled(
    planned: TunedSuite, chosen: Callable[[Trial], Setting], chosen_across: Callable[[Trial], Setting]
) -> Trials:
    """Return the verdict's trials with settings in the place of spaces.

    Where one setting for all problems is asked for too, a method has a second row with that.
    """
    firsts: list[Trial] = []
    problems = Counter((first.method.label, first.backend) for first in planned.trials.firsts)
    for first in planned.trials.firsts:
        tuned = bool(spaces_in(first.method.params))
        firsts.append(_settle(first, chosen(first)) if tuned else first)
        if tuned and planned.tuning.across and problems[first.method.label, first.backend] > 1:
            firsts.append(_settle(first, chosen_across(first), f"{first.method.label} ({ONE_SETTING})"))
    return Trials(firsts, planned.suite.repetitions)


def _settle(first: Trial, setting: Mapping[str, Any], label: str = "") -> Trial:
    method = settle(first.method, setting)
    return replace(first, method=replace(method, label=label or method.label))


def refuse_tuning(trials: Trials, what: str) -> None:
    """Raise a BenchfwError where trials have something to tune, for what needs settled methods."""
    if is_tuned(trials):
        raise BenchfwError(f"{what} needs methods whose parameters are values, and this suite tunes some")
