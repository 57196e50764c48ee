"""An optimizer that goes on preparing where it stopped."""

from dataclasses import dataclass, field

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class PreparedTwice:
    """Gradient descent of a given `step`, shorter each time that it is prepared."""

    step: float = 0.1
    """Step length."""

    solves = Smooth
    _times: list = field(default_factory=list, init=False, repr=False, compare=False)

    def prepare(self, problem):
        self._times.append(1)
        return self

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = problem.project(x - self.step / len(self._times) * problem.grad(x))


@hookimpl
def register_optimizers(register):
    register("prepared-twice", PreparedTwice)
