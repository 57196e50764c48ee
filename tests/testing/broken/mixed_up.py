"""An optimizer that takes NumPy for every array."""

from dataclasses import dataclass

import numpy as np

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class MixedUp:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            slope = np.asarray(problem.backend.to_numpy(problem.grad(x)))
            x = problem.project(x - self.step * slope)


@hookimpl
def register_optimizers(register):
    register("mixed-up", MixedUp)
