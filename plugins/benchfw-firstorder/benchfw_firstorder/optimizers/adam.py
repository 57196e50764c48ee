"""Adam."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import ClassVar

from benchfw import Estimator, Rng, Smooth
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import check_fraction, check_positive


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma & Ba 2015): running means of the gradient and of its square, bias corrected.

    μ ← ρ_μ μ + (1-ρ_μ)g; s ← ρ_s s + (1-ρ_s)g²; x ← P(x - a μ/(1-ρ_μ^k) / (√(s/(1-ρ_s^k)) + ε)).
    k counts from 1; a is `step`, ρ_μ `decay_mean`, ρ_s `decay_square`, ε `epsilon`; g is drawn by
    `estimator`.
    """

    step: float = 0.001
    decay_mean: float = 0.9
    decay_square: float = 0.999
    epsilon: float = 1e-8
    estimator: Estimator = MINIBATCH

    solves: ClassVar[type] = Smooth

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_fraction("decay_mean", self.decay_mean)
        check_fraction("decay_square", self.decay_square)
        check_positive("epsilon", self.epsilon)

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        mean = squares = xp.zeros_like(x)
        for k in count(1):
            yield x
            gradient = self.estimator.draw(problem, rng)(x)
            mean = self.decay_mean * mean + (1 - self.decay_mean) * gradient
            squares = self.decay_square * squares + (1 - self.decay_square) * gradient**2
            spread = xp.sqrt(squares / (1 - self.decay_square**k)) + self.epsilon
            x = problem.project(x - self.step * (mean / (1 - self.decay_mean**k)) / spread)
