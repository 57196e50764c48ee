"""RMSprop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Estimator, Rng, Smooth
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import check_fraction, check_positive


@dataclass(frozen=True)
class RMSprop:
    """RMSprop (Tieleman & Hinton 2012): each coordinate is scaled by its recent gradients.

    s ← ρs + (1-ρ)g²; x ← P(x - a g/√(s + ε)), in each coordinate.
    a is `step`, ρ is `decay`, ε is `epsilon`; g is drawn by `estimator`.
    """

    step: float = 0.01
    decay: float = 0.9
    epsilon: float = 1e-8
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
        squares = xp.zeros_like(x)
        while True:
            yield x
            gradient = self.estimator.draw(problem, rng)(x)
            squares = self.decay * squares + (1 - self.decay) * gradient**2
            x = problem.project(x - self.step * gradient / xp.sqrt(squares + self.epsilon))
