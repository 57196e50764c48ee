"""Gradients of the bound from derivatives of the log-likelihood at random points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Claims, Rng
from benchfw_variational.batches import check_counts, draw_sampled
from benchfw_variational.oracles import Array, LatentGaussian


@dataclass(frozen=True)
class Reparameterization:
    """The bound's gradient in λ from `batch` examples and `samples` draws of the latent value of each.

    First and second derivatives of the loss at z = m + √v ε (Bonnet 1964, Price 1958); a loss without a
    second one, as that of Laplace's law, takes f'(z) ε/√v instead. The batch is drawn without replacement and
    weighs n/batch (all examples where it is not given); the divergence from the prior is exact.
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
        return draw_sampled(problem, rng, self.batch, self.samples, "reparameterization")
