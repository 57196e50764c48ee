"""An estimator that draws from numpy.random."""

from dataclasses import dataclass

import numpy as np

from benchfw import Claims, FiniteSum, hookimpl


@dataclass(frozen=True)
class Global:
    """The mean gradient of `size` samples."""

    size: int = 32
    """Samples per draw."""

    solves = FiniteSum
    estimates = "grad"
    claims = Claims(unbiased=True)

    def draw(self, problem, rng):
        np.random.seed(rng.integers(1 << 32))  # noqa: NPY002
        numbers = np.random.randint(problem.num_samples, size=self.size)  # noqa: NPY002
        batch = problem.backend.asarray(numbers)
        return lambda params: problem.grad_batch(params, batch)


@hookimpl
def register_estimators(register):
    register("global", Global)
