"""Stochastic variance-reduced gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Estimator, Rng, Smooth
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.estimators.svrg import anchored
from benchfw_firstorder.optimizers.backward import backward_step
from benchfw_firstorder.oracles import Array
from benchfw_firstorder.steps import check_step, resolve_stochastic_step

SAFETY = 3.0  # as for SAGA, Defazio et al. 2014


@dataclass(frozen=True)
class SVRG:
    """SVRG (Johnson & Zhang 2013): a snapshot with its full gradient reduces the variance.

    ĝ = draw(x) - draw(x̃) + ∇f(x̃), the same draw of `estimator` in both; x ← prox(x - a ĝ) (P where there is
    no penalty). After `inner` steps the snapshot x̃ moves to their "average" or to the "last" of them, and
    the steps go on from there. step "auto" is 1/(3 x the smoothness of a draw). Johnson & Zhang 2013; Xiao &
    Zhang 2014.
    """

    step: float | Literal["auto"] = "auto"
    inner: int = 100
    snapshot: Literal["average", "last"] = "last"
    estimator: Estimator = MINIBATCH

    solves: ClassVar[type] = Smooth

    def __post_init__(self) -> None:
        check_step(self.step)
        if self.inner < 1:
            raise ValueError(f"inner must be at least 1, got {self.inner}")
        if self.snapshot not in {"average", "last"}:
            raise ValueError(f'snapshot must be "average" or "last", got {self.snapshot!r}')

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield the iterates of all inner loops, one after the other."""
        step = resolve_stochastic_step(self.step, problem, self.estimator, SAFETY)
        backward = backward_step(problem)
        x = problem.start()
        yield x
        while True:
            anchor, mean = x, problem.grad(x)
            total = 0.0 * x
            for _ in range(self.inner):
                gradient = anchored(self.estimator.draw(problem, rng), anchor, mean)
                x = backward(x - step * gradient(x), step)
                total = total + x
                yield x
            if self.snapshot == "average":
                x = total / self.inner
