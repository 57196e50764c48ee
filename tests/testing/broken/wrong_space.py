"""Gradient descent whose search space has steps that it refuses."""

from dataclasses import dataclass
from typing import ClassVar

from benchfw import Linear, Positive, Smooth, hookimpl


@dataclass(frozen=True)
class WrongSpace:
    """Gradient descent."""

    step: Positive = 0.01
    """Step length."""

    solves = Smooth
    tuning: ClassVar = {"step": Linear(-1, 1)}

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))


@hookimpl
def register_optimizers(register):
    register("wrong-space", WrongSpace)
