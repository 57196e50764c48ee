"""The stochastic average gradient method."""

from dataclasses import dataclass

from benchfw import FiniteSum, Positive, hookimpl


@dataclass(frozen=True)
class ExampleSag:
    """SAG (Schmidt, Le Roux & Bach 2017): a step along the mean of every sample's last known gradient.

    Each step asks for the gradient of one random sample, puts it into its row of a table, and goes by the
    mean of the rows filled so far: x ← P(x - step · mean). It is biased, and needs n x d numbers of memory.
    """

    step: Positive = 0.02
    """Step length."""

    solves = FiniteSum

    def run(self, problem, rng):
        """Yield x_0, x_1, …"""
        xp, count = problem.backend.xp, problem.num_samples
        x = problem.start()
        yield x
        table = xp.zeros((count, *x.shape), dtype=x.dtype)
        total, filled = xp.zeros_like(x), set()
        while True:
            index = rng.integers(count)
            fresh = problem.grad_batch(x, xp.asarray([index]))
            total = total + fresh - table[index]
            table[index] = fresh
            filled.add(index)
            x = problem.project(x - self.step * total / len(filled))
            yield x


@hookimpl
def register_optimizers(register):
    """Register the name."""
    register("example-sag", ExampleSag)
