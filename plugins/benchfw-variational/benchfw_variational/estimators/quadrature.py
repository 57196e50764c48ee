"""Gradients of the bound with expectations by closed form or quadrature."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Claims, Count, Rng
from benchfw_variational.batches import Order, draw_batch, draw_batches
from benchfw_variational.oracles import LatentGaussian


@dataclass(frozen=True)
class Quadrature:
    """The bound's gradient in λ from a batch of examples, expectations by closed form or quadrature.

    The divergence from the prior is exact. Without a batch nothing is random.
    """

    batch: Count | None = None
    """Examples a draw, without replacement, of weight n/batch; all, if not given."""
    points: Count | None = None
    """Takes expectations by Gauss-Hermite with this many points, which is inaccurate where latent values vary
    on a larger scale than the loss bends on."""
    order: Order = "independent"
    """How an optimizer's steps get their batches: "independent" of one another, or in "passes", each in an
    order redrawn, in which every example is in one batch."""

    check_with = ({"batch": 8},)

    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"

    @property
    def claims(self) -> Claims:
        """Unbiased where the expectations are exact."""
        return Claims(unbiased=self.points is None)

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw the batch; return its gradient."""
        return self._on(problem, draw_batch(problem, rng, self.batch))

    def draws(self, problem: LatentGaussian, rng: Rng) -> Iterator[Callable[[Array], Array]]:
        """Yield the gradients of the batches of successive steps."""
        return (self._on(problem, batch) for batch in draw_batches(problem, rng, self.batch, self.order))

    def _on(self, problem: LatentGaussian, batch: Array) -> Callable[[Array], Array]:
        points = self.points
        if points is None:
            return lambda params: problem.grad_batch(params, batch)

        def gradient(params: Array) -> Array:
            local = problem.hermite(batch, *problem.marginals(params, batch), points)
            return problem.gradient(params, batch, local)

        return gradient
