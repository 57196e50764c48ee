"""Gradients of the bound with expectations by closed form or quadrature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Claims, Rng
from benchfw_variational.batches import check_counts, draw_batch
from benchfw_variational.oracles import Array, LatentGaussian


@dataclass(frozen=True)
class Quadrature:
    """The bound's gradient in λ from `batch` examples, expectations by closed form or quadrature.

    The batch is drawn without replacement and weighs n/batch; the divergence from the prior is exact. Without
    a batch all examples are taken, and nothing is random. With `points` expectations are by Gauss-Hermite
    with so many, which is off where latent values vary on a larger scale than the loss bends on.
    """

    batch: int | None = None
    points: int | None = None

    check_with = ({"batch": 8},)

    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"

    def __post_init__(self) -> None:
        check_counts(batch=self.batch, points=self.points)

    @property
    def claims(self) -> Claims:
        """Unbiased where the expectations are exact."""
        return Claims(unbiased=self.points is None)

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw the batch; return its gradient."""
        batch, points = draw_batch(problem, rng, self.batch), self.points
        if points is None:
            return lambda params: problem.grad_batch(params, batch)

        def gradient(params: Array) -> Array:
            local = problem.hermite(batch, *problem.marginals(params, batch), points)
            return problem.gradient(params, batch, local)

        return gradient
