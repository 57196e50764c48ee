"""The tuning of one method on one problem: what was tried, and what is next."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchfw.errors import BenchfwError, PluginError
from benchfw.loading import fault_text
from benchfw.records import Trial
from benchfw.search import Space, Tuning, has_value, settle, spaces_in
from benchfw.summary.attempts import Aim, Attempt, rank_attempts
from benchfw.tuning.tuners import Setting, Tried, Tuner


@dataclass
class Search:
    """The tuning of one cell: its open trial, and what was tried so far.

    `proposed` has every proposal in order, the same setting more than once where the tuner says so.
    """

    first: Trial
    tuner: Tuner
    seed: int
    tuning: Tuning
    aim: Aim
    proposed: list[Setting] = field(default_factory=list)
    by_setting: dict[str, Attempt] = field(default_factory=dict)

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts in order, each setting once."""
        return list(self.by_setting.values())

    def ask(self) -> list[Setting]:
        """Return what to try next: the same until results are told, and nothing at the end.

        What is proposed again counts against the allowance, and is not run again.
        """
        while not (waiting := self._waiting()) and (settings := self._propose()):
            self.proposed += settings
        return waiting

    def _waiting(self) -> list[Setting]:
        by_text = {_text(setting): setting for setting in self.proposed}
        return [setting for text, setting in by_text.items() if text not in self.by_setting]

    def _propose(self) -> list[Setting]:
        attempts = [self.by_setting[_text(setting)] for setting in self.proposed]
        ranks = rank_attempts(attempts)
        tried = [Tried(attempt.setting, rank) for attempt, rank in zip(attempts, ranks, strict=True)]
        spaces = spaces_in(self.first.method.params)
        try:
            proposals = self.tuner.propose(spaces, self.tuning.trials, self.seed, tried)
        except BenchfwError:
            raise
        except Exception as fault:
            raise PluginError(f"tuner '{self.tuning.tuner}' raised {fault_text(fault)}") from fault
        return self._check(proposals, spaces)

    def _check(self, proposals: Any, spaces: Mapping[str, Space]) -> list[Setting]:
        """Return what a tuner proposes, if it is what a tuner may propose."""
        who = f"tuner '{self.tuning.tuner}'"
        if not isinstance(proposals, list | tuple) or not all(
            isinstance(each, Mapping) for each in proposals
        ):
            raise PluginError(f"{who} must propose a list of settings, each a dict, got {proposals!r:.100}")
        if not proposals and not self.proposed:
            raise PluginError(f"{who} proposed nothing")
        for setting in proposals:
            if set(setting) != set(spaces):
                raise PluginError(
                    f"{who} must give a value for each of {', '.join(spaces)}, got {dict(setting)!r:.100}"
                )
            for path, space in spaces.items():
                if not has_value(space, setting[path]):
                    raise PluginError(f"{who} proposed {path} = {setting[path]!r:.50}, outside of {space}")
        if len(self.proposed) + len(proposals) > self.tuning.trials:
            raise PluginError(f"{who} proposed more than its allowance of {self.tuning.trials} settings")
        return list(proposals)

    def trial(self, setting: Setting) -> Trial:
        holds_out = self.aim.is_of_test_rows(self.first.target)
        return replace(
            self.first,
            method=settle(self.first.method, setting),
            tuning=1,
            holds_out=holds_out,
            budget=self.tuning.budget or self.first.budget,
            target=self.first.target
            if self.aim.axis
            else {},  # where the end counts, nothing stops before it
            best=None if holds_out else self.first.best,  # of fewer rows the best objective is another
        )

    def tell(self, attempt: Attempt) -> None:
        """Take what came of a setting."""
        self.by_setting[_text(attempt.setting)] = attempt


def _text(setting: Setting) -> str:
    return json.dumps(dict(setting), sort_keys=True, default=str)
