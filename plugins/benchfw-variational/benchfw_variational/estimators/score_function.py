"""Gradients of the bound from values of the log-likelihood alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Claims, Rng
from benchfw_variational.batches import check_counts, draw_sampled
from benchfw_variational.oracles import Array, LatentGaussian


@dataclass(frozen=True)
class ScoreFunction:
    """The bound's gradient in λ from `batch` examples and `samples` draws of the latent value of each.

    Eq. (12) of Khan et al. 2016: the loss times the derivative of log q, so that no derivative of the
    likelihood is needed. The batch is drawn without replacement and weighs n/batch (all examples where it is
    not given); the divergence from the prior is exact.
    """

    batch: int | None = None
    samples: int = 500

    check_with = ({"samples": 20},)

    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="samples")

    def __post_init__(self) -> None:
        check_counts(batch=self.batch, samples=self.samples)

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw the batch and its normals; return the gradient from these."""
        return draw_sampled(problem, rng, self.batch, self.samples, "score-function")
