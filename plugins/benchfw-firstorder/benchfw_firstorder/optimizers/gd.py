"""Gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Log, Positive, Rng, Smooth
from benchfw_firstorder.rates import (
    Curve,
    Iterations,
    contraction_rate,
    knows,
    penalized,
    proximal_gradient_rate,
    smallest,
)
from benchfw_firstorder.steps import resolve_step


@dataclass(frozen=True)
class GradientDescent:
    """Gradient descent, projected.

    x ← P(x - a ∇f(x)).
    Bound: for a <= 1/L |x_0-x*|²/(2ak) and its linear kin; on quadratics max(|1-aμ|, |1-aL|)^2k of the
    start's gap where that is smaller.
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length; "auto" is 1/L."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}
    bounds: ClassVar[str] = "gap"

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        step = resolve_step(self.step, problem)
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - step * problem.grad(x))

    def bound(self, problem: Smooth, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the gap, or None where no theorem applies."""
        if not knows(problem, "smoothness", "strong_convexity", "distance") or penalized(problem):
            return None
        step = resolve_step(self.step, problem)
        curves = [proximal_gradient_rate(problem, iterations, step)]
        if getattr(problem, "quadratic", False):
            curves.append(contraction_rate(problem, iterations, step))
        return smallest(curves)
