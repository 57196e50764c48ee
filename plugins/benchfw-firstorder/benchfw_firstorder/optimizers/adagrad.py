"""AdaGrad."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from benchfw import Estimator, Rng, Smooth
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import check_positive


@dataclass(frozen=True)
class AdaGrad:
    """AdaGrad (Duchi et al. 2011): each coordinate is scaled by all its past gradients.

    s ← s + g²; x ← P(x - a g/√(s + ε)), in each coordinate.
    a is `step`, ε is `epsilon`; g is drawn by `estimator`.
    """

    step: float = 0.1
    epsilon: float = 1e-8
    estimator: Estimator = MINIBATCH

    solves: ClassVar[type] = Smooth

    def __post_init__(self) -> None:
        check_positive("step", self.step)
        check_positive("epsilon", self.epsilon)

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, …"""
        xp = problem.backend.xp
        x = problem.start()
        squares = xp.zeros_like(x)
        while True:
            yield x
            gradient = self.estimator.draw(problem, rng)(x)
            squares = squares + gradient**2
            x = problem.project(x - self.step * gradient / xp.sqrt(squares + self.epsilon))
