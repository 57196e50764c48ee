"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Array, Estimator, Log, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.steps import Decay


@dataclass(frozen=True)
class RMSprop:
    """RMSprop (Tieleman & Hinton 2012): each coordinate is scaled by its recent gradients.

    s ← ρs + (1-ρ)g²; x ← P(x - a g/√(s + ε)), in each coordinate.
    """

    step: Positive = 0.01
    """Step length, a."""
    decay: Decay = 0.9
    """What stays of the running mean of squares in a step, ρ."""
    epsilon: Positive = 1e-8
    """ε, which keeps the divisor above 0."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 1)}

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        squares = xp.zeros_like(x)
        draws = draws_of(self.estimator, problem, rng)
        while True:
            yield x
            gradient = next(draws)(x)
            squares = self.decay * squares + (1 - self.decay) * gradient**2
            x = problem.project(x - self.step * gradient / xp.sqrt(squares + self.epsilon))
