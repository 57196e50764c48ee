"""An optimizer that makes progress without an oracle call."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class FreeRider:
    """Goes a share `step` of the way to the optimum."""

    step: float = 0.1
    """Share of the way."""

    solves = Smooth

    def run(self, problem, rng):
        x = problem.start()
        while True:
            yield x
            x = x + self.step * (problem.optimum - x)


@hookimpl
def register_optimizers(register):
    register("free-rider", FreeRider)
