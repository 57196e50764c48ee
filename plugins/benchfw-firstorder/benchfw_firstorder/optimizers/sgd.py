"""Stochastic gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Count, Estimator, Log, NonNegative, Positive, Rng, Smooth, draws_of
from benchfw_firstorder.estimators.exact import Exact
from benchfw_firstorder.estimators.minibatch import MINIBATCH, Minibatch
from benchfw_firstorder.rates import Curve, Iterations, averaged_sgd_rate, knows, penalized
from benchfw_firstorder.steps import (
    Schedule,
    fade_out,
    resolve_stochastic_step,
    step_sizes,
)

SAFETY = 2.0  # SGD on a convex problem is stable up to 1/(2 x the smoothness of a draw). Gower et al. 2019


@dataclass(frozen=True)
class SGD:
    """Stochastic gradient descent (Robbins & Monro 1951), with step schedules and averaging.

    x ← P(x - a_k ĝ(x)). Bound (average, constant steps, stochastic gradients of at most C in mean square):
    |x_0-x*|²/(2a(k+1)) + aC²/2 for the expected gap.
    """

    step: Positive | Literal["auto"] = "auto"
    """The first step, a; "auto" is 1/(2 x the smoothness of a draw)."""
    schedule: Schedule = "constant"
    """Steps are "constant" a, "inverse" a/(1 + k decay), "inverse-sqrt" a/√(k+1), "power" a(k+1)^-power."""
    decay: NonNegative = 0.01
    """How fast "inverse" steps fall."""
    power: NonNegative = 0.75
    """How fast "power" steps fall."""
    average: bool = False
    """Whether the answer after k steps is the mean of x_0 … x_k (Polyak & Juditsky 1992)."""
    estimator: Estimator = MINIBATCH
    """What draws the gradients ĝ, once per step."""
    horizon: Count | None = None
    """Iterations in which steps fall linearly to 0, beside their schedule; they do not, if not given."""

    solves: ClassVar[type] = Smooth
    tuning: ClassVar[dict[str, Log]] = {"step": Log(1e-4, 10)}
    bounds: ClassVar[str] = "gap"

    def run(self, problem: Smooth, rng: Rng) -> Iterator[Array]:
        """Yield x_0, x_1, … or their running means."""
        step = resolve_stochastic_step(self.step, problem, self.estimator, SAFETY)
        x = mean = problem.start()
        draws = draws_of(self.estimator, problem, rng)
        steps = step_sizes(step, self.schedule, self.decay, self.power)
        for k, length in enumerate(fade_out(steps, self.horizon)):
            yield mean if self.average else x
            x = problem.project(x - length * next(draws)(x))
            if self.average:
                mean = mean + (x - mean) / (k + 2)

    def bound(self, problem: Smooth, iterations: Iterations) -> Curve | None:
        """Return an upper bound of the expected gap, or None where the theorem does not apply."""
        # a mean over samples is no larger in mean square than one sample; other estimators may be
        constant = self.schedule == "constant" and self.horizon is None
        covered = isinstance(self.estimator, Exact | Minibatch) and self.average and constant
        if not covered or not knows(problem, "gradient_bound", "distance") or penalized(problem):
            return None
        step = resolve_stochastic_step(self.step, problem, self.estimator, SAFETY)
        return averaged_sgd_rate(problem, iterations, step)
