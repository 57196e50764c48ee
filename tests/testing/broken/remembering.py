"""An optimizer that keeps the step of the first problem it ever met."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl

_steps = {}


@dataclass(frozen=True)
class Remembering:
    """Gradient descent of a given `step`."""

    step: float = 0.1
    """Step length."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        step = _steps.setdefault("step", 0.1 / (1e-9 + float(abs(problem.grad(x)).max())))
        while True:
            yield x
            x = problem.project(x - self.step * step * problem.grad(x))


@hookimpl
def register_optimizers(register):
    register("remembering", Remembering)
