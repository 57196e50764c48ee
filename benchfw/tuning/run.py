"""Runs a suite whose methods are tuned: first the trials that choose their settings, then the verdict's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchfw.errors import BenchfwError
from benchfw.harness.agenda import Agenda, Integers, prepare
from benchfw.harness.events import Listener
from benchfw.harness.options import Options
from benchfw.harness.run import GoingRun, open_run
from benchfw.measure.seeding import tuner_seed
from benchfw.plan import count_tuning_trials, tuning_of
from benchfw.provenance import Changes, Run
from benchfw.records import Budget, Cell, Spec, Trial, change
from benchfw.registry import Registry
from benchfw.search import ONE_SETTING, Tuning, setting_at, settle, spaces_in
from benchfw.store import Store
from benchfw.suite import Suite
from benchfw.summary.attempts import (
    Aim,
    Attempt,
    Spending,
    attempt_of,
    choose,
    choose_across,
    rank_attempts,
)
from benchfw.summary.histories import Reader
from benchfw.trials import Trials
from benchfw.tuning.tuners import Proposal, Setting, Tried, Tuner

AT_A_TIME = 4  # settings between two looks at what an allowance of cost or seconds has left
MOST_SETTINGS = 1000  # of one method under such an allowance: its trials may cost nothing


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

    def prepare(self, trials: Trials, store: Store | None, budget: Budget | None = None) -> Agenda:
        """Return what is to do of some trials."""
        suite = replace(self.suite, budget=budget) if budget else self.suite
        return prepare(suite, trials, self.registry, store, self.options, self.changes)


@dataclass
class Search:
    """The tuning of one cell in one round: its open trial, and what was tried so far.

    `proposed` has every proposal in order, the same setting more than once where the tuner says so.
    """

    first: Trial
    round: int
    tuner: Tuner
    seed: int
    tuning: Tuning
    proposed: list[Proposal] = field(default_factory=list)
    attempts: dict[tuple[str, float], Attempt] = field(default_factory=dict)

    @property
    def key(self) -> tuple[Cell, int]:
        """What the search is of."""
        return self.first.cell, self.round

    @property
    def tried(self) -> list[Attempt]:
        """The attempt that each proposal led to, in order."""
        return [self.attempts[_attempt_key(each)] for each in self.proposed]

    @property
    def counted(self) -> list[Attempt]:
        """The attempts within the allowance, in order, each once."""
        whole = list({_attempt_key(Proposal(each.setting, each.share)): each for each in self.tried}.values())
        return Spending(self.tuning.cost, self.tuning.seconds).within(whole)

    def ask(self) -> list[Proposal]:
        """Return what to try next, nothing at the end."""
        spaces, trials = spaces_in(self.first.method.params), self.tuning.trials
        tried = self.tried
        if trials is None:
            if len(tried) >= MOST_SETTINGS or len(self.counted) < len(self.attempts):
                return []
            trials = len(tried) + AT_A_TIME
        ranks = rank_attempts(tried)
        known = [Tried(each.setting, each.share, rank) for each, rank in zip(tried, ranks, strict=True)]
        found = list(self.tuner.propose(spaces, trials, self.seed, known))
        self.proposed += found
        new = {_attempt_key(each): each for each in found}
        return [each for key, each in new.items() if key not in self.attempts]

    def trial(self, proposal: Proposal) -> Trial:
        """Return the first trial of a proposal."""
        budget = _shorten(self.tuning.budget or self.first.budget, proposal.share)
        method = settle(self.first.method, proposal.setting)
        return change(self.first, method=method, tuning=self.round, budget=budget, best=None)

    def tell(self, proposal: Proposal, attempt: Attempt) -> None:
        """Take what came of a proposal."""
        self.attempts[_attempt_key(proposal)] = attempt


def _attempt_key(proposal: Proposal) -> tuple[str, float]:
    return json.dumps(dict(proposal.setting), sort_keys=True, default=str), proposal.share


def _shorten(budget: Budget, share: float) -> Budget:
    """Return a share of a budget, of one iteration at least."""
    if share == 1.0:
        return budget
    limits = {name: limit * share for name, limit in vars(budget).items() if limit is not None}
    if "iterations" in limits:
        limits["iterations"] = max(1, int(limits["iterations"]))
    return Budget(**limits)


def is_tuned(trials: Trials) -> bool:
    """Return whether any method of the trials has something to tune."""
    return any(spaces_in(first.method.params) for first in trials.firsts)


def execute_tuned(planned: TunedSuite, store: Store, listen: Listener) -> Run:
    """Tune, then run the verdict's trials, in one run; return it."""
    middle = at_middle(planned)
    agenda = planned.prepare(middle, None)
    environment = replace(
        agenda.environment,
        trials=len(middle) + count_tuning_trials(planned.suite, _methods(planned.trials)),
        tuning=describe_tuning(planned),
    )
    agenda = replace(agenda, environment=environment)
    with open_run(agenda, planned.registry, store, planned.options, listen) as going:
        searches = _tune(planned, going, store, len(middle))
        if not going.broken:
            going.perform(planned.prepare(_verdict(planned, searches), store))
    return going.finished


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
    tuner = planned.registry.get("tuner", planned.tuning.tuner).factory
    tuning["is_sequence"] = bool(getattr(tuner, "is_sequence", False))
    return {**tuning, "spaces": {label: found for label, found in spaces.items() if found}}


def at_middle(planned: TunedSuite) -> Trials:
    """Return the verdict's trials with every parameter in the middle of its space, for a look ahead."""
    return _settled(planned, lambda first, _: setting_at(spaces_in(first.method.params), 0.5))


def _tune(planned: TunedSuite, going: GoingRun, store: Store, position: int) -> list[Search]:
    """Run what tuners propose until they propose nothing; return the searches."""
    searches = list(_searches(planned))
    aim = Aim.of(planned.tuning.metric, planned.suite.target)
    while True:
        asked = [(search, proposal) for search in searches for proposal in search.ask()]
        if not asked:
            break
        budget = planned.tuning.budget
        trials = Trials([search.trial(each) for search, each in asked], planned.tuning.repetitions)
        agenda = planned.prepare(trials, store, budget)
        numbers = going.perform(agenda, position, "tuning")
        if not numbers.all():
            break  # a fault ended the run
        _tell(asked, numbers, planned.tuning.repetitions, store, aim)
        position += len(trials)
    return searches


def _searches(planned: TunedSuite) -> Iterator[Search]:
    tuner = planned.registry.get("tuner", planned.tuning.tuner).factory()
    for first in planned.trials.firsts:
        spaces = spaces_in(first.method.params)
        for number in range(1, planned.rounds + 1) if spaces else ():
            # of the spaces alone: methods with equal ones try the same settings, on every problem
            text = json.dumps({path: each.table for path, each in spaces.items()}, sort_keys=True)
            seed = tuner_seed(planned.suite.seed, number, text)
            yield Search(first, number, tuner, seed, planned.tuning)


def _tell(
    asked: Sequence[tuple[Search, Proposal]], numbers: Integers, repetitions: int, store: Store, aim: Aim
) -> None:
    reader = Reader()
    for place, (search, proposal) in enumerate(asked):
        some = numbers[place * repetitions : (place + 1) * repetitions].tolist()
        runs = [reader.read(store.result(number)) for number in some]
        search.tell(proposal, attempt_of(proposal.setting, runs, aim, proposal.share))


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
    for first in planned.trials.firsts:
        rounds = range(1, planned.rounds + 1)
        tuned = bool(spaces_in(first.method.params))
        firsts += [_settle(first, chosen(first, each)) if tuned else first for each in rounds]
        if tuned and planned.tuning.across:
            across = chosen_across or chosen
            label = f"{first.method.label} ({ONE_SETTING})"
            firsts += [_settle(first, across(first, each), label) for each in rounds]
    return Trials(firsts, planned.suite.repetitions, variants=planned.rounds)


def _settle(first: Trial, setting: Mapping[str, Any], label: str = "") -> Trial:
    method = settle(first.method, setting)
    return change(first, method=replace(method, label=label or method.label))


def refuse_tuning(trials: Trials, what: str) -> None:
    """Raise a BenchfwError where trials have something to tune, for what needs settled methods."""
    if is_tuned(trials):
        raise BenchfwError(f"{what} needs methods whose parameters are values, and this suite tunes some")
