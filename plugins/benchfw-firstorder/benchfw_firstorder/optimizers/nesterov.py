"""Nesterov's accelerated gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Log, Positive, Rng, Smooth
from benchfw_firstorder.rates import Curve, Iterations, accelerated_rate, knows, penalized
from benchfw_firstorder.steps import Decay, resolve_step


@dataclass(frozen=True)
class Nesterov:
    """Nesterov's accelerated gradient (1983): the gradient is taken ahead, where momentum leads.

    y = x + m(x - x⁻); x⁺ = P(y - a ∇f(y)). Bound (sequence, a <= 1/L): 2|x_0-x*|²/(a(k+1)²).
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length; "auto" is 1/L."""
    momentum: Decay | Literal["sequence"] = "sequence"
    """m, or "sequence": m_k = (t_k - 1)/t_{k+1}, t_{k+1} = (1 + √(1 + 4t_k²))/2, t_1 = 1."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}
    bounds: ClassVar[str] = "gap"

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        step = resolve_step(self.step, problem)
        momenta = nesterov_momenta(self.momentum)
        x = before = problem.start()
        while True:
            yield x
            y = x + next(momenta) * (x - before)
            x, before = problem.project(y - step * problem.grad(y)), x

    def bound(self, problem: Smooth, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the gap, or None where no theorem applies."""
        if self.momentum != "sequence" or not knows(problem, "smoothness", "distance") or penalized(problem):
            return None
        return accelerated_rate(problem, iterations, resolve_step(self.step, problem))


def nesterov_momenta(momentum: float | Literal["sequence"] = "sequence") -> Iterator[float]:
    """Yield the momentum of the first step, the second, …; the first has nothing to build on."""
    if momentum != "sequence":
        while True:
            yield momentum
    yield 0.0
    t = 1.0
    while True:
        t_next = (1 + (1 + 4 * t * t) ** 0.5) / 2
        yield (t - 1) / t_next
        t = t_next
