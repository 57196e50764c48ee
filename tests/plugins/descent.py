"""One optimizer, without a fault: tests of checks replace what they break."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class Descent:
    """Projected gradient descent."""

    step: float = 0.1
    """Step length."""
    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))


@hookimpl
def register_optimizers(register):
    register("descent", Descent)
