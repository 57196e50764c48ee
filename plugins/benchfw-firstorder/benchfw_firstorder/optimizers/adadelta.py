"""AdaDelta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array, Estimator, Log, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.steps import Decay


@dataclass(frozen=True)
class AdaDelta:
    """AdaDelta (Zeiler 2012): RMSprop whose step is measured in its own past moves.

    s ← ρs + (1-ρ)g²; u = a√(δ + ε)/√(s + ε) g; x ← P(x - u); δ ← ρδ + (1-ρ)u².
    """

    step: Positive = 1.0
    """Scales every move, a; the paper has 1."""
    decay: Decay = 0.9
    """What stays of the running means of squares in a step, ρ."""
    epsilon: Positive = 1e-6
    """ε, which keeps the divisor above 0."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(0.01, 100)}

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        squares = moves = xp.zeros_like(x)
        draws = draws_of(self.estimator, problem, rng)
        while True:
            yield x
            gradient = next(draws)(x)
            squares = self.decay * squares + (1 - self.decay) * gradient**2
            move = self.step * xp.sqrt(moves + self.epsilon) / xp.sqrt(squares + self.epsilon) * gradient
            x = problem.project(x - move)
            moves = self.decay * moves + (1 - self.decay) * move**2
