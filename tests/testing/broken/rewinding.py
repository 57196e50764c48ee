"""An optimizer that sets the count of its calls back."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class Rewinding:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))
            problem.cost -= 1


@hookimpl
def register_optimizers(register):
    register("rewinding", Rewinding)
