"""Mini-batches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from benchfw import Array, BenchfwError, Claims, Count, FiniteSum, Rng
from benchfw_firstorder.steps import known_smoothness


@dataclass(frozen=True)
class Minibatch:
    """The mean gradient over random samples, for size/n of a gradient's cost.

    The variance is ∝ 1/size, times (n-size)/(n-1) without replacement.
    """

    size: Count = 32
    """Samples per draw."""
    replace: bool = True
    """Whether one sample may be drawn twice."""

    solves: ClassVar[type] = FiniteSum
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="size")

    def draw(self, problem: FiniteSum, rng: Rng) -> Callable[[Array], Array]:
        """Draw the samples; return their mean gradient."""
        batch = draw_batch(problem, rng, self.size, replace=self.replace)
        return lambda params: problem.grad_batch(params, batch)

    def smoothness(self, problem: FiniteSum) -> float:
        """Return L + (max_i L_i - L)/size, the smoothness of a batch in expectation. Gower et al. 2019."""
        return batch_smoothness(problem, self.size)


MINIBATCH = Minibatch()
"""What the stochastic optimizers draw by default."""


def draw_batch(
    problem: FiniteSum,
    rng: Rng,
    size: int,
    *,
    replace: bool,
    advice: str = "take a smaller size, or replace = true",
) -> Array:
    """Return `size` sample numbers, uniform; `advice` says what to do where there are not so many."""
    if not hasattr(problem, "grad_batch"):
        raise BenchfwError(
            "mini-batches need a finite sum, and the problem has no grad_batch; use another problem, or the "
            'estimator "exact"'
        )
    if replace:
        return rng.integers(0, problem.num_samples, size=size)
    if size > problem.num_samples:
        raise BenchfwError(
            f"cannot draw {size} of {problem.num_samples} samples without replacement; {advice}"
        )
    return rng.choice(problem.num_samples, size=size, replace=False)


def batch_smoothness(problem: Any, size: int) -> float:
    """Return L + (max_i L_i - L)/size, or raise where the problem does not know its constants."""
    mean = known_smoothness(problem)
    single = known_smoothness(problem, of_samples=True)
    return mean + max(0.0, single - mean) / size
