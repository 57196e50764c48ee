"""Gradient descent with momentum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Log, Positive, Rng, Smooth
from benchfw_firstorder.rates import Curve, Iterations, knows, momentum_rate
from benchfw_firstorder.steps import Decay, resolve_step


@dataclass(frozen=True)
class HeavyBall:
    """Heavy ball (Polyak 1964): gradient descent with momentum.

    x⁺ = P(x - a ∇f(x) + m(x - x⁻)).
    On a quadratic a = 4/(√L+√μ)², m = ((√κ-1)/(√κ+1))² give the rate (√κ-1)/(√κ+1). Bound: on quadratics,
    where (1-√m)² <= aμ and aL <= (1+√m)².
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length; "auto" is 1/L."""
    momentum: Decay = 0.9
    """The share of the last move that is repeated."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}
    bounds: ClassVar[str] = "gap"

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        step = resolve_step(self.step, problem)
        x = before = problem.start()
        while True:
            yield x
            move = self.momentum * (x - before) - step * problem.grad(x)
            x, before = problem.project(x + move), x

    def bound(self, problem: Smooth, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the gap, or None where no theorem applies."""
        if not knows(problem, "smoothness", "strong_convexity") or not getattr(problem, "quadratic", False):
            return None
        return momentum_rate(problem, iterations, resolve_step(self.step, problem), self.momentum)
