"""An optimizer with a bound that is too good to be true."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class TooGood:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step * problem.grad(x))

    bounds = "gap"

    def bound(self, problem, iterations):
        return problem.metrics(problem.start())["gap"] * 0.5 ** iterations.astype(float)


@hookimpl
def register_optimizers(register):
    register("too-good", TooGood)
