"""What tuning found, for a report: the settings that were chosen, how sure that is, and what it took."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from benchfw.analysis.intervals import Interval
from benchfw.analysis.tuned import (
    Held,
    allowances,
    band,
    decide_leads,
    find_leader,
    resample_best,
    share_within,
    typical_best,
)
from benchfw.records import Cell
from benchfw.search import Choice, Space
from benchfw.summary.attempts import Attempt, Score, choose, choose_across

EDGE = 0.05  # of a space, at either end
FLAT = 1.1  # settings within this factor of the best are as good as it
SENSITIVE = 2.0
FEWEST_SETTINGS = 8  # for what fewer trials would have given
FEWEST_RUNS = 3  # of a setting, for who leads with fewer trials
SEED = 20_240_102  # of resamples


class Edge(NamedTuple):
    """A parameter that was chosen at an end of its space: better values may lie beyond."""

    path: str
    value: float
    end: Literal["lower", "upper"]
    limit: float


class Allowance(NamedTuple):
    """What the best of so many trials gives, in the median, in runs that did not choose it."""

    trials: int
    value: Interval


@dataclass(frozen=True, eq=False)
class TunedMethod:
    """One method on one problem: all that tuning tried, by round, and the attempts that were chosen.

    Values are what it takes to the target along `axis` (infinite where it is never reached), or, without an
    axis, the `metric` at the end, negated if it is a gain. `timed` says that the choice depends on seconds.
    `unknown` are metrics that settings were to be chosen by and no tuning run has: then the end decides.
    """

    cell: Cell
    spaces: Mapping[str, Space]
    rounds: tuple[tuple[Attempt, ...], ...]
    axis: str = ""
    metric: str = ""
    cost_unit: str = ""
    gain: bool = False
    is_sequence: bool = True
    timed: bool = False
    target: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @cached_property
    def chosen(self) -> tuple[Attempt, ...]:
        """The attempt chosen in each round."""
        return tuple(attempts[choose(attempts)] for attempts in self.rounds)

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """All attempts with the whole budget."""
        everything = [each for attempts in self.rounds for each in attempts]
        most = max(each.share for each in everything)
        return tuple(each for each in everything if each.share == most)

    @property
    def cost(self) -> float:
        """What all tuning runs cost together."""
        return sum(each.cost for attempts in self.rounds for each in attempts)

    @property
    def seconds(self) -> float:
        """What all tuning runs took together, in seconds on the method's clock."""
        return sum(each.seconds for attempts in self.rounds for each in attempts)

    @property
    def runs(self) -> int:
        """The number of tuning runs."""
        return sum(len(each.scores) for attempts in self.rounds for each in attempts)

    @property
    def tried(self) -> tuple[int, ...]:
        """The number of settings that each round tried."""
        return tuple(len({repr(each.setting) for each in attempts}) for attempts in self.rounds)

    @property
    def budgets(self) -> tuple[float, ...]:
        """How many whole budgets each round had for one run of its settings."""
        return tuple(sum(each.share for each in attempts) for attempts in self.rounds)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The parameters that lie at an end of their space in all rounds."""
        found = [set(self._edges_of(each)) for each in self.chosen]
        common = set.intersection(*({(one.path, one.end) for one in each} for each in found))
        return tuple(each for each in self._edges_of(self.chosen[0]) if (each.path, each.end) in common)

    def _edges_of(self, attempt: Attempt) -> Iterator[Edge]:
        for path, value in attempt.setting.items():
            space = self.spaces[path]
            if isinstance(space, Choice):
                continue
            place = space.place(value)
            if place <= EDGE:
                yield Edge(path, value, "lower", space.low)
            elif place >= 1 - EDGE:
                yield Edge(path, value, "upper", space.high)

    @property
    def as_good(self) -> int:
        """How many settings of the first round score within FLAT of the best, itself among them."""
        best = self.chosen[0].score
        return sum(
            _is_close(each.score, best) for each in self.rounds[0] if each.share == self.chosen[0].share
        )

    @property
    def equals(self) -> int:
        """How many settings of the first round score as the best does, itself among them."""
        best = self.chosen[0].score
        return sum(each.score == best for each in self.rounds[0] if each.share == self.chosen[0].share)

    @property
    def faulty(self) -> int:
        """How many of the attempts have a run that ended by a fault."""
        return sum(each.faulty > 0 for each in self.attempts)

    @property
    def reached(self) -> int:
        """How many of the attempts reach the target in the median, or, without one, do not break."""
        return sum(each.score.standing <= (0 if self.axis else 1) for each in self.attempts)

    @cached_property
    def held(self) -> tuple[Held, ...]:
        """Settings as all tuning runs but one rank them, and what that run gives; nothing for one run."""
        count = min((len(each.scores) for each in self.attempts), default=0)
        if count < 2 or not self.is_sequence or len(self.attempts) < FEWEST_SETTINGS:
            return ()
        return tuple(self._hold(run) for run in range(count))

    def _hold(self, run: int) -> Held:
        others = [
            each._replace(scores=(*each.scores[:run], *each.scores[run + 1 :])).score
            for each in self.attempts
        ]
        order = sorted(range(len(others)), key=lambda place: others[place])
        return Held(np.array(order), np.array([self.value(each.scores[run]) for each in self.attempts]))

    def value(self, score: Score) -> float:
        """Return a score as a number: infinite where the target was not reached, or the run broke."""
        return score.value if score.standing <= (0 if self.axis else 1) else math.inf

    def shown(self, score: Score) -> float | None:
        """Return a score as a reader knows it: gains are positive again; None where the run broke."""
        if score.standing > 1:
            return None
        return -score.value if self.gain and score.standing == 1 else score.value

    @cached_property
    def counts(self) -> list[int]:
        """The numbers of trials at which a smaller allowance is looked at."""
        return allowances(len(self.rounds[0])) if self.held else []

    @cached_property
    def samples(self) -> Any:
        """What the best of each of `counts` gives in resamples of the settings: (counts, resamples)."""
        return resample_best(self.held, self.counts, SEED)

    @property
    def by_allowance(self) -> list[Allowance]:
        """What fewer trials would have given."""
        return [
            Allowance(
                count, Interval(typical_best(self.held, count), *band(some, self.held), len(self.attempts))
            )
            for count, some in zip(self.counts, self.samples if self.counts else (), strict=True)
        ]

    @property
    def share_near_best(self) -> Interval | None:
        """The share of the space within SENSITIVE times of the best, if that is positive and known."""
        if not self.held:
            return None
        best = float(np.median([each.values[each.order[0]] for each in self.held]))
        typical = np.median([each.values for each in self.held], axis=0)
        return share_within(typical, best, SENSITIVE) if 0 < best < math.inf else None


def _is_close(score: Score, best: Score) -> bool:
    if score.standing != best.standing:
        return False
    return score.value <= FLAT * best.value if best.value > 0 else score.value <= best.value


class Lead(NamedTuple):
    """Which method is best on a problem after so many trials; None where that is not beyond chance."""

    trials: int
    leader: Cell | None


def find_leads(methods: Sequence[TunedMethod], problems: int = 1) -> list[Lead]:
    """Return who leads among the methods of one problem, by the number of trials that all have.

    The chance of a false lead is shared among the `problems` of the report. Nothing where that is not known.
    """
    counts = [count for count in methods[0].counts if all(count in each.counts for each in methods)]
    runs = min(len(each.held) for each in methods)
    if len(methods) < 2 or not counts or runs < FEWEST_RUNS:
        return []
    leaders = [find_leader([each.samples[each.counts.index(count)] for each in methods]) for count in counts]
    decided = decide_leads([chance for _, chance in leaders], runs, len(methods) - 1, problems)
    return [
        Lead(count, methods[place].cell if beyond else None)
        for count, (place, _), beyond in zip(counts, leaders, decided, strict=True)
    ]


def chosen_across(methods: Sequence[TunedMethod]) -> tuple[Attempt, ...]:
    """Return the setting that is chosen for all problems in each round; `methods` is one on each of them."""
    found = []
    for alike in zip(*(each.rounds for each in methods), strict=True):
        fewest = min(map(len, alike))
        found.append(alike[0][choose_across([each[:fewest] for each in alike])])
    return tuple(found)
