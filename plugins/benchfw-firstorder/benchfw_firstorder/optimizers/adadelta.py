"""AdaDelta."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Estimator, Rng, Smooth
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import check_fraction, check_positive


@dataclass(frozen=True)
class AdaDelta:
    """AdaDelta (Zeiler 2012): RMSprop whose step is measured in its own past moves.

    s ← ρs + (1-ρ)g²; u = a√(δ + ε)/√(s + ε) g; x ← P(x - u); δ ← ρδ + (1-ρ)u².
    a is `step`, ρ is `decay`, ε is `epsilon`; g is drawn by `estimator`.
    """

    step: float = 1.0
    decay: float = 0.9
    epsilon: float = 1e-6
    estimator: Estimator = MINIBATCH

    solves: ClassVar[type] = Smooth

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_fraction("decay", self.decay)
        check_positive("epsilon", self.epsilon)

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        squares = moves = xp.zeros_like(x)
        while True:
            yield x
            gradient = self.estimator.draw(problem, rng)(x)
            squares = self.decay * squares + (1 - self.decay) * gradient**2
            move = self.step * xp.sqrt(moves + self.epsilon) / xp.sqrt(squares + self.epsilon) * gradient
            x = problem.project(x - move)
            moves = self.decay * moves + (1 - self.decay) * move**2
