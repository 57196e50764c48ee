"""A solver that is not told how long to work."""

from dataclasses import dataclass

from benchfw import Smooth, hookimpl


@dataclass(frozen=True)
class Deaf:
    """Gradient descent of thirty steps, whatever the effort."""

    solves = Smooth
    projects = False

    def solve(self, problem, rng, effort):
        x = problem.start()
        for _ in range(30):
            x = x - 0.1 * problem.grad(x)
        return x


@hookimpl
def register_optimizers(register):
    register("deaf", Deaf)
