"""The tuning of one method on one problem: what was tried, what is next, and what is chosen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchfw.errors import BenchfwError, PluginError
from benchfw.loading import fault_text
from benchfw.records import Budget, Cell, Trial
from benchfw.search import Space, Tuning, has_value, settle, spaces_in
from benchfw.summary.attempts import Aim, Attempt, Spending, rank_attempts
from benchfw.tuning.tuners import Proposal, Tried, Tuner

AT_A_TIME = 4  # settings between two looks at what an allowance of cost or seconds has left
MOST_SETTINGS = 1000  # of one method under such an allowance: its trials may cost next to nothing
MOST_FREE = 16  # settings in a row that cost nothing at all, since all their runs break at once
ROUNDING = 1e-6


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
    aim: Aim
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
        return self._spending.within(self._once)

    @property
    def _once(self) -> list[Attempt]:
        return list({_attempt_key(Proposal(each.setting, each.share)): each for each in self.tried}.values())

    @property
    def _spending(self) -> Spending:
        return Spending(self.tuning.cost, self.tuning.seconds)

    def ask(self) -> list[Proposal]:
        """Return what to try next: the same until results are told, and nothing at the end.

        What is proposed again counts against the allowance, and is not run again.
        """
        while not (waiting := self._waiting()) and (found := self._propose()):
            self.proposed += found
        return waiting

    def _waiting(self) -> list[Proposal]:
        """Return the proposals that nothing is known of, each setting with one share at a time."""
        found: dict[str, Proposal] = {}
        for each in self.proposed:
            key = _attempt_key(each)
            if key not in self.attempts:
                found.setdefault(key[0], each)
        return list(found.values())

    def _propose(self) -> list[Proposal]:
        tried, trials = self.tried, self.tuning.trials
        if trials is None:
            free = [each.cost + each.seconds == 0 for each in tried[-MOST_FREE:]]
            spent = self._spending.is_spent(self._once)
            if spent or len(tried) >= MOST_SETTINGS or (len(free) == MOST_FREE and all(free)):
                return []
            trials = len(tried) + AT_A_TIME
        ranks = rank_attempts(tried)
        known = [Tried(each.setting, each.share, rank) for each, rank in zip(tried, ranks, strict=True)]
        spaces = spaces_in(self.first.method.params)
        try:
            found = self.tuner.propose(spaces, trials, self.seed, known)
        except BenchfwError:
            raise
        except Exception as fault:
            raise PluginError(f"tuner '{self.tuning.tuner}' raised {fault_text(fault)}") from fault
        return self._check(found, spaces, trials)

    def _check(self, found: Any, spaces: Mapping[str, Space], trials: int) -> list[Proposal]:
        """Return what a tuner proposes, if it is what a tuner may propose."""
        who = f"tuner '{self.tuning.tuner}'"
        if not isinstance(found, list | tuple) or not all(isinstance(each, Proposal) for each in found):
            raise PluginError(f"{who} must propose a list of Proposals, got {found!r:.100}")
        if not found and not self.proposed:
            raise PluginError(f"{who} proposed nothing")
        for setting, share in found:
            if not isinstance(setting, Mapping):
                raise PluginError(f"{who} must propose settings as dicts, got {setting!r:.100}")
            if set(setting) != set(spaces):
                raise PluginError(
                    f"{who} must give a value for each of {', '.join(spaces)}, got {dict(setting)!r:.100}"
                )
            for path, space in spaces.items():
                if not has_value(space, setting[path]):
                    raise PluginError(f"{who} proposed {path} = {setting[path]!r:.50}, outside of {space}")
            if not (isinstance(share, int | float) and 0 < share <= 1):
                raise PluginError(f"{who} proposed the share {share!r:.50} of a budget; give 0 < share <= 1")
        if sum(share for _, share in (*self.proposed, *found)) > trials + ROUNDING:
            raise PluginError(f"{who} proposed more than its allowance of {trials} whole budgets")
        return list(found)

    def trial(self, proposal: Proposal) -> Trial:
        """Return the first trial of a proposal."""
        budget = _shorten(self.tuning.budget or self.first.budget, proposal.share)
        method = settle(self.first.method, proposal.setting)
        holds_out = self.aim.is_of_test_rows(self.first.target)
        target = self.first.target if self.aim.axis else {}  # where the end counts, nothing stops before it
        return replace(
            self.first,
            method=method,
            tuning=self.round,
            holds_out=holds_out,
            budget=budget,
            target=target,
            # of fewer rows the best objective is another
            best=None if holds_out else self.first.best,
        )

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
