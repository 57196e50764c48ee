"""Gradients of the bound from values of the log-likelihood alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Claims, Count, Rng
from benchfw_variational.batches import draw_sampled
from benchfw_variational.oracles import LatentGaussian


@dataclass(frozen=True)
class ScoreFunction:
    """The bound's gradient in λ from a batch of examples, by losses at drawn latent values.

    Eq. (12) of Khan et al. 2016: the loss times the derivative of log q, so that no derivative of the
    likelihood is needed. The divergence from the prior is exact.
    """

    batch: Count | None = None
    """Examples a draw, without replacement, of weight n/batch; all, if not given."""
    samples: Count = 500
    """Draws of the latent value of each example."""

    check_with = ({"samples": 20},)

    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="samples")

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw the batch and its normals; return the gradient from these."""
        return draw_sampled(problem, rng, self.batch, self.samples, "score-function")
