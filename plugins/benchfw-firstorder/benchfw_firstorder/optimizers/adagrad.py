"""AdaGrad."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar

from benchfw import Array, Count, Estimator, Log, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.steps import fade_out


@dataclass(frozen=True)
class AdaGrad:
    """AdaGrad (Duchi et al. 2011): each coordinate is scaled by all its past gradients.

    s ← s + g²; x ← P(x - a g/√(s + ε)), in each coordinate.
    """

    step: Positive = 0.1
    """Step length, a."""
    epsilon: Positive = 1e-8
    """ε, which keeps the divisor above 0."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients."""
    horizon: Count | None = None
    """Iterations in which the step falls linearly to 0; it does not, if not given."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-3, 10)}

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        squares = xp.zeros_like(x)
        draws = draws_of(self.estimator, problem, rng)
        for length in fade_out(repeat(self.step), self.horizon):
            yield x
            gradient = next(draws)(x)
            squares = squares + gradient**2
            x = problem.project(x - length * gradient / xp.sqrt(squares + self.epsilon))
