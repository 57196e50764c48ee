"""Stochastic variance-reduced gradient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Count, Estimator, Log, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.minibatch import MINIBATCH
from benchfw_firstorder.estimators.svrg import anchored
from benchfw_firstorder.steps import backward_step, resolve_step, resolve_stochastic_step

SAFETY = 3.0  # as for SAGA, Defazio et al. 2014
STABLE = 1.5  # measured on matrix completion: larger products of the step, the noise and √inner blow up


@dataclass(frozen=True)
class SVRG:
    """SVRG (Johnson & Zhang 2013): a snapshot with its full gradient reduces the variance.

    ĝ = draw(x) - draw(x̃) + ∇f(x̃); x ← prox(x - a ĝ) (P where there is no penalty); the steps go on from each
    new snapshot x̃. Xiao & Zhang 2014.
    """

    step: Positive | Literal["auto"] = "auto"
    """Step length, a; "auto" is 1/(3 x the smoothness of a draw), or, if the estimator knows the noise ℓ of
    its differences instead, 1.5/(ℓ √inner) and at most 1/L."""
    inner: Count = 100
    """Steps between two snapshots."""
    snapshot: Literal["average", "last"] = "last"
    """Where the snapshot moves: to the "average" of the inner steps, or to the "last" of them."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients, the same draw at x and at the snapshot."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield the iterates of all inner loops, one after the other."""
        limit = self.stable_step(problem)
        if self.step == "auto" and limit is not None:
            step = min(limit, resolve_step("auto", problem))
        else:
            step = resolve_stochastic_step(self.step, problem, self.estimator, SAFETY)
        backward = backward_step(problem)
        draws = draws_of(self.estimator, problem, rng)
        x = problem.start()
        yield x
        while True:
            anchor, mean = x, problem.grad(x)
            total = 0.0 * x
            for _ in range(self.inner):
                gradient = anchored(next(draws), anchor, mean)
                x = backward(x - step * gradient(x), step)
                total = total + x
                yield x
            if self.snapshot == "average":
                x = total / self.inner

    def stable_step(self, problem: Smooth) -> float | None:
        """Return about the largest step at which the noise between snapshots dies out, where it is known."""
        noise = getattr(self.estimator, "noise_smoothness", lambda _: None)(problem)
        return None if noise is None else STABLE / (noise * math.sqrt(self.inner))

    def caveats(self, problem: Smooth) -> list[str]:
        """Say so where the step is above that one, by more than the rounding to two figures."""
        limit = self.stable_step(problem)
        if self.step == "auto" or limit is None or float(f"{self.step:.2g}") <= float(f"{limit:.2g}"):
            return []
        stable = (
            f"{limit:.2g}, about the largest that is stable here with {self.inner} steps between snapshots"
        )
        return [f"step {self.step:g} is above {stable}: noise may raise the objective"]
