"""Gradients of the bound with exact expectations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Rng
from benchfw_variational.batches import check_counts, draw_batch
from benchfw_variational.oracles import Array, LatentGaussian


@dataclass(frozen=True)
class Quadrature:
    """The bound's gradient in λ from `batch` examples, expectations by closed form or quadrature.

    The batch is drawn without replacement and weighs n/batch; the divergence from the prior is exact. Without
    a batch all examples are taken, and nothing is random.
    """

    batch: int | None = None

    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"
    unbiased: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_counts(batch=self.batch)

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw the batch; return its gradient."""
        batch = draw_batch(problem, rng, self.batch)
        return lambda params: problem.grad_batch(params, batch)
