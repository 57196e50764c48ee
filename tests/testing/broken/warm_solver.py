"""A solver that goes on where it was, on the same problem."""

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from benchfw import Smooth, hookimpl

FOUND = WeakKeyDictionary()


@dataclass(frozen=True)
class Warm:
    """Gradient descent from the last answer."""

    solves = Smooth
    projects = False

    def solve(self, problem, rng, effort):
        x = FOUND.get(problem, problem.start())
        for _ in range(effort):
            x = x - 0.1 * problem.grad(x)
        FOUND[problem] = x
        return x


@hookimpl
def register_optimizers(register):
    register("warm", Warm)
