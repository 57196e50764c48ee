"""Runs a suite whose methods are tuned: first the trials that choose their settings, then the verdict's."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

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
from benchfw.records import Cell, Spec, Trial
from benchfw.registry import Registry
from benchfw.search import ONE_SETTING, Tuning, setting_at, settle, spaces_in
from benchfw.store import Store
from benchfw.suite import Suite
from benchfw.summary.attempts import (
    Aim,
    attempt_of,
    choose,
    choose_across,
)
from benchfw.summary.histories import Reader
from benchfw.trials import Trials
from benchfw.tuning.searches import Search
from benchfw.tuning.tuners import Proposal, Setting, Tuner


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
    def rounds(self) -> int:
        """How many tunings each method has."""
        return self.suite.repetitions if self.tuning.repeats else 1

    @property
    def is_sequence(self) -> bool:
        """Whether the settings that are tried do not depend on results."""
        tuner = self.registry.get("tuner", self.tuning.tuner).factory
        return bool(getattr(tuner, "is_sequence", False))

    def trials_of(self, asked: Sequence[tuple[Search, Proposal]]) -> Trials:
        """Return the trials of what tuners propose."""
        return Trials([search.trial(proposal) for search, proposal in asked], self.tuning.repetitions)

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
    for each in searches:
        each.ask()  # a tuner that cannot begin is an error before there is a run
    with open_run(agenda, planned.registry, store, planned.options, listen) as going:
        _tune(planned, searches, agenda, going, store)
        verdict = planned.prepare(_verdict(planned, searches), store, agenda)
        tried = sum(len(each.attempts) for each in searches) * planned.tuning.repetitions
        going.note_verdict(verdict, tried + len(verdict.trials))
        going.perform(verdict)
    return going.finished


def _count_trials(planned: TunedSuite, verdict: Trials) -> int:
    """Return how many trials a run has at most, 0 where that depends on what tuning finds."""
    if planned.tuning.trials is None or not planned.is_sequence:
        return 0
    return len(verdict) + count_tuning_trials(planned.suite, _methods(planned.trials))


class Ahead(NamedTuple):
    """Trials of one cell in one phase of a run that is planned, and how many of them the store has.

    `stored` is None for those whose settings depend on what tuning finds. Where they are so many `at_least`,
    how many more depends on that, too.
    """

    cell: Cell
    phase: Phase
    trials: int
    stored: int | None = None
    at_least: bool = False


def look_ahead(planned: TunedSuite, store: Store | None) -> list[Ahead]:
    """Return what a run would do, without running anything: tuning as far as it is known, the verdict."""
    found: dict[Cell, Ahead] = {}
    middle = at_middle(planned)
    agenda = planned.prepare(middle, store)
    for search in _searches(planned):
        asked, stored, at_least = _look_at_tuning(planned, search, store, agenda)
        cell = search.first.cell
        before = found.get(cell, Ahead(cell, "tuning", 0, 0))
        at_least = at_least or before.at_least
        found[cell] = Ahead(cell, "tuning", before.trials + asked, (before.stored or 0) + stored, at_least)
    known = agenda.stored.reshape(-1, middle.repetitions)
    cells = [first.cell for first in middle.firsts[:: planned.rounds]]
    settled = {first.cell for first in planned.trials.firsts if not spaces_in(first.method.params)}
    verdict = [
        Ahead(cell, "verdict", middle.repetitions, int(np.count_nonzero(each)) if cell in settled else None)
        for cell, each in zip(cells, known, strict=True)
    ]
    return [*found.values(), *verdict]


def _look_at_tuning(
    planned: TunedSuite, search: Search, store: Store | None, agenda: Agenda
) -> tuple[int, int, bool]:
    """Follow a search as far as the store has its trials; return how many it takes, and how many are there.

    The last is whether it may take more.
    """
    trials = stored = 0
    while proposals := search.ask():
        asked = [(search, each) for each in proposals]
        numbers = planned.prepare(planned.trials_of(asked), store, agenda).stored
        trials, stored = trials + len(numbers), stored + int(np.count_nonzero(numbers))
        if store is None or not numbers.all():
            break
        _tell(asked, numbers, planned.tuning.repetitions, store)
    else:
        return trials, stored, False
    allowed = planned.tuning.trials
    if allowed is None or any(each.share < 1 for each in proposals):
        return trials, stored, True
    return trials if planned.is_sequence else allowed * planned.tuning.repetitions, stored, False


def _methods(trials: Trials) -> list[Spec]:
    return [first.method for first in trials.firsts]


def describe_tuning(planned: TunedSuite) -> dict[str, Any]:
    """Return the allowance and the search spaces, as the store keeps them."""
    tuning = {name: value for name, value in vars(planned.tuning).items() if value not in (None, "", False)}
    if planned.tuning.budget is not None:
        tuning["budget"] = {name: each for name, each in vars(planned.tuning.budget).items() if each}
    spaces = {
        first.method.label: {path: each.table for path, each in spaces_in(first.method.params).items()}
        for first in planned.trials.firsts
    }
    tuning["is_sequence"] = planned.is_sequence
    return {**tuning, "spaces": {label: found for label, found in spaces.items() if found}}


def at_middle(planned: TunedSuite) -> Trials:
    """Return the verdict's trials with every parameter in the middle of its space, for a look ahead."""
    return _settled(planned, lambda first, _: setting_at(spaces_in(first.method.params), 0.5))


def _tune(
    planned: TunedSuite, searches: Sequence[Search], verdict: Agenda, going: GoingRun, store: Store
) -> None:
    """Run what tuners propose until they propose nothing.

    Positions in the run are those after the verdict's. No fault ends the run here: settings may break.
    """
    position = len(verdict.trials)
    while True:
        asked = [(search, proposal) for search in searches for proposal in search.ask()]
        if not asked:
            break
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
        spaces = spaces_in(first.method.params)
        for number in range(1, planned.rounds + 1) if spaces else ():
            # of the spaces alone: methods with equal ones try the same settings, on every problem
            text = json.dumps({path: each.table for path, each in spaces.items()}, sort_keys=True)
            seed = tuner_seed(planned.suite.seed, number, text)
            yield Search(first, number, tuner, seed, planned.tuning, aim)


def _tell(
    asked: Sequence[tuple[Search, Proposal]], numbers: Integers, repetitions: int, store: Store
) -> None:
    reader = Reader()
    for place, (search, proposal) in enumerate(asked):
        some = numbers[place * repetitions : (place + 1) * repetitions].tolist()
        runs = [search.aim.measure_gap(reader.read(store.result(number))) for number in some]
        search.tell(proposal, attempt_of(proposal.setting, runs, search.aim, proposal.share))


def _verdict(planned: TunedSuite, searches: Sequence[Search]) -> Trials:
    """Return the verdict's trials with the settings that were chosen."""
    by_key = {search.key: search for search in searches}

    def chosen(first: Trial, number: int) -> Setting:
        attempts = by_key[first.cell, number].counted
        return attempts[choose(attempts)].setting

    def chosen_across(first: Trial, number: int) -> Setting:
        mine = (first.method.label, first.backend, number)
        alike = [
            each.counted
            for each in searches
            if (each.first.method.label, each.first.backend, each.round) == mine
        ]
        fewest = min(map(len, alike))
        return alike[0][choose_across([each[:fewest] for each in alike])].setting

    return _settled(planned, chosen, chosen_across)


def _settled(planned: TunedSuite, chosen: Any, chosen_across: Any = None) -> Trials:
    """Return the verdict's trials with settings in the place of spaces, one a round.

    Where one setting for all problems is asked for too, a method has a second row with that.
    """
    firsts: list[Trial] = []
    problems = Counter((first.method.label, first.backend) for first in planned.trials.firsts)
    for first in planned.trials.firsts:
        rounds = range(1, planned.rounds + 1)
        tuned = bool(spaces_in(first.method.params))
        firsts += [_settle(first, chosen(first, each)) if tuned else first for each in rounds]
        if tuned and planned.tuning.across and problems[first.method.label, first.backend] > 1:
            across = chosen_across or chosen
            label = f"{first.method.label} ({ONE_SETTING})"
            firsts += [_settle(first, across(first, each), label) for each in rounds]
    return Trials(firsts, planned.suite.repetitions, variants=planned.rounds)


def _settle(first: Trial, setting: Mapping[str, Any], label: str = "") -> Trial:
    method = settle(first.method, setting)
    return replace(first, method=replace(method, label=label or method.label))


def refuse_tuning(trials: Trials, what: str) -> None:
    """Raise a BenchfwError where trials have something to tune, for what needs settled methods."""
    if is_tuned(trials):
        raise BenchfwError(f"{what} needs methods whose parameters are values, and this suite tunes some")
