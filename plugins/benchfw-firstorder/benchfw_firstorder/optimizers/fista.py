"""FISTA: accelerated proximal gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Composite, Estimator, Log, Positive, Rng, draws_of
from benchfw_firstorder.estimators.exact import EXACT, Exact
from benchfw_firstorder.optimizers.nesterov import nesterov_momenta
from benchfw_firstorder.rates import Curve, Iterations, accelerated_rate, knows
from benchfw_firstorder.steps import resolve_step


@dataclass(frozen=True)
class Fista:
    """FISTA (Beck & Teboulle 2009): the proximal gradient method with Nesterov's momentum.

    y = x + m_k(x - x⁻); x⁺ = prox_{a g}(y - a ∇f(y)), Nesterov's m_k.
    Bound (a <= 1/L): 2|x_0-x*|²/(a(k+1)²).
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
        momenta = nesterov_momenta()
        x = before = problem.start()
        draws = draws_of(self.estimator, problem, rng)
        while True:
            yield x
            y = x + next(momenta) * (x - before)
            x, before = problem.prox(y - step * next(draws)(y), step), x

    def bound(self, problem: Composite, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the gap, or None where no theorem applies."""
        if not isinstance(self.estimator, Exact) or not knows(problem, "smoothness", "distance"):
            return None
        return accelerated_rate(problem, iterations, resolve_step(self.step, problem))
