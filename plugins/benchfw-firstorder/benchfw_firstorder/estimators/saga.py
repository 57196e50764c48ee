"""The SAGA gradient: a mini-batch with a table of old gradients as control variate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from benchfw import Array, Claims, Count, FiniteSum, Range, Rng
from benchfw_firstorder.estimators.anchor import anchor_gradient, anchor_table
from benchfw_firstorder.estimators.minibatch import batch_smoothness, draw_batch


@dataclass(frozen=True)
class SagaGradient:
    """The mini-batch gradient with SAGA's control variate (Defazio et al. 2014).

    g_B(x) - table_B + mean(table), the table holding every sample's gradient at an anchor. As an estimator it
    is filled once (the SAGA optimizer refreshes the rows that it visits): the variance of the SVRG gradient
    at half its cost a draw, for n x d numbers of memory.
    """

    size: Count = 32
    """Samples a draw, B."""
    replace: bool = True
    """Whether one sample may be drawn twice."""
    anchor_steps: Annotated[int, Range(least=0)] = 10
    """Gradient steps of length 1/L from the start to the anchor."""

    solves: ClassVar[type] = FiniteSum
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="size")

    def draw(self, problem: FiniteSum, rng: Rng) -> Callable[[Array], Array]:
        """Draw the mini-batch; return its gradient, corrected by its rows of the table."""
        batch = draw_batch(problem, rng, self.size, replace=self.replace)
        _, mean = anchor_gradient(problem, self.anchor_steps)
        correction = mean - anchor_table(problem, self.anchor_steps)[batch].mean(axis=0)
        return lambda params: problem.grad_batch(params, batch) + correction

    def smoothness(self, problem: FiniteSum) -> float:
        """Return the smoothness of a mini-batch: the correction does not depend on x."""
        return batch_smoothness(problem, self.size)
