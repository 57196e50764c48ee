"""An estimator that draws one sample and calls it many."""

from dataclasses import dataclass

from benchfw import Claims, FiniteSum, hookimpl


@dataclass(frozen=True)
class Repeated:
    """The mean gradient of `size` samples."""

    size: int = 4
    """Samples per draw."""

    solves = FiniteSum
    estimates = "grad"
    claims = Claims(unbiased=True, averages="size")

    def draw(self, problem, rng):
        sample = rng.integers(problem.num_samples, size=1)
        batch = problem.backend.xp.repeat(sample, self.size)
        return lambda params: problem.grad_batch(params, batch)


@hookimpl
def register_estimators(register):
    register("repeated", Repeated)
