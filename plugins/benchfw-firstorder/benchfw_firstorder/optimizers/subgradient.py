"""The subgradient method."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol

from benchfw import Array, Log, NonNegative, Positive, Rng, Smooth
from benchfw_firstorder.steps import Schedule, resolve_step, step_sizes


class Subdifferentiable(Smooth, Protocol):
    """A convex function with some subgradient of all of it, penalty included, at any point."""

    def subgrad(self, params: Array) -> Array: ...


@dataclass(frozen=True)
class Subgradient:
    """Subgradient descent (Shor 1985) on all of F, penalty included.

    x ← P(x - a_k g), g a subgradient of all of F at x. With a_k ∝ 1/√(k+1) the best point so far is O(1/√k)
    from the optimum.
    """

    step: Positive | Literal["auto"] = "auto"
    """The first step, a; "auto" is 1/L."""
    schedule: Schedule = "inverse-sqrt"
    """Steps are "constant" a, "inverse" a/(1 + k decay), "inverse-sqrt" a/√(k+1), "power" a(k+1)^-power."""
    decay: NonNegative = 1.0
    """How fast "inverse" steps fall."""
    power: NonNegative = 0.5
    """How fast "power" steps fall."""

    solves: ClassVar[type] = Subdifferentiable
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}

    def run(self, problem: Subdifferentiable, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        steps = step_sizes(resolve_step(self.step, problem), self.schedule, self.decay, self.power)
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - next(steps) * problem.subgrad(x))
