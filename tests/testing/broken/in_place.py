"""An optimizer that changes the answers it has handed over."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class InPlace:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x -= self.step * problem.grad(x)
            x[:] = problem.project(x)


@hookimpl
def register_optimizers(register):
    register("in-place", InPlace)
