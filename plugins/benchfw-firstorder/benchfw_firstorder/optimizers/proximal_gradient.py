"""Proximal gradient descent (ISTA)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Composite, Estimator, Log, Positive, Rng, draws_of
from benchfw_firstorder.estimators.exact import EXACT, Exact
from benchfw_firstorder.rates import Curve, Iterations, knows, proximal_gradient_rate
from benchfw_firstorder.steps import resolve_step


@dataclass(frozen=True)
class ProximalGradient:
    """Proximal gradient descent (ISTA): a gradient step on f, then the prox of g.

    x ← prox_{a g}(x - a ∇f(x)).
    Bound (a <= 1/L): |x_0-x*|²/(2ak), or (1-aμ)^k |x_0-x*|²/(2a) where that is smaller. Beck 2017, 10.4.
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length; "auto" is 1/L."""
    estimator: Estimator = EXACT
    """What gives the gradients; the bound is about exact ones."""

    solves: ClassVar[type] = Composite
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}
    bounds: ClassVar[str] = "gap"

    def run(self, problem: Composite, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        step = resolve_step(self.step, problem)
        x = problem.start()
        draws = draws_of(self.estimator, problem, rng)
        while True:
            yield x
            x = problem.prox(x - step * next(draws)(x), step)

    def bound(self, problem: Composite, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the gap, or None where no theorem applies."""
        if not isinstance(self.estimator, Exact) or not knows(
            problem, "smoothness", "strong_convexity", "distance"
        ):
            return None
        return proximal_gradient_rate(problem, iterations, resolve_step(self.step, problem))
