"""An estimator whose draw is drawn again at every evaluation."""

from dataclasses import dataclass

from benchfw import Claims, FiniteSum, hookimpl


@dataclass(frozen=True)
class Redrawn:
    """The mean gradient of `size` samples."""

    size: int = 32
    """Samples per draw."""

    solves = FiniteSum
    estimates = "grad"
    claims = Claims(unbiased=True)

    def draw(self, problem, rng):
        return lambda params: problem.grad_batch(params, rng.integers(problem.num_samples, size=self.size))


@hookimpl
def register_estimators(register):
    register("redrawn", Redrawn)
