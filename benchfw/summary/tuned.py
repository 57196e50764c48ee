"""What tuning found, for a report: the settings that were chosen, how sure that is, and what it took."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

from benchfw.records import Cell
from benchfw.search import Choice, Space
from benchfw.summary.attempts import Attempt, Score, choose, choose_across, rank_attempts

EDGE = 0.05  # of a space, at either end
NEAR = 2.0  # times the best: how many settings are within it says how sensitive a method is


class Edge(NamedTuple):
    """A parameter that was chosen at an end of its space: better values may lie beyond."""

    path: str
    value: float
    end: Literal["lower", "upper"]


@dataclass(frozen=True, eq=False)
class TunedMethod:
    """One method on one problem: all that tuning tried, in order, and the attempt that was chosen.

    Values are what it takes to the target along `axis` (infinite where it is never reached), or, without an
    axis, the `metric` at the end, negated if it is a gain. `timed` says that the choice depends on seconds.
    `unknown` are metrics that settings were to be chosen by and no tuning run has: then the end decides.
    """

    cell: Cell
    spaces: Mapping[str, Space]
    attempts: tuple[Attempt, ...]
    axis: str = ""
    metric: str = ""
    cost_unit: str = ""
    gain: bool = False
    timed: bool = False
    target: Mapping[str, float] = field(default_factory=dict)
    unknown: tuple[str, ...] = ()

    @cached_property
    def chosen(self) -> Attempt:
        """The attempt whose setting the verdict is about."""
        return self.attempts[choose(self.attempts)]

    @property
    def cost(self) -> float:
        return sum(each.cost for each in self.attempts)

    @property
    def seconds(self) -> float:
        """What all tuning runs took together, in seconds on the method's clock."""
        return sum(each.seconds for each in self.attempts)

    @property
    def runs(self) -> int:
        return sum(len(each.scores) for each in self.attempts)

    def find_edges(self) -> Iterator[Edge]:
        """Yield the parameters whose chosen value lies at an end of its space."""
        for path, value in self.chosen.setting.items():
            space = self.spaces[path]
            if isinstance(space, Choice):
                continue
            place = space.place(value)
            if place <= EDGE:
                yield Edge(path, value, "lower")
            elif place >= 1 - EDGE:
                yield Edge(path, value, "upper")

    @property
    def faulty(self) -> int:
        """How many of the attempts have a run that ended by a fault."""
        return sum(each.faulty > 0 for each in self.attempts)

    @property
    def reached(self) -> int:
        """How many of the attempts reach the target in the median, or, without one, do not break."""
        return sum(math.isfinite(self.value(each.score)) for each in self.attempts)

    @property
    def near_best(self) -> int | None:
        """How many of the attempts are within NEAR times the best; None where that is not above 0."""
        best = self.value(self.chosen.score)
        if not 0 < best < math.inf:
            return None
        return sum(self.value(each.score) <= NEAR * best for each in self.attempts)

    def value(self, score: Score) -> float:
        """Return a score as a number: infinite where the target was not reached, or the run broke."""
        return score.value if score.standing <= (0 if self.axis else 1) else math.inf

    def shown(self, score: Score) -> float | None:
        """Return a score as a reader knows it: gains are positive again; None where the run broke."""
        if score.standing > 1:
            return None
        return -score.value if self.gain and score.standing == 1 else score.value

    @property
    def curve(self) -> list[tuple[int, float]]:
        """What the best of 1, 2, 4, … and of all settings has in tuning, in the median over which are tried.

        Settings are drawn without replacement (Tang et al. 2020), and judged by the runs that choose.
        """
        ranked = zip(rank_attempts(self.attempts), self.attempts, strict=True)
        values = [self.value(each.score) for _, each in sorted(ranked, key=lambda pair: pair[0])]
        counts = [2**power for power in range(len(values).bit_length()) if 2**power < len(values)]
        return [(count, _typical_best(values, count)) for count in (*counts, len(values))]


def _typical_best(values: Sequence[float], count: int) -> float:
    """Return the median of the best of `count` of the values, which come best first."""
    draws, total = math.comb(len(values), count), len(values)
    # all of a draw are beyond the first n in C(total - n, count) of the draws
    return next(value for n, value in enumerate(values, 1) if 2 * math.comb(total - n, count) <= draws)


def chosen_across(methods: Sequence[TunedMethod]) -> Mapping[str, Any]:
    """Return the setting that is chosen for all problems; `methods` is one on each of them."""
    problems = [each.attempts for each in methods]
    return problems[0][choose_across(problems)].setting
