"""The SVRG gradient: a mini-batch with its value at an anchor as control variate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from benchfw import Array, Claims, Count, FiniteSum, Range, Rng
from benchfw_firstorder.estimators.anchor import anchor_gradient
from benchfw_firstorder.estimators.minibatch import Minibatch, batch_smoothness


@dataclass(frozen=True)
class SvrgGradient:
    """The mini-batch gradient with SVRG's control variate (Johnson & Zhang 2013).

    g_B(x) - g_B(x̃) + ∇f(x̃), the same mini-batch B at x and at the anchor x̃; the SVRG optimizer moves its own.
    The variance is that of a mini-batch of g(x) - g(x̃): ∝ |x - x̃|². A draw costs two mini-batches; the
    anchor's gradient is paid for once, at the first draw.
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
        """Draw the mini-batch; return its gradient, corrected by what is known at the anchor."""
        anchor, gradient = anchor_gradient(problem, self.anchor_steps)
        return anchored(Minibatch(self.size, self.replace).draw(problem, rng), anchor, gradient)

    def smoothness(self, problem: FiniteSum) -> float:
        """Return the smoothness of a mini-batch: the correction does not depend on x."""
        return batch_smoothness(problem, self.size)


def anchored(draw: Callable[[Array], Array], anchor: Array, mean: Array) -> Callable[[Array], Array]:
    """Return x ↦ draw(x) - draw(anchor) + mean, where `mean` is the expectation of draw(anchor)."""
    return lambda params: draw(params) - draw(anchor) + mean
