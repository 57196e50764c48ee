"""Proximal-gradient steps of Khan et al. 2016 on duals a = K⁻¹m and precisions γ = diag(V⁻¹ - K⁻¹).

With r = 1/(1+β_k) and α = ∂f/∂m, both α and ∂f/∂v weighted by n/B and zero outside the batch:
γ ← rγ + (1-r) 2∂f/∂v; a ← a - (1-r)(I - SB⁻¹SK)(a + α), S² = diag γ, B = I + SKS.
Neither V nor K + diag(1/γ) is ever formed: O(n) memory beside K and the factor of B, and γ may be zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Literal

from benchfw import Array, Rng
from benchfw_variational.batches import Expectation, batch_local
from benchfw_variational.implicit_covariance import ImplicitCovariance, ReusedCovariance
from benchfw_variational.oracles import LatentGaussian
from benchfw_variational.posterior import DualPosterior

Form = Literal["approximate", "exact"]


def proximal_path(
    problem: LatentGaussian,
    rng: Rng,
    batches: Iterable[Array | None],
    *,
    step: float | Iterable[float],
    expectation: Expectation = "exact",
    samples: int = 1,
    form: Form = "approximate",
    refactor: int = 1,
) -> Iterator[DualPosterior]:
    """Yield the prior, then q after each batch; a batch that is None stands for all examples.

    step: β, or one for each batch.
    form: the mean moves by B of the new precisions ("approximate", eq. 19) or of rγ ("exact", eq. 82).
    A step that is not finite ends in a posterior that is not finite either, yielded for ever.
    """
    xp, prior = problem.backend.xp, problem.prior
    steps = repeat(step) if isinstance(step, float | int) else step
    dual = xp.zeros(problem.num_samples)
    everything = xp.arange(problem.num_samples)
    covariance = (
        ImplicitCovariance(prior, xp.zeros_like(dual))
        if refactor == 1
        else ReusedCovariance(prior, xp.zeros_like(dual), refactor)
    )
    for batch, length in zip(batches, steps, strict=False):
        rate = length / (1 + length)
        yield DualPosterior(problem, dual, covariance.precisions)
        rows = everything if batch is None else batch
        mean = prior.matmat(dual) if batch is None else dual @ prior.columns(batch)
        local = batch_local(problem, rng, rows, mean, covariance.variances(batch), expectation, samples)
        if not bool((xp.isfinite(local.slope) & xp.isfinite(local.curvature)).all()):
            yield from repeat(DualPosterior(problem, dual + xp.nan, covariance.precisions))
        weight = problem.num_samples / rows.shape[0]
        gradient = dual.copy()
        gradient[rows] += weight * local.slope
        # estimates of a curvature may be negative, and so is that of a likelihood which is not log-concave
        increments = rate * weight * xp.maximum(local.curvature, 0.0)
        covariance.decay(1 - rate)
        if form == "exact":
            move = covariance.precondition(gradient)
            covariance.add(rows, increments)
        else:
            covariance.add(rows, increments)
            move = covariance.precondition(gradient)
        dual = dual - rate * move
