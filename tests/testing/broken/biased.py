"""An estimator that claims to be unbiased and is 1 % too long."""

from dataclasses import dataclass

from benchfw import Claims, FiniteSum, hookimpl


@dataclass(frozen=True)
class Biased:
    """The mean gradient of `size` samples."""

    size: int = 32
    """Samples per draw."""

    solves = FiniteSum
    estimates = "grad"
    claims = Claims(unbiased=True)

    def draw(self, problem, rng):
        batch = rng.integers(problem.num_samples, size=self.size)
        return lambda params: 1.01 * problem.grad_batch(params, batch)


@hookimpl
def register_estimators(register):
    register("biased", Biased)
