"""The subgradient method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Rng
from benchfw_firstorder.oracles import Array, Subdifferentiable
from benchfw_firstorder.steps import Schedule, check_schedule, check_step, resolve_step, step_sizes


@dataclass(frozen=True)
class Subgradient:
    """Subgradient descent (Shor 1985) on all of F, penalty included.

    x ← P(x - a_k g), g a subgradient of all of F at x; step "auto" starts from 1/L.
    `schedule`, `decay` and `power` as for sgd. With a_k ∝ 1/√(k+1) the best point so far is O(1/√k) from the
    optimum.
    """

    step: float | Literal["auto"] = "auto"
    schedule: Schedule = "inverse-sqrt"
    decay: float = 1.0
    power: float = 0.5

    solves: ClassVar[type] = Subdifferentiable

    def __post_init__(self) -> None:
        check_step(self.step)
        check_schedule(self.schedule, self.decay, self.power)

    def run(self, problem: Subdifferentiable, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        steps = step_sizes(resolve_step(self.step, problem), self.schedule, self.decay, self.power)
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - next(steps) * problem.subgrad(x))
