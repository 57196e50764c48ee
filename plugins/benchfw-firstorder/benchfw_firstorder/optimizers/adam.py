"""Adam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import repeat
from typing import ClassVar

from benchfw import Array, Count, Estimator, Log, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.steps import Decay, fade_out


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma & Ba 2015): running means of the gradient and of its square, bias corrected.

    μ ← ρ_μ μ + (1-ρ_μ)g; s ← ρ_s s + (1-ρ_s)g²; x ← P(x - a μ/(1-ρ_μ^k) / (√(s/(1-ρ_s^k)) + ε)), k from 1.
    """

    step: Positive = 0.001
    """Step length, a."""
    decay_mean: Decay = 0.9
    """What stays of the running mean of gradients in a step, ρ_μ."""
    decay_square: Decay = 0.999
    """What stays of the running mean of squares in a step, ρ_s."""
    epsilon: Positive = 1e-8
    """ε, which keeps the divisor above 0."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients."""
    horizon: Count | None = None
    """Iterations in which the step falls linearly to 0; it does not, if not given."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-5, 1)}

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        mean = squares = xp.zeros_like(x)
        draws = draws_of(self.estimator, problem, rng)
        for k, length in enumerate(fade_out(repeat(self.step), self.horizon), 1):
            yield x
            gradient = next(draws)(x)
            mean = self.decay_mean * mean + (1 - self.decay_mean) * gradient
            squares = self.decay_square * squares + (1 - self.decay_square) * gradient**2
            spread = xp.sqrt(squares / (1 - self.decay_square**k)) + self.epsilon
            x = problem.project(x - length * (mean / (1 - self.decay_mean**k)) / spread)
