"""Gradients of the bound from random points: by values of the log-likelihood, or by its derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from benchfw import Array, Claims, Count, Rng
from benchfw_variational.batches import Order, draw_batch, draw_batches
from benchfw_variational.oracles import LatentGaussian


@dataclass(frozen=True)
class SampledGradient:
    """The bound's gradient in λ from a batch of examples, expectations by draws of their latent values.

    The divergence from the prior is exact.
    """

    batch: Count | None = None
    """Examples a draw, without replacement, of weight n/batch; all, if not given."""
    samples: Count = 500
    """Draws of the latent value of each example."""
    order: Order = "independent"
    """How an optimizer's steps get their batches: "independent" of one another, or in "passes", each in an
    order redrawn, in which every example is in one batch."""

    check_with = ({"samples": 20},)

    kind: ClassVar[Literal["score-function", "reparameterization"]]
    solves: ClassVar[type] = LatentGaussian
    estimates: ClassVar[Literal["grad"]] = "grad"
    claims: ClassVar[Claims] = Claims(unbiased=True, averages="samples")

    def draw(self, problem: LatentGaussian, rng: Rng) -> Callable[[Array], Array]:
        """Draw a batch, then normals for each of its examples; return the gradient from these."""
        return self._on(problem, rng, draw_batch(problem, rng, self.batch))

    def draws(self, problem: LatentGaussian, rng: Rng) -> Iterator[Callable[[Array], Array]]:
        """Yield the gradients of the batches of successive steps, each with normals of its own."""
        for batch in draw_batches(problem, rng, self.batch, self.order):
            yield self._on(problem, rng, batch)

    def _on(self, problem: LatentGaussian, rng: Rng, batch: Array) -> Callable[[Array], Array]:
        normals = rng.standard_normal((self.samples, batch.shape[0]))

        def gradient(params: Array) -> Array:
            local = problem.sampled(batch, *problem.marginals(params, batch), normals, self.kind)
            return problem.gradient(params, batch, local)

        return gradient


@dataclass(frozen=True)
class ScoreFunction(SampledGradient):
    """The bound's gradient in λ from a batch of examples, by losses at drawn latent values.

    Eq. (12) of Khan et al. 2016: the loss times the derivative of log q, so that no derivative of the
    likelihood is needed. The divergence from the prior is exact.
    """

    kind = "score-function"


@dataclass(frozen=True)
class Reparameterization(SampledGradient):
    """The bound's gradient in λ from a batch of examples, by derivatives of the loss at drawn latent values.

    First and second derivatives of the loss at z = m + √v ε (Bonnet 1964, Price 1958); a loss without a
    second one, as that of Laplace's law, takes f'(z) ε/√v instead. The divergence from the prior is exact.
    """

    kind = "reparameterization"
