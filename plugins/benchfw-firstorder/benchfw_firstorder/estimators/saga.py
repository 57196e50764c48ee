"""The SAGA gradient: a mini-batch with a table of old gradients as control variate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Claims, FiniteSum, Rng
from benchfw_firstorder.estimators.anchor import anchor_gradient, anchor_table, check_anchor_steps
from benchfw_firstorder.estimators.minibatch import Minibatch, batch_smoothness, draw_batch
from benchfw_firstorder.oracles import Array


@dataclass(frozen=True)
class SagaGradient:
    """The mini-batch gradient with SAGA's control variate (Defazio et al. 2014).

    g_B(x) - table_B + mean(table), the table holding every sample's gradient at an anchor; B is a mini-batch
    of `size` samples, drawn as `replace` says.
    As an estimator the table is filled once, at the point that `anchor_steps` gradient steps of length 1/L
    reach from the start (the SAGA optimizer refreshes the rows that it visits): the variance of the SVRG
    gradient at half its cost a draw, for n x d numbers of memory.
    """

    size: int = 32
    replace: bool = True
    anchor_steps: int = 10

    solves: ClassVar[type] = FiniteSum
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="size")

    def __post_init__(self) -> None:
        Minibatch(self.size)
        check_anchor_steps(self.anchor_steps)

    def draw(self, problem: FiniteSum, rng: Rng) -> Callable[[Array], Array]:
        """Draw the mini-batch; return its gradient, corrected by its rows of the table."""
        batch = draw_batch(problem, rng, self.size, replace=self.replace)
        _, mean = anchor_gradient(problem, self.anchor_steps)
        correction = mean - anchor_table(problem, self.anchor_steps)[batch].mean(axis=0)
        return lambda params: problem.grad_batch(params, batch) + correction

    def smoothness(self, problem: FiniteSum) -> float:
        """Return the smoothness of a mini-batch: the correction does not depend on x."""
        return batch_smoothness(problem, self.size)
