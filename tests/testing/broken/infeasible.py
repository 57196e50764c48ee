"""An optimizer that forgets to project."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class Infeasible:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x - self.step * problem.grad(x)


@hookimpl
def register_optimizers(register):
    register("infeasible", Infeasible)
